"""Means with intervals."""

import math

import numpy as np
from jaxtyping import Float

from .proportions import Interval


def mean_interval(values: Float[np.ndarray, " member"]) -> Interval:
    """95 % interval of the mean by Student's t; one value has no interval but the whole line."""
    from scipy import stats

    values = np.asarray(values, float)
    if len(values) < 2:
        return Interval(-math.inf, math.inf)
    half = float(stats.t.ppf(0.975, len(values) - 1)) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return Interval(float(values.mean()) - half, float(values.mean()) + half)
