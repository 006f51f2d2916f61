"""Sample complexity as a statistic: times to success, right-censored at the budget.

A member that has not succeeded when it stops says only that its time is longer. Medians come from the Kaplan-Meier
curve, their intervals from the sign test; growth in k from log-normal regressions with the censored likelihood.
"""

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from ..errors import require
from .proportions import Interval

Times = Float[np.ndarray, " member"] | Int[np.ndarray, " member"]
Solved = Bool[np.ndarray, " member"]


class Curve(NamedTuple):
    """Share not yet solved just after each time of a success."""

    times: np.ndarray
    unsolved: np.ndarray


class Median(NamedTuple):
    """inf: beyond the budget. The interval is that of the sign test, at least 95 % whatever the law of the times; it
    reaches from 0 to inf with fewer than six members."""

    value: float
    interval: Interval
    solved: int
    members: int
    bound: float  # the value, or a time that the median exceeds


def kaplan_meier(times: Times, solved: Solved) -> Curve:
    """The product-limit estimate: (3, solved), (5, censored), (7, solved) leaves 2/3 after 3 and 0 after 7."""
    times, solved = np.asarray(times, float), np.asarray(solved, bool)
    require(len(times) == len(solved) > 0, "a survival curve needs members, each with a time and an outcome")
    moments = np.unique(times[solved])
    at_risk = np.array([(times >= moment).sum() for moment in moments], float)
    events = np.array([((times == moment) & solved).sum() for moment in moments], float)
    return Curve(moments, np.cumprod(1 - events / np.maximum(at_risk, 1)))


def median_time(times: Times, solved: Solved) -> Median:
    """When half of the members have succeeded; midway to the next success where exactly half have."""
    curve, solved = kaplan_meier(times, solved), np.asarray(solved, bool)

    def first(below: np.ndarray) -> float:
        return float(curve.times[np.argmax(below)]) if below.any() else math.inf

    half, later = first(curve.unsolved <= 0.5 + 1e-9), first(curve.unsolved < 0.5 - 1e-9)
    value = half if math.isinf(later) else (half + later) / 2 if half < later else later
    bound = value if math.isfinite(value) else float(np.median(times))  # censored times are lower bounds, so is this
    return Median(value, _sign_interval(np.asarray(times, float), solved), int(solved.sum()), len(solved), bound)


def _sign_interval(times: np.ndarray, solved: np.ndarray) -> Interval:
    """Between the l-th smallest and the l-th largest, l the most members that lie on one side of the median with
    probability at most 2.5 %. A censored time is at least itself, and at most anything."""
    count = len(times)
    chances = np.cumsum([math.comb(count, k) / 2**count for k in range(count + 1)])
    place = int((chances <= 0.025).sum())  # l
    if not place:
        return Interval(0.0, math.inf)
    return Interval(float(np.sort(times)[place - 1]), float(np.sort(np.where(solved, times, math.inf))[-place]))


class Fit(NamedTuple):
    log_likelihood: float
    first: float  # median time at the smallest k
    growth: float  # added per unit of k (linear), or the factor per unit of k (exponential)
    spread: float  # of the logarithm


class Growth(NamedTuple):
    """Linear against exponential growth in k. Both have three parameters, so the difference of AIC is twice that of the
    log-likelihoods; less than four is inconclusive."""

    linear: Fit
    exponential: Fit
    difference: float  # AIC(linear) - AIC(exponential)
    verdict: Literal["linear", "exponential", "inconclusive"]


DECISIVE = 4.0


def compare_growth(sizes: Times, times: Times, solved: Solved) -> Growth:
    """Median time a + b (k - k0) against a r^(k - k0), with log-normal scatter; b >= 0."""
    sizes, times, solved = np.asarray(sizes, float), np.asarray(times, float), np.asarray(solved, bool)
    require(len(np.unique(sizes)) >= 3, f"growth needs three sizes: {np.unique(sizes).tolist()}; use more values of k")
    require(bool(solved.any()), "growth needs at least one success; raise the budget")
    offset, logs = sizes - sizes.min(), np.log(np.maximum(times, 1.0))
    linear = _fit(offset, logs, solved, lambda u, v: np.logaddexp(u, v + np.log(np.maximum(offset, 1e-300))))
    exponential = _fit(offset, logs, solved, lambda u, v: u + v * offset)
    difference = 2 * (exponential.log_likelihood - linear.log_likelihood)
    verdict = "inconclusive" if abs(difference) < DECISIVE else "exponential" if difference > 0 else "linear"
    return Growth(linear, exponential, difference, verdict)


def _fit(offset: np.ndarray, logs: np.ndarray, solved: np.ndarray, middle) -> Fit:
    """Maximum likelihood over (u, v, log spread); u is the log median at the smallest size."""
    from scipy import optimize, stats

    def cost(parameters: np.ndarray) -> float:
        u, v, w = parameters
        spread = math.exp(np.clip(w, -3, 5))
        score = (logs - middle(u, v)) / spread
        density = stats.norm.logpdf(score) - math.log(spread)
        return float(-np.where(solved, density, stats.norm.logsf(score)).sum()) + 1e3 * max(0.0, abs(w - 1) - 4)

    base = float(logs[offset == 0].mean())
    best: Any = None
    for v in (0.1, 1.0, base - 3, base, base + 2):
        found: Any = optimize.minimize(cost, np.array([base, v, 0.0]), method="Nelder-Mead",
                                       options={"maxiter": 4000, "xatol": 1e-6, "fatol": 1e-8})  # fmt: skip
        best = found if best is None or found.fun < best.fun else best
    u, v, w = best.x
    return Fit(-float(best.fun), math.exp(u), math.exp(min(v, 700)), math.exp(np.clip(w, -3, 5)))
