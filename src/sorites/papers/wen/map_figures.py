"""Figures 3b and 8: where a GPT looks after it has been taught with the chain."""

import numpy as np
import polars as pl
from matplotlib.colors import PowerNorm
from matplotlib.ticker import MaxNLocator

from ...drawing import COLOURS, new_figure
from ..figure import Figure, Frames
from .frames import measure
from .grids import AT_PAPER_SCALE, LARGE, SMALLEST, Maps


def _draw(frames: Frames, size: Maps):
    data, order = frames["data"], frames["secret"]["position"].to_list()
    panels = data.select("layer", "head").unique().sort("layer", "head").rows()
    columns = size.heads if len(panels) > 1 else 1
    rows = len(panels) // columns
    figure = new_figure(6.2 * columns + 0.8, 3.0 * rows + 0.9)
    axes = np.atleast_1d(figure.subplots(rows, columns, sharex=True, sharey=True)).ravel()
    length, image = size.bits + size.sparsity, None
    for ax, (layer, head) in zip(axes, panels, strict=True):
        part, grid = (
            data.filter((pl.col("layer") == layer) & (pl.col("head") == head)),
            np.full((size.sparsity, length), np.nan),
        )
        grid[part["query"].to_numpy() - size.bits - 1, part["source"].to_numpy() - 1] = part["attention"].to_numpy()
        image = ax.pcolormesh(
            np.arange(length + 1) + 0.5,
            np.arange(size.sparsity + 1) + 0.5,
            grid,
            cmap="cividis",
            norm=PowerNorm(0.6, 0, 1),
        )
        ax.scatter(
            order,
            np.arange(1, len(order) + 1),
            s=34,
            marker="s",
            facecolor="none",
            edgecolor=COLOURS["vermillion"],
            linewidth=1.1,
            label="the secret bit that it needs",
        )
        ax.set_facecolor("#F2F1EC")
        ax.set_title(f"layer {layer}, head {head}")
        ax.grid(False)
    for ax in axes[-columns:]:
        ax.set_xlabel("source position")
    for ax in axes[::columns]:
        ax.set_ylabel("thought that is predicted")
    axes[0].invert_yaxis()
    axes[0].yaxis.set_major_locator(MaxNLocator(integer=True))
    assert image is not None
    figure.colorbar(image, ax=list(axes), label="attention", shrink=0.9)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center")
    return figure


def _find(frames: Frames, size: Maps) -> str:
    data, outcome = frames["data"], frames["outcome"].row(0, named=True)
    if data["attention"].is_nan().any():
        return "The member shown diverged; use a smaller rate."
    targets = (
        frames["secret"].with_columns((pl.col("thought") + size.bits).alias("query")).rename({"position": "source"})
    )
    top = data.sort("attention", descending=True).group_by("layer", "head", "query").first()
    hits = top.join(targets, on=["query", "source"]).group_by("layer", "head").len().sort("layer", "head")
    mass = (
        data.join(targets, on=["query", "source"])
        .group_by("layer", "head")
        .agg(pl.col("attention").mean())
        .sort("layer", "head")
    )
    counted = {(layer, head): count for layer, head, count in hits.rows()}
    parts = [
        f"layer {layer} head {head}: largest attention on the secret bit at {counted.get((layer, head), 0)} of {size.sparsity} "
        f"thoughts, mean mass {value:.2f}"
        for layer, head, value in mass.rows()
    ]
    state = f"solved after {outcome['samples']:,} sequences" if outcome["solved"] else "not solved"
    return f"The member shown was {state}; " + "; ".join(parts) + "."


CAPTION = (
    "Attention of the thoughts of one held-out sequence; red squares mark the secret bit that each thought adds. The released "
    "code and the text say (n=40, k=20); the caption of figure 8 and Appendix C.2 print other numbers. "
    + AT_PAPER_SCALE
)
FIGURES = (
    Figure(
        "wen/3b", "Attention of one layer, one head", CAPTION,
        {"tiny": Maps(bits=14, sparsity=2, budget=10_000, seeds=4, **SMALLEST),
         "quick": Maps(heads=1, seeds=2), "paper": LARGE["3b"]}, measure, _draw, _find, seconds=20, claims=("W22",),
    ),
    Figure(
        "wen/8", "Attention of two layers, two heads", CAPTION,
        {"tiny": Maps(bits=14, sparsity=2, budget=10_000, layers=2, heads=2, seeds=1, **SMALLEST),
         "quick": Maps(layers=2, heads=2, seeds=2), "paper": LARGE["8"]}, measure, _draw, _find, seconds=60, claims=("W22",),
    ),
)  # fmt: skip
