"""The atlas drawn: does a GPT internalise, what does reward buy a decoder, and the matrix of cells."""

from typing import Any

import numpy as np
import polars as pl

from ...drawing import COLOURS, QUIET, new_figure
from ...statistics import median_time, wilson
from ...training import Lab
from ..figure import Figure, Frames
from .settings import SIZES, Internalising, Matrix, Rewarded
from .trials import Columns, joined, tried


def measure(size: Any, lab: Lab) -> Frames:
    return frames_of(joined([tried(arm, size.tuning, size.seeds, lab) for arm in size.arms()]))


def frames_of(columns: Columns) -> Frames:
    """A row per member, and one per point of its curve; a refused cell is a row without a seed."""
    frame = pl.DataFrame({name: values.tolist() for name, values in columns.items()}, infer_schema_length=None)
    labels = [name for name in frame.columns if name.startswith("label") and name != "labels"]
    curves = frame.select(*labels, "seed", "curve_steps", "curve").explode("curve_steps", "curve")
    curves = curves.filter(pl.col("curve").is_not_nan()).with_columns(pl.col("curve_steps").cast(pl.Int32))
    missing = [
        pl.when(pl.col(name) >= 0).then(name)
        for name in ("seed", "solved_at", "samples", "labels", "thoughts", "passes")
    ]
    data = frame.drop("curve_steps", "curve").with_columns(*missing, pl.col("rate", "flops").fill_nan(None))
    return {
        "data": data,
        "curves": curves.with_columns(pl.col("curve").cast(pl.Float32), pl.col("seed").cast(pl.Int32)),
    }


def summary(frames: Frames, price: str = "samples") -> list[dict[str, Any]]:
    """Per arm: success with Wilson's interval, and the censored median of a price with the sign test's."""
    data, found = frames["data"], []
    names = [name for name in data.columns if name.startswith("label") and name != "labels"]
    for key, group in data.group_by(names, maintain_order=True):
        row: dict[str, Any] = {"labels": tuple(key), "why": group["why"][0], "rate": group["rate"][0]}
        if group["seed"][0] is None:
            found.append(row | {"members": 0})
            continue
        solved = group["solved"].to_numpy().astype(bool)
        times = group[price].cast(float).fill_null(0.0).to_numpy()
        low, high = wilson(int(solved.sum()), len(solved))
        row |= {"members": len(solved), "solved": int(solved.sum()), "low": low, "high": high}
        row |= {"median": median_time(times, solved), "passes": group["passes"][0]}
        found.append(row)
    return found


def _bars(frames: Frames, title: str, group: int | None):
    """Success with its interval, and the samples that it took, arm by arm."""
    rows = summary(frames)
    figure = new_figure(8.4, 0.9 + 0.38 * len(rows))
    left, right = figure.subplots(1, 2, sharey=True)
    colours = list(COLOURS.values())
    firsts = list(dict.fromkeys(row["labels"][group] for row in rows)) if group is not None else [None]
    for place, row in enumerate(reversed(rows)):
        colour = colours[firsts.index(row["labels"][group]) if group is not None else 0]
        left.barh(place, row["solved"] / row["members"], color=colour, alpha=0.75, height=0.6)
        left.plot([row["low"], row["high"]], [place, place], color="black", linewidth=1.2)
        middle = row["median"]
        high = middle.interval.high
        right.plot(middle.bound, place, marker="o" if np.isfinite(middle.value) else ">", color=colour,
                   fillstyle="full" if np.isfinite(middle.value) else "none")  # fmt: skip
        if np.isfinite(high) and middle.interval.low > 0:
            right.plot([middle.interval.low, high], [place, place], color=colour)
    words = [", ".join(row["labels"]) + f" (rate {row['rate']:g})" for row in reversed(rows)]
    left.set_yticks(range(len(rows)), words)
    left.set(xlim=(0, 1), xlabel="share of members at the goal, 95 %", title=title)
    right.set(xlabel="chains to the goal, median (open: not reached by half)", xscale="log")
    return figure


def _draw_icot(frames: Frames, size: Internalising):
    return _bars(frames, f"GPT, {size.layers} layers, parity of {size.sparsity} among {size.bits}", None)


def _draw_rl(frames: Frames, size: Rewarded):
    return _bars(frames, f"LEGO on {size.action}, length {size.length}", 1)


def _told(row: dict[str, Any]) -> str:
    middle = row["median"].value
    cost = f", median {middle:,.0f} chains" if np.isfinite(middle) else ""
    return (
        f"{', '.join(row['labels'])} {row['solved']} of {row['members']} ({row['low']:.2f} to {row['high']:.2f}{cost})"
    )


def _find_icot(frames: Frames, size: Internalising) -> str:
    rows = {row["labels"][0]: row for row in summary(frames)}
    said = f"One pass, at the goal (95 %): {'; '.join(map(_told, rows.values()))}"
    if not {"log-icot", "padded"} <= set(rows):
        return f"{said}."
    staged, answer = rows["log-icot"], rows["padded"]
    stages = int(np.log2(size.sparsity))
    if staged["low"] > answer["high"]:
        verdict = f"in log2 k = {stages} stages a GPT internalises what the answer alone does not teach it"
    elif staged["low"] > 0.5:
        verdict = f"in log2 k = {stages} stages a GPT internalises the chain, and the answer alone may do as well"
    elif staged["high"] < 0.5:
        verdict = f"in log2 k = {stages} stages most members of a GPT do not internalise the chain within the budget"
    else:
        verdict = (
            f"whether a GPT internalises in log2 k = {stages} stages cannot be told from {staged['members']} members"
        )
    return f"{said}: {verdict}."


