"""KS-30 and KS-31: Theorem 2(1) as a trend in d, and Lemma 6's exponent."""

import dataclasses
import math

import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...ledger import Among, Between, Claim, Comparison, Domain, Evidence, Real, at_most, interval_inside, shown
from ...models import link_named
from ...statistics import Slope, log_log_slope, semi_log_slope
from ...theory import krawtchouk
from ...theory import parity_class as pc
from ...theory.precision import in_float64
from .hardness_learners import LEARNERS, PAPER, answer_alone, drawn, jacobian, task_of
from .model_claims import own_norm, proof_sum
from .setting import ROUNDING, Weights

DECAY = -math.log(2) / 2  # per bit: half of what the class's size has, C(d, d/2) ~ 2^d


@dataclasses.dataclass(frozen=True)
class Exponential:
    bits: tuple[int, ...] = (6, 8, 10, 12)  # d, with k = d/2; every input is enumerated, so n = 2^d
    queries: int = 20  # T
    seeds: int = 4  # random weights per learner
    spread: float = 1.0  # of the transformer's

    def __post_init__(self):
        good = len(self.bits) >= 3 and all(4 <= d <= 14 and d % 2 == 0 for d in self.bits)
        require(good, f"a trend needs three even numbers of bits from 4 to 14: bits={self.bits}; use 6,8,10")


def below(name: str, slope: Slope, bound: float) -> Comparison:
    """Holds if the whole interval lies below, fails if it lies above, else undecided."""
    low, high = slope.interval
    return Comparison(
        name, bound, slope.value, high - slope.value, True if high <= bound else False if low > bound else None
    )


@in_float64
def _decays(size: Exponential) -> Evidence:
    compared: list[Comparison] = []
    for learner in LEARNERS:
        rows = []  # d, share of the gradient that knows the target, gap of the loss, samples
        for d in size.bits:
            task, every = task_of(d, d // 2), np.arange(2**d)
            signs, count = jnp.asarray(pc.signs(d, every)), math.comb(d, d // 2)
            means = np.array([float(krawtchouk.mean_label(d, d // 2, m)) for m in range(d + 1)])[
                np.bitwise_count(every)
            ]
            for seed in range(size.seeds):
                slopes = np.asarray(
                    jacobian(drawn(learner, task, seed, size.spread), answer_alone(learner, task.layout), task, signs)
                )
                variance = pc.population_variance(d, d // 2, slopes)
                gap = size.queries * variance ** (1 / 3) + 1 / count
                rows.append((d, variance / pc.square_norm(slopes), gap, pc.sampling_noise(slopes, means) / variance))
            largest = max(row[1] for row in rows if row[0] == d)
            compared.append(
                at_most(f"{learner}, d={d}: |P| Var / E|grad f|², largest", count * largest, 1, ROUNDING * count)
            )
        bits, share, gap, samples = np.array(rows).T
        compared += [
            below(
                f"{learner}: rate of ln(Var / E|grad f|²) per bit ≤ (its interval)", semi_log_slope(bits, share), DECAY
            ),
            below(
                f"{learner}: rate of ln(1 - floor of the loss) per bit ≤ (its interval)",
                semi_log_slope(bits, gap),
                DECAY / 3,
            ),
            shown(
                f"{learner}: rate of ln(n at which sampling noise is as large as Var) per bit",
                None,
                semi_log_slope(bits, samples).value,
            ),
            shown(
                f"{learner}: 1 - floor of the loss at d={size.bits[-1]}, median",
                None,
                float(np.median(gap[bits == size.bits[-1]])),
            ),
        ]
    return Evidence(
        tuple(compared),
        seeds=size.seeds,
        departures=(
            "Every input is enumerated: n = 2^d without sampling noise. The floor is that of App. A with eps = Var^(1/3), so Pr(Q) >= 1 - T Var^(1/3), "
            "and the sharper loss Pr(Q) - 1/|P| of KS-7; at these sizes the gap may exceed 1, and its rate is what is judged.",
            "Exponential is called what falls by half of the class's ln 2 per bit, and by a third of that for the gap, whose variance has the power 1/3. "
            "Each draw of the weights is a point of the fit; at first their medians were, and three sizes left the transformer's rate open.",
        ),
    )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Growing:
    sparsities: tuple[int, ...] = (2, 4, 8, 16)  # k = d at which gradients are taken
    spread: float = 2.0  # standard deviation of the random weights
    trials: int = 5

    def __post_init__(self):
        require(
            len(self.sparsities) >= 3, f"a slope needs three sizes: sparsities={self.sparsities}; give three or more"
        )


@in_float64
def _grows(size: Growing) -> Evidence:
    kappa = link_named("cosine").lipschitz
    wanted, far = math.log2(kappa) + 0.5, range(4, 15, 2)  # g; v
    summed = log_log_slope(
        np.array([2.0**depth for depth in far]), np.array([math.sqrt(proof_sum(kappa, depth)) for depth in far])
    )
    norms = [own_norm(Weights(k, k, spread=size.spread, trials=size.trials)) for k in size.sparsities]
    return Evidence(
        (
            interval_inside("exponent of the proof's sum in d = k, 16 to 16,384: g = log2 sup|phi'| + 1/2", summed.value, summed.interval, wanted, 0.05),
            below("exponent of the largest gradient norm in d = k ≤ (its interval)", log_log_slope(np.array(size.sparsities), np.array(norms)), wanted),
            *(shown(f"largest gradient norm at d = k = {k}", None, norm) for k, norm in zip(size.sparsities, norms, strict=True)),
        ),
        departures=(
            "The lemma is an upper bound: g is the exponent of the proof's sum, and what gradients at random weights have is below it. Weights that "
            "attain it are not known to us.",
        ),
    )  # fmt: skip


CLAIMS = (
    Claim(
        "KS-30", PAPER, "Theorem 2(1)", "trend",
        "On every input the share of a gradient that knows the target falls exponentially in d, as 1/|P| or faster, for an MLP and for the "
        "transformer with its own chain; so does the gap of the loss to 1 with an oracle error that falls exponentially too.",
        {"tiny": Exponential((4, 6, 8), seeds=4), "quick": Exponential(), "paper": Exponential((6, 8, 10, 12, 14), seeds=8)}, _decays,
        domain=Domain(
            {"bits": Among((6, 8, 10), (4, 6, 8, 10), (6, 8, 10, 12)), "queries": Between(5, 50), "seeds": Between(4, 8), "spread": Real(0.3, 2, log=True)},
            because="three sizes or more, k = d/2; beyond 12 bits a Jacobian over every input is large",
        ), revised=True,
    ),
    Claim(
        "KS-31", PAPER, "Lemma 6, its exponent", "trend",
        "The sum that Lemma 6's proof ends with grows as d^g with g = log2 sup|phi'| + 1/2 (2.151 for the cosine), and the largest norm of the own "
        "chain's gradient seen at random weights grows slower.",
        {"tiny": Growing((2, 4, 8), trials=2), "quick": Growing(), "paper": Growing((2, 4, 8, 16, 32), trials=10)}, _grows,
        domain=Domain(
            {"sparsities": Among((2, 4, 8), (2, 4, 8, 16)), "spread": Real(0.3, 6, log=True), "trials": Between(2, 6)},
            because="a tree has a power of two of leaves; with 32 a Jacobian is large",
        ),
    ),
)  # fmt: skip
