"""Without the chain: does the cost grow as a power of k or exponentially? (not in the paper)"""

import math

import numpy as np
import polars as pl

from ...drawing import COLOURS, QUIET, new_figure
from ...errors import SpecError
from ...statistics import Bend, bend_of
from ...statistics.bending import EXPONENTIAL, POWER, curve
from ..figure import Figure, Frames
from .complexity_figures import QUICK, TINY
from .experiments import best
from .frames import measure
from .grids import AT_PAPER_SCALE, LARGE, Complexity

INKS = {POWER: COLOURS["blue"], EXPONENTIAL: COLOURS["vermillion"]}


def _bare(frames: Frames) -> pl.DataFrame:
    """Members without the chain, at the best of their rates."""
    return pl.DataFrame(best(frames["data"].filter(~pl.col("chain")).to_dicts()))


def spacing(data: pl.DataFrame) -> float:
    """Of the evaluations: all successes lie on this grid."""
    solved = data.filter("solved")["samples"].to_numpy()
    return float(np.gcd.reduce(solved)) if len(solved) else 1.0


def bend(frames: Frames) -> Bend | None:
    """None where fewer than three k have a success."""
    data = _bare(frames)
    try:
        return bend_of(
            data["sparsity"].to_numpy(), data["samples"].to_numpy(), data["solved"].to_numpy(), spacing(data)
        )
    except SpecError:
        return None


def _draw(frames: Frames, size: Complexity):
    figure = new_figure(9.6, 4.4)
    left, right = figure.subplots(1, 2)
    data, found = _bare(frames), bend(frames)
    times, solved = data["samples"].to_numpy(), data["solved"].to_numpy()
    place = data["sparsity"].to_numpy().astype(float)
    for k in np.unique(place):  # side by side, so that each can be counted
        (here,) = np.nonzero(place == k)
        place[here] += np.linspace(-0.08, 0.08, len(here) + 2)[1:-1]
    left.scatter(
        place[solved], times[solved], s=18, color=QUIET, linewidth=0, label="a secret: solved within the thin line"
    )
    since = np.maximum(times - spacing(data), spacing(data) / 20)
    left.vlines(place[solved], since[solved], times[solved], color=QUIET, linewidth=1, alpha=0.6)
    if not solved.all():
        left.scatter(place[~solved], times[~solved], s=30, marker="^", facecolor="none", edgecolor=QUIET,
                     label="not solved in the budget")  # fmt: skip
    k = np.linspace(data["sparsity"].min(), data["sparsity"].max(), 60)  # pyright: ignore
    if found is not None:
        words = {POWER: "a power: k^{:.1f}", EXPONENTIAL: "exponential: x {:.1f} per bit"}
        for law, ink in INKS.items():
            u, v = found.lines[law]
            told = words[law].format(v if law == POWER else math.exp(v))
            left.plot(k, np.exp(u + v * curve(k, law)), color=ink, linestyle="--" if law == POWER else "-", label=told)
        right.plot(found.bends, found.profile, color=QUIET)
        low, high = (float(np.clip(each, found.bends[0], found.bends[-1])) for each in found.interval)
        right.axvspan(low, high, color=QUIET, alpha=0.15, linewidth=0, label="95 % interval")
        for law, ink in INKS.items():
            right.axvline(law, color=ink, linestyle="--" if law == POWER else "-")
        right.set_ylim(-8, 0.5)
    left.set_yscale("log")
    left.set_xticks(sorted(data["sparsity"].unique()))
    left.set(xlabel="secret bits k", ylabel="sequences until every held-out one is right")
    left.set_title(f"{size.shapes[0]}, n={size.bits}, width {size.width}, no chain", fontsize=10)
    right.set(xlabel="bend: 0 is a power, 1 exponential", ylabel="log-likelihood below its top")
    right.set_title(f"{data.height} members", fontsize=10)
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _find(frames: Frames, size: Complexity) -> str:
    found = bend(frames)
    if found is None:
        return "Solved without the chain at fewer than three k: no law can be fitted."
    said = {
        "power": "a power, not an exponential",
        "exponential": "exponential, not a power",
        "inconclusive": "a power and an exponential fit alike",
        "neither": "neither a power nor an exponential",
    }[found.verdict]
    return (
        f"Bend {found.value:.1f} (95 % interval {found.interval.low:.1f} to {found.interval.high:.1f}; 0 is a power, 1 an "
        f"exponential): {said}. The power is k^{found.lines[POWER][1]:.1f}, the exponential a factor of "
        f"{math.exp(found.lines[EXPONENTIAL][1]):.1f} per bit."
    )


FIGURES = (
    Figure(
        "wen/law", "Without the chain: a power of k or an exponential?",
        "Not in the paper: the members of figure 1a without the chain, the best rate of each secret. The logarithm of the median time is "
        "u + v (k^bend - 1) / bend, a power of k at bend 0, exponential at bend 1, with log-normal scatter. A success lies between two "
        "evaluations (at paper scale 32,768 sequences apart; the thin line, down to a twentieth of that), an unsolved member beyond the budget. "
        f"The 95 % interval of the bend is that of the profile likelihood with Student's cut. {AT_PAPER_SCALE}",
        {"tiny": TINY, "quick": QUICK, "paper": LARGE["1a"]}, measure, _draw, _find, seconds=400, claims=("W21",),
    ),
)  # fmt: skip
