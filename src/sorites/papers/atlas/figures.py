"""The atlas drawn: does a GPT internalise, what does reward buy a decoder, and the matrix of cells."""

from typing import Any

import numpy as np

from ...drawing import COLOURS, QUIET, new_figure
from ...training import Lab
from ..figure import Figure, Frames
from .findings import find_cells, find_icot, find_rl
from .settings import SIZES, Internalising, Matrix, Rewarded
from .tables import frames_of, summary
from .trials import joined, tried


def measure(size: Any, lab: Lab) -> Frames:
    return frames_of(joined([tried(arm, size.tuning, size.seeds, lab) for arm in size.arms()]))


def _bars(frames: Frames, title: str, group: int | None):
    """Success with its interval, and the samples that it took, arm by arm."""
    rows = summary(frames)
    figure = new_figure(8.4, 1.3 + 0.38 * len(rows))
    left, right = figure.subplots(1, 2, sharey=True)
    colours = list(COLOURS.values())
    firsts = list(dict.fromkeys(row["labels"][group] for row in rows)) if group is not None else [None]
    for place, row in enumerate(reversed(rows)):
        colour = colours[firsts.index(row["labels"][group]) if group is not None else 0]
        left.barh(place, row["solved"] / row["members"], color=colour, alpha=0.75, height=0.6)
        left.plot([row["low"], row["high"]], [place, place], color="black", linewidth=1.2)
        left.text(1.02, place, f"{row['solved']}/{row['members']}", va="center", fontsize=8)
        middle = row["median"]
        high = middle.interval.high
        right.plot(middle.bound, place, marker="o" if np.isfinite(middle.value) else ">", color=colour,
                   fillstyle="full" if np.isfinite(middle.value) else "none")  # fmt: skip
        if np.isfinite(high) and middle.interval.low > 0:
            right.plot([middle.interval.low, high], [place, place], color=colour)
    words = [", ".join(row["labels"]) + f" (rate {row['rate']:g})" for row in reversed(rows)]
    left.set_yticks(range(len(rows)), words)
    left.set(xlim=(0, 1.15), xticks=(0, 0.5, 1), xlabel="share at the goal (Wilson 95 %)")
    right.set(xlabel="chains to the goal, median (95 %)", xscale="log")
    right.set_title("open mark: half did not get there", fontsize=9)
    figure.suptitle(title)
    return figure


def _draw_icot(frames: Frames, size: Internalising):
    return _bars(frames, f"GPT, {size.layers} layers, parity of {size.sparsity} among {size.bits}", None)


def _draw_rl(frames: Frames, size: Rewarded):
    return _bars(frames, f"LEGO on {size.action}, length {size.length}", 1)


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


FIGURES = (
    Figure(
        "atlas/gpt-icot", "Does a GPT internalise a chain?",
        "Parity on a GPT, every arm tuned over the same rates on seeds apart, in equal budgets: no thought positions (absent), padded ones, ICoT, "
        "Log-ICoT, and teacher forcing followed by Log-ICoT. The goal is every held-out answer right in one pass with all thoughts padded.",
        SIZES["gpt-icot"], measure, _draw_icot, find_icot, seconds=900, apart=True,
    ),
    Figure(
        "atlas/lego-rl", "What reward buys LEGO's decoder",
        "Teacher forcing, self-training, process and outcome reward, from scratch and after a short teacher forcing, tuned over the same rates on "
        "seeds apart, in equal budgets. The goal is every answer right after the model's own greedy clauses.",
        SIZES["lego-rl"], measure, _draw_rl, find_rl, seconds=900, apart=True,
    ),
    Figure(
        "atlas/cells", "Which teaching works where",
        "Task and model by supervision: members at the goal of each cell, at the best of the same rates (tuned on seeds apart). A dash is a cell that "
        "is refused. The controls: shuffled labels; the answer alone (direct), which has no curriculum, and whose padded thoughts are pause tokens.",
        SIZES["cells"], measure, _draw_cells, find_cells, seconds=5000, apart=True,
    ),
)  # fmt: skip
