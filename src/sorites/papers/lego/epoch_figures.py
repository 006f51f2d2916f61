"""The paper's 300 epochs over a fixed set, beside as many presentations of fresh sentences (Figure 1a's training)."""

import dataclasses

import polars as pl

from ...drawing import QUIET, new_figure
from ...training import Lab
from ..figure import Figure, Frames
from .grids import LARGE, SMALL, TINY, Study, ensemble
from .length_figures import TINTS, draw_axes, draw_lines

EPOCHS = 300
NAMES = {"fixed": f"{EPOCHS} epochs over a fixed set", "fresh": "as many fresh sentences"}


def _epochs(size: Study, steps: int, checks: int, **changes) -> Study:
    """Of the pair alone, by both ways; the set is as large as the steps make it."""
    pool = steps * size.batch // EPOCHS
    assert pool * EPOCHS == steps * size.batch
    return dataclasses.replace(
        size, actions=size.pair, ways=("fixed", "fresh"), steps=steps, checks=checks, pool=pool, **changes
    )


def _measure(size: Study, lab: Lab) -> Frames:
    rows = []
    for way in size.ways:
        _, found = ensemble(size, way, lab)
        for action in size.pair:
            for seed, member in enumerate(size.rows(action)):
                for check, step in enumerate(found["step"]):
                    rows += [
                        {"way": way, "action": action, "seed": seed, "step": int(step), "length": length,
                         "right": float(right), "loss": float(found["loss"][check, member])}
                        for length, right in zip(size.lengths, found["values"][check, member], strict=True)
                    ]  # fmt: skip
    return {"data": pl.DataFrame(rows)}


def _draw(frames: Frames, size: Study):
    figure = new_figure(9.4, 3.9)
    axes = figure.subplots(1, 2, sharey=True)
    data = frames["data"].filter(pl.col("step") == pl.col("step").max())
    for ax, way in zip(axes, size.ways, strict=True):
        for action, colour in zip(size.pair, TINTS, strict=False):
            part = data.filter((pl.col("way") == way) & (pl.col("action") == action))
            draw_lines(ax, part, "length", action, colour)
        ax.axvline(size.length, color=QUIET, linestyle="--", linewidth=1)
        draw_axes(ax, f"{NAMES[way]}" + (f" of {size.pool:,}" if way == "fixed" else ""))
        ax.legend(loc="lower left")
    axes[0].set_ylabel("sentences with every value right")
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
        parts.append(f"{NAMES[way]}: {'; '.join(ends)}")
    return f"All values right at L = {', '.join(map(str, size.lengths))}. " + ". ".join(parts) + "."


FIGURES = (
    Figure(
        "lego/epochs", "300 epochs over a fixed set, and fresh data",
        f"The decoder trained at L = {LARGE.length} (dashed) for the {EPOCHS} epochs that the paper states, over a set whose size it does not state, "
        "and for as many presentations of sentences that never repeat; points are seeds. The output map of attention starts as the identity.",
        {"tiny": _epochs(TINY, 600, 2), "quick": _epochs(SMALL, 3_000, 3), "paper": _epochs(LARGE, 46_875, 5, seeds=4)},
        _measure, _draw, _find, seconds=60,
    ),
)  # fmt: skip
