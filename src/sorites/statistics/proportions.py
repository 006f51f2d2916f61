"""Success rates with intervals."""

import math
from typing import NamedTuple

from ..errors import require


class Interval(NamedTuple):
    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and self.low <= value <= self.high


def wilson(successes: int, trials: int, z: float = 1.959964) -> Interval:
    """Wilson's score interval of a proportion, 95 % by default: 18 of 20 gives (0.699, 0.972)."""
    require(0 <= successes <= trials and trials > 0, f"successes lie in 0..trials: {successes} of {trials}")
    share, square = successes / trials, z * z
    centre = (share + square / (2 * trials)) / (1 + square / trials)
    half = z / (1 + square / trials) * math.sqrt(share * (1 - share) / trials + square / (4 * trials**2))
    return Interval(max(0.0, centre - half), min(1.0, centre + half))
