"""Checks that log-icot and kim-suzuki share: the tree of a parity and the products of its positions."""

import dataclasses
import math

import jax
import numpy as np

from ..errors import require
from ..ledger import Comparison, Evidence, at_most, equal, shown
from ..statistics import wilson
from ..tasks import Boolean, Parity
from ..theory import products


@dataclasses.dataclass(frozen=True)
class Tree:
    bits: int = 12
    sparsity: int = 8

    def task(self) -> Boolean:
        return Parity(self.bits, self.sparsity)


def indices(size: Tree) -> Evidence:
    """Ends of levels, children, and the root, for every sparsity up to the given one (LI-1, KS-1)."""
    wrong = 0
    for layers in range(1, int(math.log2(size.sparsity)) + 1):
        sparsity = 2**layers
        task = Parity(size.bits, sparsity)
        layout = task.layout
        formula = [task.bits + sparsity - sparsity // 2 ** (level - 1) for level in range(1, layers + 2)]
        wrong += list(layout.ends) != formula
        wrong += layout.positions != task.bits + sparsity - 1
        children = np.asarray(task.children(task.draw(jax.random.key(layers))))
        masks = products.input_sets(task.bits, children)
        for thought, (first, second) in enumerate(children):
            own = task.bits + thought
            wrong += not first < second < own
            wrong += masks[own] ^ masks[first] ^ masks[second] != 0
            wrong += max(layout.position_levels[first], layout.position_levels[second]) != layout.levels[thought] - 1
        wrong += bin(masks[-1]).count("1") != sparsity
    return Evidence((equal("mismatches", 0, wrong, 0),))


def quadruples(size: Tree) -> Evidence:
    """Trivial 4-tuples among the first positions, by brute force and by formula (LI-10, KS-14)."""
    task = size.task()
    children = np.asarray(task.children(task.draw(jax.random.key(0))))
    masks, compared = products.input_sets(size.bits, children), []
    for level in range(task.layout.depth + 1):
        end = task.layout.ends[level]
        nested = int((children[: end - size.bits] >= size.bits).sum())
        formula = products.trivial_quadruples_formula(end, nested)
        compared.append(equal(f"N={end}", formula, products.trivial_quadruples(masks[:end]), 0))
    return Evidence(tuple(compared))


@dataclasses.dataclass(frozen=True)
class Correlations:
    bits: int = 8
    sparsity: int = 8
    samples: int = 400
    failure: float = 0.05  # p
    trials: int = 200

    def __post_init__(self):
        require_trials(self.trials, self.failure)
        kappa = products.correlation_bound(self.samples, self.bits, self.failure)
        require(kappa < 1, f"a correlation is at most 1, so must its bound be: kappa={kappa:.3g}; use more samples")


def require_trials(trials: int, failure: float) -> None:
    require(trials >= 2, f"a frequency needs trials: trials={trials}; use 2 or more")
    require(0 < failure < 1, f"a failure probability lies between 0 and 1: failure={failure}; use 0.05")


def frequency(name: str, seen: int, trials: int, bound: float) -> Comparison:
    """Holds if the Wilson interval lies below the bound, fails if above."""
    low, high = wilson(seen, trials)
    share = seen / trials
    return Comparison(
        f"{name} ≤", bound, share, high - share, True if high <= bound else False if low > bound else None
    )


def correlations(size: Correlations) -> Evidence:
    """How often a non-trivial product of at most four positions exceeds kappa (LI-9, KS-12)."""
    task = Parity(size.bits, size.sparsity)
    masks = products.input_sets(size.bits, np.asarray(task.children(task.draw(jax.random.key(0)))))
    tuples = products.nontrivial_products(masks)
    kappa = products.correlation_bound(size.samples, size.bits, size.failure)
    generator = np.random.default_rng(0)
    found = [
        products.largest_correlation(generator.integers(0, 2, size=(size.samples, size.bits)) * 2 - 1, tuples)
        for _ in range(size.trials)
    ]
    return Evidence(
        (
            at_most("share of batches above kappa", float(np.mean(np.array(found) > kappa)), size.failure),
            shown("largest correlation seen, against kappa", kappa, max(found)),
        ),
        seeds=size.trials,
    )
