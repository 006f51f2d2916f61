"""A power of k or an exponential? One family holds both, and its bend is a parameter with an interval.

log(median time) = u + v (k^bend - 1) / bend, which is u + v log k at bend 0 (a power k^v) and u + v (k - 1) at bend 1
(a factor e^v per unit of k). Times scatter log-normally, are seen at evaluations only (a success at t lies in
(t - spacing, t]) and are censored on the right at the budget. The 95 % interval is that of the profile likelihood, cut
as Student's t asks where every time is known, for few members make the usual cut too narrow.
"""

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from ..errors import require
from .proportions import Interval

POWER, EXPONENTIAL = 0.0, 1.0
STEEPEST = 4.0  # bends are looked for up to so far on either side
Numbers = Float[np.ndarray, " member"] | Int[np.ndarray, " member"]


class Bend(NamedTuple):
    value: float
    interval: Interval
    verdict: Literal["power", "exponential", "inconclusive", "neither"]
    bends: np.ndarray
    profile: np.ndarray  # log-likelihood at each of them, the best fit's subtracted
    lines: dict[float, tuple[float, float]]  # u and v at bend 0, bend 1 and the best


def curve(sizes: Numbers, bend: float) -> np.ndarray:
    """(k^bend - 1) / bend."""
    sizes = np.asarray(sizes, float)
    return np.log(sizes) if abs(bend) < 1e-9 else (sizes**bend - 1) / bend


def bend_of(sizes: Numbers, times: Numbers, solved: Bool[np.ndarray, " member"], spacing: float) -> Bend:
    """Bends in steps of 0.1; an interval that reaches the end of them is open there."""
    sizes, times, solved = np.asarray(sizes, float), np.asarray(times, float), np.asarray(solved, bool)
    known = np.unique(sizes[solved])
    require(
        len(known) >= 3, f"a bend needs three sizes with a success: {known.tolist()}; use more k or a larger budget"
    )
    bends = np.round(np.arange(-STEEPEST, STEEPEST + 0.05, 0.1), 1)
    fits, near = [], None
    for bend in bends:
        found, near = _fit(curve(sizes, bend), times, solved, spacing, near)
        fits.append(found)
    profile = np.array([fit[0] for fit in fits])
    profile -= profile.max()
    inside = bends[profile >= -_cut(int(solved.sum()))]
    low = -math.inf if inside[0] == bends[0] else float(inside[0])
    high = math.inf if inside[-1] == bends[-1] else float(inside[-1])
    best = float(bends[profile.argmax()])
    held = {name for name, bend in (("power", POWER), ("exponential", EXPONENTIAL)) if low <= bend <= high}
    verdict: Any = "inconclusive" if len(held) == 2 else held.pop() if held else "neither"
    lines = {bend: fits[int(np.argmin(abs(bends - bend)))][1:] for bend in (POWER, EXPONENTIAL, best)}
    return Bend(best, Interval(low, high), verdict, bends, profile, lines)


def _cut(members: int) -> float:
    """How far below its top a log-likelihood may lie: n/2 log(1 + t^2 / (n - 3)), t Student's 97.5 % point."""
    from scipy import stats

    free = max(members - 3, 1)
    return 0.5 * members * math.log1p(float(stats.t.ppf(0.975, free)) ** 2 / free)


def _fit(x: np.ndarray, times: np.ndarray, solved: np.ndarray, spacing: float, near: np.ndarray | None):
    """The greatest log-likelihood over u, v and the spread, with u and v; and where to look for the next bend's."""
    from scipy import optimize, stats

    late, early = np.log(times), np.log(np.maximum(times - spacing, 1e-300))
    middle, scale = x.mean(), max(float(x.std()), 1e-12)

    def cost(parameters: np.ndarray) -> float:
        u, v, w = parameters
        spread = math.exp(np.clip(w, -3, 5))
        ends = ((logs - u - v * (x - middle) / scale) / spread for logs in (late, early))
        after, before = (stats.norm.logcdf(each) for each in ends)
        inside = after + np.log1p(-np.exp(np.minimum(before - after, -1e-15)))
        beyond = stats.norm.logsf((late - u - v * (x - middle) / scale) / spread)
        return float(-np.where(solved, inside, beyond).sum()) + 1e3 * max(0.0, abs(w - 1) - 4)

    if near is None:
        slope, base = np.polyfit((x - middle) / scale, late, 1)
        near = np.array([base, slope, math.log(0.5)])
    found: Any = optimize.minimize(
        cost, near, method="Nelder-Mead", options={"maxiter": 2000, "xatol": 1e-4, "fatol": 1e-6}
    )
    u, v, _ = found.x
    return (-float(found.fun), float(u - v * middle / scale), float(v / scale)), found.x
