"""Exponents: slopes of log-log fits with their intervals."""

import math
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Num

from ..errors import require
from .proportions import Interval


class Slope(NamedTuple):
    value: float
    interval: Interval  # 95 %, Student's t on the residuals


def log_log_slope(x: Num[np.ndarray, " point"], y: Num[np.ndarray, " point"]) -> Slope:
    """The exponent a of y ~ x^a by least squares."""
    from scipy import stats

    x, y = np.asarray(x, float), np.asarray(y, float)
    require(len(x) >= 3 and bool((x > 0).all() and (y > 0).all()), "a slope needs three or more positive points")
    fit: Any = stats.linregress(np.log(x), np.log(y))
    half = float(stats.t.ppf(0.975, len(x) - 2)) * float(fit.stderr)
    slope = float(fit.slope)
    return Slope(slope, Interval(slope - half, slope + half) if math.isfinite(half) else Interval(slope, slope))


def semi_log_slope(x: Num[np.ndarray, " point"], y: Num[np.ndarray, " point"]) -> Slope:
    """The rate a of y ~ e^(a x) by least squares."""
    return log_log_slope(np.exp(np.asarray(x, float)), y)
