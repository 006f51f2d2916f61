"""A count of seeds against the chance that a law gives each of them (LI-25, KS-29)."""

import math

from ..ledger import Comparison, shown

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
