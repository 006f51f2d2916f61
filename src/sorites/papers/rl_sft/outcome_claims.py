"""Claims about rewards at the end only, and the paper's summary of dynamics."""

import dataclasses
import itertools
import math

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from ...errors import require
from ...ledger import Claim, Comparison, Erratum, Evidence, at_most, equal, shown
from ...models import Positional
from ...supervision import answer_means, assignments
from ...tasks import Boolean
from ...theory.precision import in_float64
from .exact import pretrained, scattered, with_weights
from .population import direction, updates
from .setting import EXACT, PAPER, Tree


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
    for name, model in (("uniform", pretrained(task)), ("random", scattered(task))):
        slopes = np.asarray(answer_slopes(model, inputs))
        most = float((slopes**2).sum(axis=1).mean())  # M
        every = class_variance(slopes, every_parity)
        sparse = class_variance(slopes, parities(size.bits, size.sparsity))
        law = (most - float((slopes[0] ** 2).sum()) / 2**size.bits) / 2**size.bits  # the first input is all +1
        count = math.comb(size.bits, size.sparsity)
        compared += [
            equal(f"{name}: Var over all parities, exact form", law, every, EXACT),
            at_most(f"{name}: Var over all parities", every, most / 2**size.bits, 1e-12),
            at_most(f"{name}: Var over k-sparse parities", sparse, most / count, 1e-12),
            shown(f"{name}: Var / (M/|H|), all parities", 1.0, every * 2**size.bits / most),
            shown(f"{name}: Var / (M/|H|), k-sparse", 1.0, sparse * count / most),
        ]
    return Evidence(
        tuple(compared),
        erratum=Erratum(
            "proof of Prop. 3.2: 2M/|H| in one line and <v,v>^2 for <v,v>; |H| = 2^d for sparse parities",
            "M/|H|, nearly attained; 2^d is the class of all parities, k-sparse ones number C(d,k)",
            "fails" if 2**size.bits != math.comb(size.bits, size.sparsity) else "holds",
        ),
    )


@dataclasses.dataclass(frozen=True)
class Summary(Tree):
    bits: int = 10
    sparsity: int = 8
    rate: float = 4.0
    limit: int = 6


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
    ratio = float(np.linalg.norm(outcome) / np.linalg.norm(process))
    solved = updates(task, "outcome", size.rate, size.limit)
    lower = [float(np.linalg.norm(direction(size_task, scattered(size_task), "outcome"))) for size_task in _sizes(size)]
    return Evidence(
        (
            *compared,
            at_most("outcome over process gradient, uniform attention", ratio, 0.1),
            equal("outcome: solved", 0, int(solved is not None), 0),
            *(
                shown(f"outcome gradient, random weights, d = k = {each.bits}", None, norm)
                for each, norm in zip(_sizes(size), lower, strict=True)
            ),
        )
    )


def _sizes(size: Summary) -> list[Boolean]:
    return [Tree(bits, bits).task() for bits in (2, 4, 8) if bits <= size.bits]


CLAIMS = (
    Claim(
        "RS-24", PAPER, "Prop. 3.2", "inequality",
        "Over a class H of orthogonal targets the outcome-reward gradient varies by at most M/|H|; over all 2^d parities it varies by "
        "exactly (E|v|^2 - |v(1)|^2/2^d)/2^d.",
        {"tiny": Tree(6, 4), "quick": Tree(6, 4), "paper": Tree(10, 4)}, _variance,
    ),
    Claim(
        "RS-34", PAPER, "Fig. 1", "finite",
        "Sign updates until the tree is exact, PARITY: RL with labels from the own prefix 1, teacher forcing 1; RL with true labels and "
        "SFT on own thoughts go level by level, T-1. With an outcome reward the gradient is a small fraction of the process reward's, "
        "cannot tell one pair of secret bits from another, and nothing is learned.",
        {"tiny": Summary(), "quick": Summary(), "paper": Summary(12, 8)}, _summary,
    ),
)  # fmt: skip
