"""What log2 k rounded steps should give: the weights before rounding, their noise, and the chance of a seed."""

import functools
import math

import numpy as np

from ...theory import rounding, tree_law
from .theorems import LogSteps


@functools.cache
def _signal(bits: int, sparsity: int, level: int) -> float:
    return tree_law.signal(bits, sparsity, level)


def law(size: LogSteps) -> np.ndarray:
    """Weight of a level's children before rounding, K s_l (d/d_{l-1})^2: s_l is the exact signal of its first gradient."""
    keys = np.array(size.task().layout.ends[:-1], float)
    signals = [_signal(size.bits, size.sparsity, level) for level in range(1, len(keys) + 1)]
    return size.rate() * 2 * tree_law.CURVATURE / keys**2 * np.array(signals)


def noises(size: LogSteps) -> list[float]:
    """A weight's noise before rounding, by level: at most sqrt 2 K (d/N)^2 sqrt(N/n) (KS-17)."""
    scale = math.sqrt(2) * size.rate() * 2 * tree_law.CURVATURE
    return [scale / keys**2 * math.sqrt(keys / size.samples) for keys in size.task().layout.ends[:-1]]


def chance(size: LogSteps, error: float = 0.0, adversarial: bool = True) -> float:
    """Of one seed, at least: all children of a level round to one integer, and no string of an untaught level passes.
    error: of the oracle, in every entry of the gradient. An untaught thought says phi(S/N)."""
    layout, found = size.task().layout, 1.0
    widest = math.acos(1 - size.threshold) / math.pi  # |S|/N below which 1 - cos(pi S/N) < eps0
    for level, (weight, noise) in enumerate(zip(map(float, law(size)), noises(size), strict=True), start=1):
        keys = layout.ends[level - 1]
        inside = rounding.kept(weight, noise, size.rate() * error, adversarial)
        passes = 2 * _tail(keys, math.ceil((1 + widest) / 2 * keys))
        found *= inside ** (2 * layout.levels.count(level)) * (1 - passes) ** size.strings
    return found


@functools.cache
def _tail(keys: int, least: int) -> float:
    """P(at least so many of N fair signs are +1)."""
    return sum(math.comb(keys, count) for count in range(least, keys + 1)) / 2**keys
