"""Beyond the paper: three gate designs under four ways of teaching."""

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from ...drawing import COLOURS, QUIET, new_figure
from ...statistics import wilson
from ...tasks import Parity
from ...training import Lab
from ..figure import Figure, Frames
from .grids import LARGE, LESSONS, VARIANTS, Variants

TINTS = ("blue", "orange", "purple", "green")


def _variants(size: Variants, lab: Lab) -> Frames:
    rows, depth = [], Parity(size.bits, size.sparsity).layout.depth
    names, ensembles = [(model, lesson) for model in VARIANTS for lesson in LESSONS], size.ensembles().values()
    histories = [lab.train(runs, seeds).history for runs, seeds in ensembles]
    for (model, curriculum), (runs, seeds), history in zip(names, ensembles, histories, strict=True):
        for seed in seeds:
            solved = int(history.solved_at[seed])
            rows.append(
                {
                    "model": model,
                    "curriculum": curriculum,
                    "stages": len(runs[0].stages),
                    "seed": seed,
                    "one pass": float(history.last("padded.answer")[seed]),
                    "written out": float(history.last("rolled.answer")[seed]),
                    "passes written out": depth,
                    "chains to solve": None if solved < 0 else solved * size.batch,
                    "chains": int(history.samples[seed]),
                }
            )
    return {"data": pl.DataFrame(rows, infer_schema_length=None)}


def _draw_variants(frames: Frames, size: Variants):
    """A row for each design and lesson: what is solved, and what it cost."""
    figure = new_figure(9.6, 5.6)
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=[1.25, 1])
    rows, names = [], []
    for group, (model, words) in enumerate(VARIANTS.items()):
        first = group * (len(LESSONS) + 1.4)
        left.text(
            -0.02, first - 0.85, words, transform=left.get_yaxis_transform(), ha="right", va="center", weight="bold"
        )
        for place, (lesson, colour) in enumerate(zip(LESSONS, TINTS, strict=True)):
            part = frames["data"].filter((pl.col("model") == model) & (pl.col("curriculum") == lesson))
            stages = int(part["stages"][0])
            rows.append(first + place)
            names.append(f"{LESSONS[lesson]} ({stages} stage{'s' if stages > 1 else ''})")
            _draw_row(left, right, part, size, first + place, COLOURS[colour])
    left.set_yticks(rows, names)
    left.set_ylim(rows[-1] + 0.7, -1.5)
    left.set(xlabel=f"share of {size.seeds} seeds solved at the end", xlim=(-0.03, 1.03), title="What is solved")
    right.set_xscale("log")
    right.xaxis.set_minor_formatter(NullFormatter())  # over a short range they would collide
    most = max(float(frames["data"]["chains"].max()), size.steps * size.batch)  # pyright: ignore
    right.set(
        xlabel="chains until first solved in one pass",
        xlim=(size.batch * size.every / 2, 2 * most),
        title="What it cost",
    )
    for marker, fill, label in (("o", QUIET, "in one forward pass, all thoughts padded (95 % Wilson interval)"),
                                ("D", "white", "chain written out level by level"), ("|", QUIET, "median cost")):  # fmt: skip
        left.plot([], [], marker, color=QUIET, markerfacecolor=fill, markersize=9 if marker == "|" else 6, label=label)
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _draw_row(left: Axes, right: Axes, part: pl.DataFrame, size: Variants, y: float, ink: str) -> None:
    count = int((part["one pass"] == 1).sum())
    low, high = wilson(count, size.seeds)
    left.plot([low, high], [y, y], color=ink, linewidth=4, alpha=0.3, solid_capstyle="butt")
    left.plot(count / size.seeds, y, "o", color=ink, markersize=7)
    written = int((part["written out"] == 1).sum()) / size.seeds
    left.plot(written, y + 0.3, "D", color=QUIET, markerfacecolor="white", markersize=4.5)
    found = part["chains to solve"].drop_nulls().to_numpy()
    if len(found):
        right.plot(found, np.full(len(found), y), "o", color=ink, markersize=4, alpha=0.6)
        right.plot(np.median(found), y, "|", color=ink, markersize=14, markeredgewidth=2)
    else:
        right.text(
            0.98, y, "never", transform=right.get_yaxis_transform(), ha="right", va="center", fontsize=8, color=QUIET
        )


def _find_variants(frames: Frames, size: Variants) -> str:
    data = frames["data"].with_columns((pl.col("one pass") == 1).alias("right"))
    counts = data.group_by("model", "curriculum", maintain_order=True).agg(
        pl.col("right").sum(),
        (pl.col("written out") == 1).sum().alias("written"),
        pl.col("chains to solve").median().alias("cost"),
    )
    texts = []
    for model, words in VARIANTS.items():
        parts = []
        for row in counts.filter(pl.col("model") == model).iter_rows(named=True):
            cost = "" if row["cost"] is None else f", {row['cost']:,.0f} chains"
            written = "" if row["written"] == row["right"] else f" (written out {row['written']}/{size.seeds})"
            parts.append(f"{LESSONS[row['curriculum']]} {row['right']}/{size.seeds}{cost}{written}")
        texts.append(f"{words[0].upper()}{words[1:]}: {'; '.join(parts)}")
    return ". ".join(texts) + "."


FIGURES = (
    Figure(
        "log-icot/variants", "Which teaching works on which gates",
        "Three gate designs under four ways of teaching, the same number of steps in all. Left: share of seeds that answer "
        "every held-out chain in one pass with all thoughts padded (dots, bars are 95 % Wilson intervals), and when the chain is "
        "written out level by level (diamonds, log2 k passes). Right: chains until first solved in one pass, a dot for each seed. The paper's gates never read a shown thought (LI-20), so there the "
        "curricula differ only in labels and readout.",
        {"tiny": Variants(8, 4, 64, 0.1, 60, 10, 2), "quick": Variants(), "paper": LARGE["variants"]},
        _variants, _draw_variants, _find_variants, seconds=120, claims=("LI-20", "LI-24"),
    ),
)  # fmt: skip
