"""The published experiments over secrets: losses and accuracies of four lessons, and when each level is released."""

import numpy as np
import polars as pl

from ...drawing import COLOURS, QUIET, band, new_figure
from ...statistics import wilson
from ...training import Lab
from ..figure import Figure, Frames
from .grids import LARGE, QUICK, Curves
from .published import LESSONS, RATES

TINTS = dict(zip(LESSONS, ("vermillion", "orange", "blue", "green"), strict=True))
PUBLISHED = {
    "direct": "stays at 0.5",
    "free": {8: "solves", 16: "unstable", 32: "unstable"},
    "forced": "solves",
    "consistent": "solves",
}


def _curves(size: Curves, lab: Lab) -> Frames:
    frames, ensembles = [], size.ensembles()
    for lesson, (runs, seeds) in ensembles.items():
        history = lab.train(runs, seeds).history
        frames.append(
            history.frame()
            .rename({"own.loss": "loss", "soft.answer": "accuracy"})
            .with_columns(pl.lit(lesson).alias("lesson"))
        )
    return {"data": pl.concat(frames)}


def _draw_curves(frames: Frames, size: Curves):
    figure = new_figure(9.2, 4.6)
    left, right = figure.subplots(1, 2)
    data = frames["data"]
    for lesson, name in LESSONS.items():
        part = data.filter(pl.col("lesson") == lesson).sort("seed", "step")
        steps = part["step"].to_numpy().reshape(size.seeds, -1)[0]
        for ax, metric in ((left, "loss"), (right, "accuracy")):
            values = part[metric].to_numpy().reshape(size.seeds, -1)
            band(ax, steps, values, name if ax is left else None, TINTS[lesson])
    for level, epoch in _releases(data, size).items():
        for ax in (left, right):
            ax.axvline(epoch, color=COLOURS["green"], linestyle=":", linewidth=1, zorder=0)
        left.text(
            epoch, 1.005, f"level {level}", transform=left.get_xaxis_transform(), fontsize=7, ha="center", color=QUIET
        )
    left.set(xlabel="epoch", ylabel="held-out loss of what is taught", title="Loss", ylim=(0, None))
    right.set(xlabel="epoch", ylabel="share of right answers, own chain", title="Accuracy", ylim=(0.4, 1.02))
    figure.suptitle(
        f"d={size.bits}, k={size.sparsity}, {size.samples:,} samples, full batch, rate {size.rate:g} "
        f"({size.seeds} secrets: median and 10–90 %)",
        x=0.01, ha="left", fontsize=11,
    )  # fmt: skip
    figure.legend(loc="outside lower center", ncols=4)
    return figure


def _releases(data: pl.DataFrame, size: Curves) -> dict[int, float]:
    """Level -> median epoch at which the filter first lets it through, where most secrets got there; the others are later."""
    part = data.filter(pl.col("lesson") == "consistent")
    found = {}
    for level in range(2, size.task().layout.depth + 1):
        first = part.filter(pl.col(f"released.{level}") > 0).group_by("seed").agg(pl.col("step").min())
        if first.height > size.seeds / 2:
            found[level] = float(np.median([*first["step"], *[np.inf] * (size.seeds - first.height)]))
    return found


def _find_curves(frames: Frames, size: Curves) -> str:
    ends = frames["data"].sort("step").group_by("lesson", "seed").agg(pl.col("accuracy").last())
    parts = []
    for lesson, name in LESSONS.items():
        accuracy = ends.filter(pl.col("lesson") == lesson)["accuracy"].to_numpy()
        solved = int((accuracy == 1).sum())
        low, high = wilson(solved, len(accuracy))
        published = PUBLISHED[lesson]
        said = published.get(size.sparsity, "unstated") if isinstance(published, dict) else published
        parts.append(f"{name}: {solved} of {len(accuracy)} (95 % {low:.2f} to {high:.2f}; published: {said})")
    releases = _releases(frames["data"], size)
    staged = (
        ", ".join(f"level {level} at {epoch:.0f}" for level, epoch in releases.items()) or "no level above the first"
    )
    return f"Secrets with every held-out answer right: {'; '.join(parts)}. The filter releases {staged} (median epoch)."


TINY = {8: Curves(16, 8, 4_000, 20, 2.4, seeds=2, chains=200)}

FIGURES = tuple(
    Figure(
        f"kim-suzuki/exp-k{k}", f"Four ways to teach a {k}-parity",
        "One-layer transformer by full-batch gradient descent. Dotted lines: the epoch (median secret) at which the self-consistent chain "
        "releases a level, by a softmax score above 0.4 on the level below. Every lesson is tested alike: the model writes its own chain "
        "from the inputs, unfiltered.",
        {"tiny": TINY[8], "quick": QUICK[f"exp-k{k}"], "paper": LARGE[f"exp-k{k}"]},
        _curves, _draw_curves, _find_curves, seconds=90, claims=("KS-27", "KS-28"),
    )
    for k in RATES
)  # fmt: skip
