"""Claims about the two positive theorems: one step with teacher forcing, log2 k rounded steps on the model's own chain."""

import dataclasses
import math
from typing import Any

import jax
import numpy as np

from ...errors import require
from ...ledger import Claim, Comparison, Erratum, Evidence, at_least, at_most, equal, interval_inside, shown
from ...models import link_named
from ...statistics import mean_interval, wilson
from ...tasks import Parity
from ...theory import tree_law
from ...training import Trained
from ..tree_checks import require_trials
from .setting import PAPER, child_weights
from .theorems import LogSteps, OneStep, alone, trained

NEEDED = 0.9  # share of seeds with every held-out answer right where a training is said to work
BROKEN = 0.5  # share below which it is said to break


def right(result: Trained) -> int:
    """Seeds that answer every held-out chain."""
    return int((result.history.last("accuracy") == 1).sum())


def _works(name: str, result: Trained) -> Comparison:
    return at_least(
        f"{name}: seeds with all answers right", right(result), math.ceil(NEEDED * len(result.history.seeds))
    )


@dataclasses.dataclass(frozen=True)
class TheoremFive(OneStep):
    fewer: tuple[int, ...] = (5_000, 20_000)  # smaller n, for the trend
    weaker: tuple[float, ...] = (10.0, 14.0)  # smaller K, for the trend
    error: float = 0.05  # of a noisy oracle, in units of d^-2


def _one_step(size: TheoremFive) -> Evidence:
    setting = alone(OneStep, size)

    def changed(**changes: Any) -> Trained:
        return trained(dataclasses.replace(setting, **changes))

    calibrated, literal = trained(setting), changed(strength=0.0)
    noise = size.error / size.bits**2
    oracles = {name: changed(noise=noise, oracle=name) for name in ("random", "adversarial")}
    by_samples = [_median(changed(samples=n)) for n in (*size.fewer, size.samples)]
    by_strength = [_median(changed(strength=k)) for k in (*size.weaker, size.strength)]
    low, high = wilson(right(calibrated), size.seeds)
    return Evidence(
        (
            _works(f"K={size.strength:g}", calibrated),
            shown("success rate, Wilson low", None, low),
            shown("success rate, Wilson high", None, high),
            shown("largest error of the answer, median over seeds", None, _median(calibrated)),
            at_most("printed rate eta = d^2: seeds with all answers right", right(literal), BROKEN * size.seeds),
            shown("printed rate: mean accuracy", None, float(literal.history.last("accuracy").mean())),
            *(_works(f"oracle with {name} error {size.error:g}/d^2 per entry", result) for name, result in oracles.items()),
            equal("median error falls with n: steps that rise", 0, _rises(by_samples), 0),
            equal("median error falls with K: steps that rise", 0, _rises(by_strength), 0),
        ),
        seeds=size.seeds,
        departures=(
            f"The theorem's rate eta = d^(2 + epsilon/16) is run with epsilon -> 0 as 'printed'; K d^2/(2c) with K={size.strength:g} is "
            "the calibrated one. The theorem's error exponent is asymptotic and not asserted.",
        ),
    )  # fmt: skip


def _median(result: Trained) -> float:
    """Largest error of the answer, by the median seed; 2, the largest possible, counts for itself."""
    return float(np.median(result.history.last("error")))


def _rises(values: list[float]) -> int:
    return int((np.diff(values) > 0).sum())


@dataclasses.dataclass(frozen=True)
class Augmented:
    bits: int = 256  # below about 210 the bound exceeds 1 and says nothing
    sparsity: int = 128
    samples: int = 200  # n
    strings: int = 12  # n'
    failure: float = 0.05  # p
    trials: int = 400

    def __post_init__(self):
        require_trials(self.trials, self.failure)


def _augmented(size: Augmented) -> Evidence:
    task = Parity(size.bits, size.sparsity)
    secret, layout = task.draw(jax.random.key(0)), task.layout
    bound = 2 * (math.sqrt(2) + 1) * math.sqrt(math.log(2 * (size.samples + size.strings) / size.failure) / size.bits)
    think = jax.jit(lambda key: task.sample(secret, key, size.samples + size.strings).tokens[:, 0])
    dull, wide, largest = 0, 0, 0.0
    for trial in range(size.trials):
        chains = np.asarray(think(jax.random.key(trial))).astype(float)
        dull += bool((chains[:, : size.strings] == -1).all(axis=1).any())
        mean = max(float(np.abs(chains[:end].mean(axis=0)).max()) for end in layout.ends)
        wide, largest = wide + (mean > bound), max(largest, mean)
    allowed = min(1.0, 2 * size.bits * 0.5**size.strings)
    return Evidence(
        (
            at_most("share of draws with an uninformative position", wilson(dull, size.trials).low, allowed),
            shown("the same, as counted, against 2d 2^-n'", allowed, dull / size.trials),
            at_most("share of draws with a mean above the bound", wide / size.trials, min(1.0, size.failure * (layout.depth + 1))),
            shown("largest mean seen, against the bound", bound, largest),
        ),
        seeds=size.trials,
        erratum=Erratum(
            "the union bound runs over the n' augmented coordinates",
            "the means are over x_j^+, which has n + n' coordinates; the bound needs log(2(n+n')/p)",
            "inconclusive",
        ),
    )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Pattern(LogSteps):
    printed: float = 0.9  # an eps0 that the proof allows