def _find_rl(frames: Frames, size: Rewarded) -> str:
    return f"Own answers at the goal (95 %): {'; '.join(map(_told, summary(frames)))}."


def _draw_cells(frames: Frames, size: Matrix):
    """Rows are task and model, columns supervisions: success, and what it took of three prices. Every field says how many
    of its members reached the goal; a dash is a refusal, a field without colour a median beyond the budget."""
    rows = summary(frames)
    across = list(dict.fromkeys(row["labels"][2] for row in rows))
    down = list(dict.fromkeys(row["labels"][:2] for row in rows if row["members"]))
    figure = new_figure(2 * (1.8 + 0.55 * len(across)), 2 * (1.7 + 0.34 * len(down)))
    panels: Any = figure.subplots(2, 2, sharex=True, sharey=True)
    for axes, price in zip(panels.flat, ("solved", "samples", "labels", "flops"), strict=True):
        _panel(axes, summary(frames, "samples" if price == "solved" else price), price, across, down)
    for axes in panels[1]:
        axes.set_xticks(range(len(across)), across, rotation=35, ha="right")
        axes.set(xlabel="supervision")
    for axes in panels[:, 0]:
        axes.set_yticks(range(len(down)), [f"{task} · {model}" for task, model in down])
    return figure


def _panel(axes: Any, rows: list[dict[str, Any]], price: str, across: list[str], down: list[tuple[str, ...]]) -> None:
    values = np.full((len(down), len(across)), np.nan)
    for row in rows:
        if row["labels"][:2] not in down:  # a model that reads no chain of the task
            continue
        place, text = (down.index(row["labels"][:2]), across.index(row["labels"][2])), "–"
        if row["members"]:
            middle, text = row["median"].value, f"{row['solved']}/{row['members']}"
            cost = np.log10(max(middle, 1)) if np.isfinite(middle) else np.nan
            values[place] = row["solved"] / row["members"] if price == "solved" else cost
        axes.text(place[1], place[0], text, ha="center", va="center", fontsize=6, color="black" if row["members"] else QUIET,
                  bbox={"facecolor": "white", "alpha": 0.65, "edgecolor": "none", "pad": 0.6})  # fmt: skip
    limits = (0.0, 1.0) if price == "solved" or np.isnan(values).all() else (None, None)
    image = axes.imshow(values, aspect="auto", vmin=limits[0], vmax=limits[1])
    axes.grid(False)
    axes.set_title("share at the goal" if price == "solved" else f"{price} to the goal, median, log10")
    axes.figure.colorbar(image, ax=axes)


def _find_cells(frames: Frames, size: Matrix) -> str:
    rows = [row for row in summary(frames) if row["members"]]
    works, never = (sum(test) for test in ([row["low"] > 0.5 for row in rows], [row["solved"] == 0 for row in rows]))
    least = min(
        (row for row in rows if np.isfinite(row["median"].value)), key=lambda row: row["median"].value, default=None
    )
    cheap = "" if least is None else f"; fewest chains: {_told(least)}"
    control = [row for row in rows if row["labels"][2] == "shuffled labels"]
    shuffled = (
        f"; on shuffled labels {sum(row['solved'] for row in control)} of {sum(row['members'] for row in control)} members"
        if control
        else ""
    )
    return f"Of {len(rows)} cells that train, {works} bring more than half of the members to the goal (95 %), {never} none{cheap}{shuffled}."


FIGURES = (
    Figure(
        "atlas/gpt-icot", "Does a GPT internalise a chain?",
        "Parity on a GPT, every arm tuned over the same rates on seeds apart, in equal budgets: no thought positions (absent), padded ones, ICoT, "
        "Log-ICoT, and teacher forcing followed by Log-ICoT. The goal is every held-out answer right in one pass with all thoughts padded.",
        SIZES["gpt-icot"], measure, _draw_icot, _find_icot, seconds=900, apart=True,
    ),
    Figure(
        "atlas/lego-rl", "What reward buys LEGO's decoder",
        "Teacher forcing, self-training, process and outcome reward, from scratch and after a short teacher forcing, tuned over the same rates on "
        "seeds apart, in equal budgets. The goal is every answer right after the model's own greedy clauses.",
        SIZES["lego-rl"], measure, _draw_rl, _find_rl, seconds=900, apart=True,
    ),
    Figure(
        "atlas/cells", "Which teaching works where",
        "Task and model by supervision: members at the goal of each cell, at the best of the same rates (tuned on seeds apart). A dash is a cell that "
        "is refused. The controls: shuffled labels; the answer alone (direct), which has no curriculum, and whose padded thoughts are pause tokens.",
        SIZES["cells"], measure, _draw_cells, _find_cells, seconds=5000, apart=True,
    ),
)  # fmt: skip
