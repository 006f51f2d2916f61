"""Beyond the paper: three gate designs under four ways of teaching."""

import numpy as np
import polars as pl

from ...drawing import COLOURS, new_figure
from ...statistics import wilson
from ...tasks import Parity
from ...training import Lab
from ..figure import Figure, Frames
from .grids import LARGE, LESSONS, VARIANTS, Variants

TINTS = ("blue", "orange", "purple", "green")


def _variants(size: Variants, lab: Lab) -> Frames:
    rows, depth = [], Parity(size.bits, size.sparsity).layout.depth
    names = [(model, lesson) for model in VARIANTS for lesson in LESSONS]
    for (model, curriculum), (runs, seeds) in zip(names, size.ensembles().values(), strict=True):
        history = lab.train(runs, seeds).history
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
    figure = new_figure(9.4, 4.4)
    left, right = figure.subplots(1, 2, sharey=True)
    data = frames["data"]
    width = 0.8 / len(LESSONS)
    for place, (lesson, colour) in enumerate(zip(LESSONS, TINTS, strict=True)):
        y = np.arange(len(VARIANTS)) + (place - 1.5) * width
        parts = [data.filter((pl.col("model") == m) & (pl.col("curriculum") == lesson)) for m in VARIANTS]
        counts = [int((part["one pass"] == 1).sum()) for part in parts]
        rates = np.array(counts) / size.seeds
        bounds = np.array([wilson(count, size.seeds) for count in counts]).T
        left.barh(y, rates, width * 0.9, color=COLOURS[colour], label=f"{LESSONS[lesson]} ({parts[0]['stages'][0]} stage"
                  + ("s)" if parts[0]["stages"][0] > 1 else ")"))  # fmt: skip
        left.errorbar(rates, y, xerr=np.abs(bounds - rates), fmt="none", ecolor="black", elinewidth=1, capsize=2)
        written = [int((part["written out"] == 1).sum()) / size.seeds for part in parts]
        left.scatter(written, y, marker="D", s=22, color="white", edgecolor="black", zorder=4,
                     label="written out level by level" if place == 0 else None)  # fmt: skip
        for row, part in zip(y, parts, strict=True):
            found = part["chains to solve"].drop_nulls().to_numpy()
            if len(found):
                right.scatter(found, np.full(len(found), row), s=14, color=COLOURS[colour], alpha=0.8)
                right.plot([np.median(found)] * 2, [row - width / 2, row + width / 2], color="black")
            else:
                right.text(size.steps * size.batch, row, "never", ha="right", va="center", fontsize=8)
    left.set_yticks(np.arange(len(VARIANTS)), list(VARIANTS.values()))
    left.invert_yaxis()
    left.set(xlabel=f"share of {size.seeds} seeds solved at the end (95 % Wilson)", xlim=(0, 1.02))
    left.set_title("Answer in one forward pass")
    right.set_xscale("log")
    right.set(xlabel="chains until first solved in one pass (bar: median)", xlim=(size.batch * size.every / 2, None))
    right.set_title("Cost")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


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
        "Three gate designs under four ways of teaching, the same number of steps in all. Bars: share of seeds that answer "
        "every held-out chain in one pass with all thoughts padded; diamonds: when the chain is written out level by level "
        "(log2 k passes). Dots: chains until first solved. The paper's gates never read a shown thought (LI-20), so there the "
        "curricula differ only in labels and readout.",
        {"tiny": Variants(8, 4, 64, 0.1, 60, 10, 2), "quick": Variants(), "paper": LARGE["variants"]},
        _variants, _draw_variants, _find_variants, seconds=120, claims=("LI-20", "LI-24"),
    ),
)  # fmt: skip
