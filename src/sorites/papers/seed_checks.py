"""What LI-25 and KS-29 share: seeds that survive an oracle's error, counted against the chance that a law gives each."""

import math
from collections.abc import Callable

import numpy as np

from ..ledger import Comparison, at_least, shown

ORACLES = ("random", "adversarial")
CLOSE = 0.5  # an answer's error; siblings one apart leave 0.88, whole ones less than 0.1
FLOAT32 = 1e-5  # an error of exactly 2 is computed as 2 +- 5e-7
RADII = (0.1, 0.25, 0.5, 1.5, 3.0, 10.0)  # in units of the radius at which siblings part for sure

LIKELY, UNLIKELY = 0.9, 0.01  # chances of a seed from which on, and up to which, a count is judged
ALARM = 1e-5
JUDGED = (
    "Counts are judged where the law of rounding gives a seed 0.9 or more, or 0.01 or less, and fail below a chance of 1 in 100,000. Nine of ten are "
    "rounded down since a first run; they were rounded up."
)


def counted(name: str, close: int, seeds: int, law: float) -> Comparison:
    """Where the law makes a close seed likely most are close, where unlikely few; else the count is shown."""
    from scipy import stats

    if law >= LIKELY:
        needed = math.floor(LIKELY * seeds)
        rare = stats.binom.cdf(close, seeds, law) < ALARM
        return Comparison(f"{name} ≥", needed, close, 0, True if close >= needed else False if rare else None)
    if law <= UNLIKELY:
        most = math.floor((1 - LIKELY) * seeds)
        rare = stats.binom.sf(close - 1, seeds, law) < ALARM
        return Comparison(f"{name} ≤", most, close, 0, True if close <= most else False if rare else None)
    return shown(f"{name} (expected by the law)", law * seeds, close)


def survived(
    radii: tuple[float, ...],
    seeds: int,
    errors: Callable[[float, str], np.ndarray],
    law: Callable[[float, bool], float],
) -> list[Comparison]:
    """By radius: seeds with every answer close under each oracle, and the adversary's harm beside that of noise.
    errors: the largest error of an answer, by seed, at a radius under an oracle; law: the chance of a close seed."""
    compared: list[Comparison] = []
    for radius in radii:
        harm = {}
        for oracle in ORACLES:
            error = errors(radius, oracle)
            name = f"radius {radius:g}, {oracle}: seeds with every answer close"
            compared.append(counted(name, int((error <= CLOSE).sum()), seeds, law(radius, oracle == "adversarial")))
            harm[oracle] = float(np.minimum(error, 1).mean())  # beyond 1 an answer is wrong, however far
        name = f"radius {radius:g}: harm of the adversary, against noise"
        compared.append(at_least(name, harm["adversarial"], harm["random"], FLOAT32))
    return compared
