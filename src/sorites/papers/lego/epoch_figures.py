"""The paper's 300 epochs over a fixed set, beside as many presentations of fresh sentences (Figure 1a's training)."""

import polars as pl

from ...drawing import new_figure
from ..figure import Figure, Frames
from .grids import EPOCHS, LARGE, SMALL, TINY, WHOLE, Study, over_epochs
from .length_figures import PAIR, draw_axes, draw_lines, trained_here
from .separation_figures import measure_ways

NAMES = {"fixed": f"{EPOCHS} epochs over a fixed set", "fresh": "as many fresh sentences"}


def _draw(frames: Frames, size: Study):
    figure = new_figure(9.4, 3.9)
    axes = figure.subplots(1, 2, sharey=True)
    data = frames["data"].filter(pl.col("step") == pl.col("step").max())
    for ax, way in zip(axes, size.ways, strict=True):
        for action, look in zip(size.pair, PAIR, strict=True):
            part = data.filter((pl.col("way") == way) & (pl.col("action") == action))
            draw_lines(ax, part, action, *look)
        seeds = data["seed"].n_unique()
        name = (
            NAMES[way] + (f" of {size.pool:,}" if way == "fixed" else "") + f", {seeds} seed{'s' if seeds > 1 else ''}"
        )
        draw_axes(ax, name, (size.length,), size.lengths)
        trained_here(ax, size.length)
    axes[0].set_ylabel("share with every value right")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _find(frames: Frames, size: Study) -> str:
    data = frames["data"].filter(pl.col("step") == pl.col("step").max())
    parts = []
    for way in size.ways:
        ends = []
        for action in size.pair:
            part = data.filter((pl.col("way") == way) & (pl.col("action") == action))
            by = [f"{part.filter(pl.col('length') == each)['right'].mean():.2f}" for each in size.lengths]
            ends.append(f"{action} {', '.join(by)} (loss {part['loss'].median():.0e})")
        parts.append(f"{NAMES[way].capitalize()}: {'; '.join(ends)}")
    return f"All values right at L = {', '.join(map(str, size.lengths))}. " + ". ".join(parts) + "."


FIGURES = (
    Figure(
        "lego/epochs", "300 epochs over a fixed set, and fresh data",
        f"The decoder trained at L = {LARGE.length} (dashed) for the {EPOCHS} epochs that the paper states, over a set whose size it does not state, "
        "and for as many presentations of sentences that never repeat; points are seeds. The output map of attention starts as the identity.",
        {"tiny": over_epochs(TINY, 600, 2), "quick": over_epochs(SMALL, 3_000, 3), "paper": WHOLE},
        measure_ways, _draw, _find, seconds=60, claims=("L16",),
    ),
)  # fmt: skip
