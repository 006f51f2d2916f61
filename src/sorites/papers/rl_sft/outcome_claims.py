"""Claims about rewards at the end only, and the paper's summary of dynamics."""

import dataclasses
import itertools
import math

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from ...errors import require
from ...ledger import (
    Between,
    Claim,
    Comparison,
    Domain,
    Erratum,
    Evidence,
    Powers,
    Real,
    at_least,
    at_most,
    equal,
    shown,
)
from ...models import Positional
from ...supervision import answer_means, assignments
from ...tasks import Boolean
from ...theory.precision import in_float64
from .exact import pretrained, scattered, secret_of, with_weights
from .population import direction, updates
from .setting import CHOSEN, EXACT, PAPER, Tree, chosen, require_levels, require_limit, require_rate


@eqx.filter_jit
def answer_slopes(model: Positional, inputs) -> jax.Array:
    """v(x) = grad_W E[y^(T) | x], one row per input."""

    def means(weights):
        return answer_means(with_weights(model, weights), inputs)

    return jax.jacrev(means)(model.weights).reshape(inputs.shape[1], -1)


def class_variance(slopes: Float[np.ndarray, "input weight"], functions: Float[np.ndarray, "function input"]) -> float:
    """Var(H; W): the spread of the outcome-reward gradient E_x[h(x) v(x)] over a class of targets."""
    gradients = functions @ slopes / len(slopes)
    return float(((gradients - gradients.mean(axis=0)) ** 2).sum(axis=1).mean())


def parities(bits: int, sparsity: int | None = None) -> Float[np.ndarray, "function input"]:
    """Every parity over the inputs, or those of `sparsity` bits."""
    require(bits <= 12, f"a class of parities is listed for at most 12 bits: bits={bits}; use fewer")
    inputs = assignments(bits)
    sizes = range(bits + 1) if sparsity is None else (sparsity,)
    chosen = [list(subset) for size in sizes for subset in itertools.combinations(range(bits), size)]
    return np.array([inputs[subset].prod(axis=0) for subset in chosen], float)


@in_float64
def _variance(size: Tree) -> Evidence:
    task: Boolean = size.task()
    inputs, every_parity = assignments(size.bits), parities(size.bits)
    compared: list[Comparison] = []
    over = 0.0  # the k-sparse parities' variance over M / 2^d
    for name, model in (("uniform", pretrained(task)), ("random", scattered(task))):
        slopes = np.asarray(answer_slopes(model, inputs))
        most = float((slopes**2).sum(axis=1).mean())  # M
        every = class_variance(slopes, every_parity)
        sparse = class_variance(slopes, parities(size.bits, size.sparsity))
        count = math.comb(size.bits, size.sparsity)
        over = max(over, sparse * 2**size.bits / most)
        compared += [
            equal(f"{name}: |v(1,...,1)|^2", 0, float((slopes[0] ** 2).sum()), EXACT),  # the first input is all +1
            equal(f"{name}: Var / (M/|H|), all parities", 1.0, every * 2**size.bits / most, EXACT),
            at_most(f"{name}: Var / (M/|H|), k-sparse", sparse * count / most, 1.0, EXACT),
            shown(f"{name}: Var / (M/2^d), k-sparse", 1.0, sparse * 2**size.bits / most),
        ]
    return Evidence(
        tuple(compared),
        erratum=Erratum(
            "proof of Prop. 3.2: 2M/|H| in one line and <v,v>^2 for <v,v>; |H| = 2^d for sparse parities",
            f"M/|H|, attained by all parities, so 2M is loose by 2; k-sparse parities number C(d,k), and their variance here is up to "
            f"{over:.2f} M/2^d",
            "fails" if over > 1 + EXACT else "inconclusive",
        ),
    )


@dataclasses.dataclass(frozen=True)
class Summary(Tree):
    bits: int = 10
    sparsity: int = 8
    rate: float = 4.0
    limit: int = 6

    def __post_init__(self):
        require_levels(self.sparsity, 2)
        require_rate(self.rate)
        require_limit(self.limit, self.task().layout.depth - 1)