def _off_pattern(result: Trained) -> int:
    """Seeds that ever depart from: after t updates levels up to t+1 pass, higher ones are zeroed."""
    released = result.history.metrics["released"]  # [seed, update, level]
    updates, levels = released.shape[1:]
    expected = np.arange(1, levels + 1)[None, :] <= np.arange(updates)[:, None] + 1
    return int((released != expected).any(axis=(1, 2)).sum())


def _pattern(size: Pattern) -> Evidence:
    require(size.sparsity >= 8, f"a level that is not flagged needs three: sparsity={size.sparsity}; use 8 or more")
    setting = alone(LogSteps, size)
    working, printed = trained(setting), trained(dataclasses.replace(setting, threshold=size.printed))
    return Evidence(
        (
            equal(f"eps0={size.threshold:g}: seeds off the pattern", 0, _off_pattern(working), math.floor((1 - NEEDED) * size.seeds)),
            _works(f"eps0={size.threshold:g}", working),
            at_least(f"eps0={size.printed:g}: seeds off the pattern", _off_pattern(printed), math.ceil(NEEDED * size.seeds)),
            shown(f"eps0={size.printed:g}: seeds with all answers right", None, right(printed)),
        ),
        seeds=size.seeds,
        erratum=Erratum(
            "any eps0 above O(d^-1/2) works",
            "1 < eps0 < 2: a zeroed level has ||0 + 1|| = 1, so a smaller eps0 lets the level above it through",
            "fails" if _off_pattern(printed) else "holds",
        ),
    )  # fmt: skip


def _weights(size: LogSteps) -> Evidence:
    result, task = trained(size), size.task()
    layout, secrets = task.layout, result.history.secrets
    assert secrets is not None
    found = np.stack([child_weights(result.models.weights[i], task, secrets[i]) for i in range(size.seeds)])  # pyright: ignore
    levels, compared = np.asarray(layout.levels), []
    leading = size.rate() * 2 * link_named(size.link).curvature / np.array(layout.ends[:-1], float) ** 2
    for level in range(1, layout.depth + 1):
        here = found[:, levels == level]
        same = int((here == here[:, :1, :1]).all(axis=(1, 2)).sum())
        compared += [
            at_least(f"level {level}: seeds whose children all have one weight", same, math.ceil(NEEDED * size.seeds)),
            shown(
                f"level {level}: that weight, against the leading term",
                float(leading[level - 1]),
                float(np.median(here)),
            ),
        ]
    others = np.array(result.models.weights, copy=True)  # pyright: ignore
    for index in range(size.seeds):
        np.put_along_axis(others[index], np.asarray(task.children(secrets[index])), 0, axis=1)
    outside = int((~np.isin(others, (-1, 0))).any(axis=(1, 2)).sum())
    return Evidence(
        (
            *compared,
            at_most("seeds with another weight outside {-1, 0}", outside, math.floor((1 - NEEDED) * size.seeds)),
            _works("after log2 k updates", result),
            shown("largest error of the answer, median over seeds", None, _median(result)),
        ),
        seeds=size.seeds,
        erratum=Erratum(
            "C_l = 2c eta0 d^(2+epsilon/16)/d_{l-1}^2 <= 2c eta0, and all other weights are 0",
            "C_l carries a spurious d^(epsilon/16); other weights round to -1 or 0, because wrong keys are pushed down (KS-15)",
            "fails" if (others == -1).any() else "holds",
        ),
    )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Strengths(LogSteps):
    strengths: tuple[float, ...] = (9.0, 11.0, 13.5)  # K

    def __post_init__(self):
        require(len(self.strengths) >= 2, f"a slope needs two strengths: strengths={self.strengths}; give two or more")


