"""Siblings that must round to one integer: how likely, under sampling noise and a gradient oracle that errs
(log-icot Theorem 1, kim-suzuki Theorem 7).

An update leaves a child at weight w + noise + error, |error| <= shift in every entry. Its cell is the interval of
half-width 1/2 around round(w). An adversary pushes the larger sibling up and the smaller one down, so both stay
together if and only if both lie in the cell shrunk by the shift.
"""

import math

import numpy as np


def room(weight: float) -> float:
    """Distance of a weight to the nearest half-integer: the shift from which an adversary parts siblings for sure."""
    return 0.5 - abs(weight - math.floor(weight + 0.5))


def kept(weight: float, noise: float, shift: float, adversarial: bool) -> float:
    """Chance that a child stays in its cell, adversarial: in the shrunk one; a pair stays together with its square.
    A random error is uniform in [-shift, shift]."""
    off = weight - math.floor(weight + 0.5)
    if adversarial:
        return _between(off, noise, 0.5 - shift)
    return float(np.mean([_between(off + shift * part, noise, 0.5) for part in np.linspace(-1, 1, 201)]))


def _between(middle: float, noise: float, half: float) -> float:
    """P(|middle + N(0, noise^2)| < half)."""
    ends = ((half - middle) / noise, (half + middle) / noise)
    return max(0.0, sum(math.erf(end / math.sqrt(2)) for end in ends) / 2)
