"""A figure measures tables, and draws from the tables alone."""

import numpy as np
import polars as pl

from sorites import Figure, Lab
from sorites.drawing import COLOURS, new_figure

from .experiment import Chains, steps_needed


def _measure(size: Chains, lab: Lab) -> dict[str, pl.DataFrame]:
    rows = [
        {"sparsity": sparsity, "seed": seed, "steps": float(steps)}
        for sparsity, each in steps_needed(size, lab).items()
        for seed, steps in enumerate(each)
    ]
    return {"data": pl.DataFrame(rows)}


def _draw(frames: dict[str, pl.DataFrame], size: Chains):
    figure = new_figure(5.6, 3.8)
    ax, data = figure.subplots(), frames["data"]
    middle = (
        data.filter(pl.col("steps").is_not_nan()).group_by("sparsity").agg(pl.col("steps").median()).sort("sparsity")
    )
    ax.plot(data["sparsity"], data["steps"], "o", color=COLOURS["sky"], alpha=0.6, label="a member")
    ax.plot(middle["sparsity"], middle["steps"], "-D", color=COLOURS["blue"], label=f"median of {size.seeds} seeds")
    ax.set_xscale("log", base=2)
    ax.set_xticks(size.sparsities, [str(each) for each in size.sparsities])
    ax.set_ylim(0, 1.1 * float(data["steps"].max()))  # pyright: ignore
    ax.set(xlabel="secret bits k", ylabel="steps until every held-out answer is right")
    ax.set_title(f"Teacher forcing on serial parity, {size.bits} bits")
    ax.legend()
    return figure


def _find(frames: dict[str, pl.DataFrame], size: Chains) -> str:
    steps = frames["data"]["steps"].to_numpy()
    return f"{int(np.isfinite(steps).sum())} of {len(steps)} members learned it."


FIGURES = (
    Figure(
        id="sixth/steps",
        title="Steps that teacher forcing needs",
        caption="Serial parity with the positional transformer; every point is one member.",
        sizes={"tiny": Chains(8, (2, 4), 60, 4), "quick": Chains()},
        measure=_measure,
        draw=_draw,
        find=_find,
        seconds=10,
        claims=("S-1",),
    ),
)
