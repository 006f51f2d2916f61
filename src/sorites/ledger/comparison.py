"""One number against another: what was predicted, what was measured, and how far apart they may be."""

import dataclasses
import math

import numpy as np


@dataclasses.dataclass(frozen=True)
class Comparison:
    """`holds` is None where the evidence does not decide (an interval that straddles the threshold)."""

    name: str
    predicted: float | None
    measured: float | None
    tolerance: float | None
    holds: bool | None

    def __post_init__(self):
        for field in ("predicted", "measured", "tolerance"):
            value = getattr(self, field)
            if value is not None:
                value = float(value)
                object.__setattr__(self, field, value if math.isfinite(value) else None)


def worst(*values: float) -> float:
    """The largest value; NaN if one is NaN, so that a broken measurement fails its comparison."""
    return float(np.max(values))


def equal(name: str, predicted: float, measured: float, within: float) -> Comparison:
    """|measured - predicted| <= within."""
    return Comparison(name, predicted, measured, within, bool(abs(measured - predicted) <= within))


ERRORS = 4.5  # standard errors; a normal deviate is further away in less than 1 of 100,000 cases (6.8e-6)


def sampled(name: str, predicted: float, measured: float, error: float, slack: float = 0.0) -> Comparison:
    """|measured - predicted| <= 4.5 standard errors + slack: where the prediction is true, such a check fails in less
    than 1 of 100,000 runs. slack: what the law itself leaves out, stated by the claim."""
    return equal(f"{name} (± 4.5 standard errors)", predicted, measured, ERRORS * error + slack)


def at_most(name: str, measured: float, bound: float, slack: float = 0.0) -> Comparison:
    """measured <= bound + slack."""
    return Comparison(f"{name} ≤", bound, measured, slack, bool(measured <= bound + slack))


def at_least(name: str, measured: float, bound: float, slack: float = 0.0) -> Comparison:
    """measured >= bound - slack."""
    return Comparison(f"{name} ≥", bound, measured, slack, bool(measured >= bound - slack))


def interval_inside(
    name: str, measured: float, interval: tuple[float, float], predicted: float, within: float
) -> Comparison:
    """Holds if the interval lies inside predicted +- within, fails if it lies outside, else undecided."""
    low, high = predicted - within, predicted + within
    inside = low <= interval[0] and interval[1] <= high
    outside = interval[1] < low or interval[0] > high
    return Comparison(name, predicted, measured, within, True if inside else False if outside else None)


def shown(name: str, predicted: float | None, measured: float | None) -> Comparison:
    """A number that is reported and not asserted."""
    return Comparison(name, predicted, measured, None, True)
