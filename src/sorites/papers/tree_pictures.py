"""Pictures that several papers draw: the tree over the secret bits, and an attention mask."""

import dataclasses
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from ..drawing import COLOURS, QUIET
from ..errors import require
from ..tasks import Layout

MOST = 64  # bits that a picture of every position has room for


@dataclasses.dataclass(frozen=True)
class Grid:
    """What is drawn position by position."""

    bits: int = 16
    sparsity: int = 8

    def __post_init__(self):
        require(self.bits <= MOST, f"a picture has room for {MOST} bits: bits={self.bits}; use {MOST} or fewer")


def tree_table(children: np.ndarray, inputs: int) -> pl.DataFrame:
    """node, left, right, counted from 1."""
    return pl.DataFrame(
        {
            "node": np.arange(len(children)) + inputs + 1,
            "left": children[:, 0] + 1,
            "right": children[:, 1] + 1,
        }
    )


def draw_tree(ax: Axes, tree: pl.DataFrame, inputs: int, symbol: str) -> None:
    """Inputs in a row, thoughts above them; secret bits and thoughts are coloured."""
    places = {index: (float(index), 0.0) for index in range(1, inputs + 1)}
    secret: set[int] = set()
    for node, left, right in tree.iter_rows():
        secret |= {child for child in (left, right) if child <= inputs}
        x = (places[left][0] + places[right][0]) / 2
        places[node] = (x, max(places[left][1], places[right][1]) + 1)
        for child in (left, right):
            ax.plot([x, places[child][0]], [places[node][1], places[child][1]], color=QUIET, zorder=1)
    for index, (x, y) in places.items():
        colour = COLOURS["sky"] if index in secret else "#E4E3DE" if index <= inputs else COLOURS["orange"]
        ax.scatter(x, y, s=520, color=colour, zorder=2)
        ax.text(x, y, f"${symbol}_{{{index}}}$", ha="center", va="center", zorder=3)
    ax.set(xticks=[], yticks=[])
    ax.set_xlim(0.3, inputs + 0.7)
    ax.set_ylim(-0.5, max(y for _, y in places.values()) + 0.5)
    ax.grid(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)


def mask_table(mask: np.ndarray) -> dict[str, Any]:
    """query, source (from 1), allowed."""
    query, source = np.indices(mask.shape) + 1
    return {"query": query.ravel(), "source": source.ravel(), "allowed": mask.ravel()}


def draw_mask(ax: Axes, allowed: np.ndarray, layout: Layout) -> None:
    """Blue where a query may look; dotted lines at the ends of levels."""
    ax.pcolormesh(allowed, cmap=ListedColormap(["#F2F1EC", COLOURS["blue"]]), vmin=0, vmax=1, edgecolors="white", linewidth=0.8)  # fmt: skip
    ax.invert_yaxis()
    for end in layout.ends[:-1]:
        ax.axhline(end, color=QUIET, linestyle=":", linewidth=1)
        ax.axvline(end, color=QUIET, linestyle=":", linewidth=1)
    ticks = np.arange(layout.positions)
    ax.set_xticks(ticks + 0.5, ticks + 1, fontsize=7)
    ax.set_yticks(ticks + 0.5, ticks + 1, fontsize=7)
    ax.set(xlabel="source position j", ylabel="query position m", aspect="equal")
    ax.grid(False)