def _exponential(size: Strengths) -> Evidence:
    plain = alone(LogSteps, size)
    weight, error, member = [], [], []
    for strength in size.strengths:
        setting = dataclasses.replace(plain, strength=strength)
        result = trained(setting)
        for seed in np.flatnonzero(result.history.last("accuracy") == 1):
            secret = result.history.secrets[seed]  # pyright: ignore
            weight.append(child_weights(result.models.weights[seed], setting.task(), secret).min())  # pyright: ignore
            error.append(math.log(float(result.history.last("error")[seed])))
            member.append(seed)
    weights, errors, members = np.array(weight), np.array(error), np.array(member)
    slopes = [
        np.polyfit(weights[members == seed], errors[members == seed], 1)[0]
        for seed in np.unique(members)
        if len(np.unique(weights[members == seed])) > 1
    ]
    return Evidence(
        (
            interval_inside(
                "slope of ln(error) in the smallest child weight", float(np.mean(slopes)) if slopes else math.nan,
                mean_interval(np.array(slopes)), -2, 0.25,
            ),
            shown("solved runs behind it", len(size.strengths) * size.seeds, len(weights)),
            shown("smallest error seen", None, math.exp(min(errors, default=0))),
        ),
        seeds=size.seeds,
        departures=("The exponent Omega(d^(epsilon/16)) is the weight of the children; the check follows the error against that weight.",),
    )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Ablations(LogSteps):
    printed: float = 0.9  # an eps0 that the proof allows
    strongest: float = 27.0  # twice the working K: shown, not judged

    def halfway(self) -> float:
        """The next K above the working one whose first-level weight K s(d) lies halfway between two integers."""
        signal = tree_law.exchangeable_signal(self.bits)
        return (round(self.strength * signal) + 0.5) / signal


def _ablations(size: Ablations) -> Evidence:
    plain = alone(LogSteps, size)
    changes: dict[str, dict[str, Any]] = {
        "no rounding": {"quantised": False},
        "no filter": {"filtered": False},
        f"eps0={size.printed:g}": {"threshold": size.printed},
        f"K={size.halfway():.2f}, whose weight lies on a half-integer": {"strength": size.halfway()},
    }
    compared = [_works("all in place", trained(plain))]
    for name, change in changes.items():
        result = trained(dataclasses.replace(plain, **change))
        compared.append(at_most(f"{name}: seeds with all answers right", right(result), BROKEN * size.seeds))
    strongest = trained(dataclasses.replace(plain, strength=size.strongest))
    compared.append(shown(f"K={size.strongest:g}: seeds with all answers right", None, right(strongest)))
    return Evidence(
        tuple(compared),
        seeds=size.seeds,
        departures=(
            "The catalogue names a K that is too large (24 at these sizes). What breaks there is that 24 s(d) = 19.5: siblings round to "
            "different integers wherever the weight lies on a half-integer, just above the working K too, and a larger K off it works.",
        ),
    )


TINY: dict[str, Any] = {
    "seeds": 3,
    "chains": 200,
}  # of the setting at which the theorem works; a smaller one does not show it

CLAIMS = (
    Claim(
        "KS-18", PAPER, "Theorem 5", "trend",
        "One gradient step with teacher forcing learns the parity at a calibrated rate, also from an oracle that errs a little at random or "
        "at its worst; the printed rate eta = d^2 does not reach it at these sizes; errors fall with n and with K.",
        {
            "tiny": TheoremFive(**TINY, fewer=(5_000,), weaker=(10.0,)),
            "quick": TheoremFive(),
            "paper": TheoremFive(64, 32, 400_000, 26.0, fewer=(25_000, 100_000), weaker=(16.0, 20.0)),
        }, _one_step,
    ),
    Claim(
        "KS-22", PAPER, "Lemma 10", "finite",
        "With n' strings no position is uninformative except with probability 2d 2^-n', and the mean over every level boundary stays below "
        "2(sqrt 2 + 1) sqrt(log(2(n+n')/p)/d).",
        {"tiny": Augmented(trials=50), "quick": Augmented(), "paper": Augmented(512, 256, 2000, 14)}, _augmented,
    ),
    Claim(
        "KS-23", PAPER, "Theorem 7, filter", "finite",
        "After t updates the filter passes levels up to t+1 and zeroes the rest if 1 < eps0 < 2; with a smaller eps0 it does not.",
        {"tiny": Pattern(**TINY), "quick": Pattern(), "paper": Pattern(64, 16, 1_000_000, 14.0)}, _pattern,
    ),
    Claim(
        "KS-24", PAPER, "Theorem 7, Eq. 11", "finite",
        "After log2 k updates the children of a level share one integer weight near 2c eta/d_{l-1}^2, every other weight is -1 or 0, and every "
        "answer is right.",
        {"tiny": LogSteps(**TINY), "quick": LogSteps(), "paper": LogSteps(64, 16, 1_000_000, 14.0)}, _weights,
    ),
    Claim(
        "KS-25", PAPER, "Theorem 7", "trend",
        "The loss is exponentially small in the weights: ln(error) falls by 2 for each unit of the smallest child weight.",
        {"tiny": Strengths(**TINY), "quick": Strengths(), "paper": Strengths(64, 16, 1_000_000, strengths=(10.0, 12.0, 14.0))},
        _exponential,
    ),
    Claim(
        "KS-26", PAPER, "Theorem 7, ablations", "finite",
        "Rounding, the filter, its range and a strength that keeps siblings together are each needed: without one of them most seeds fail.",
        {"tiny": Ablations(**TINY), "quick": Ablations(), "paper": Ablations(64, 16, 1_000_000, 14.0)}, _ablations,
    ),
)  # fmt: skip