@in_float64
def _summary(size: Summary) -> Evidence:
    task = size.task()
    depth = task.layout.depth
    laws = {"rl": 1, "rl-truth": depth - 1, "forced": 1, "own": depth - 1}
    compared: list[Comparison] = []
    for teaching, law in laws.items():
        found = updates(task, teaching, size.rate, size.limit)
        compared.append(equal(f"{teaching}: updates until exact", law, found or math.nan, 0))
    process, outcome = (direction(task, pretrained(task), teaching) for teaching in ("rl", "outcome"))
    first, leaves = np.asarray(task.layout.levels) == 1, np.asarray(secret_of(task))
    spread, contrast = (float(np.ptp(each[first][:, leaves], axis=1).max()) for each in (outcome, process))
    solved = updates(task, "outcome", size.rate, size.limit)
    lower = [float(np.linalg.norm(direction(size_task, scattered(size_task), "outcome"))) for size_task in _sizes(size)]
    return Evidence(
        (
            *compared,
            *_fraction(size),
            equal(
                "outcome gradient: spread over the secret bits, level 1", 0, spread, 1e-12
            ),  # the gradient is near 1e-4
            at_least("process gradient: spread over the secret bits, level 1", contrast, 1e-3),
            equal("outcome: solved", 0, int(solved is not None), 0),
            *(
                shown(f"outcome gradient, random weights, d = k = {each.bits}", None, norm)
                for each, norm in zip(_sizes(size), lower, strict=True)
            ),
        )
    )


def _fraction(size: Summary) -> tuple[Comparison, ...]:
    """The outcome gradient beside the process gradient at uniform attention, and what one more idle bit makes of it."""
    found = []
    for bits in (size.bits, size.bits + 1):
        task = Tree(bits, size.sparsity).task()
        outcome, process = (np.linalg.norm(direction(task, pretrained(task), way)) for way in ("outcome", "rl"))
        found.append(float(outcome / process))
    now, wider = found
    if size.bits == size.sparsity:
        return (equal("outcome over process gradient, every bit secret", 0, now, 1e-12),)
    return (
        shown("outcome over process gradient, uniform attention", None, now),
        at_most("the same with one more idle bit, over it", wider / now, size.bits / (size.bits + 1)),
    )


def _sizes(size: Summary) -> list[Boolean]:
    return [Tree(bits, bits).task() for bits in (2, 4, 8) if bits <= size.bits]


CLAIMS = (
    Claim(
        "RS-24", PAPER, "Prop. 3.2", "inequality",
        "Over a class H of orthogonal targets the outcome-reward gradient varies by at most M/|H|; all 2^d parities attain it. "
        "(Their variance is (E|v|^2 - |v(1,...,1)|^2/2^d)/2^d, and v(1,...,1) = 0 in this model: attention on equal tokens does not matter.)",
        {"tiny": Tree(6, 4), "quick": Tree(6, 4), "paper": Tree(10, 4)}, _variance,
        domain=Domain({"bits": Between(4, 9), "sparsity": Powers(2, 8)}, chosen, CHOSEN),
        departures=("The exact form was compared with its term in v(1,...,1), and the bound called nearly attained, until a review, which had "
                    "seen that v(1,...,1) = 0 and the ratio is 1.",), revised=True,
    ),
    Claim(
        "RS-34", PAPER, "Fig. 1", "finite",
        "Sign updates until the tree is exact, PARITY: RL with labels from the own prefix 1, teacher forcing 1; RL with true labels and "
        "SFT on own thoughts go level by level, T-1 (eta above RS-16's threshold). With an outcome reward the gradient at uniform attention is "
        "the same on all secret bits, so tells no pair from another, and nothing is learned; it is zero if every bit is secret, and else, from "
        "six bits on, its share of the process reward's falls faster than 1/d.",
        {"tiny": Summary(), "quick": Summary(), "paper": Summary(12, 8)}, _summary,
        domain=Domain(
            {"bits": Between(6, 12), "sparsity": Powers(4, 8), "rate": Real(2, 8), "limit": Between(3, 8)}, chosen, CHOSEN
        ),
        departures=("That no pair is told from another was said and not measured until a review; the words 'at uniform attention' came with "
                    "the measurement.",
                    "The share was compared with 0.1 until an audit, which saw 0.0951 at d = 9, k = 8 and 1.0 at d = 6, k = 4; 1/d was chosen after "
                    "a scan of d up to 12, in which one more bit left 0.80 to 0.85 of it for k = 4 and 0.59 to 0.64 for k = 8."), revised=True,
    ),
)  # fmt: skip
