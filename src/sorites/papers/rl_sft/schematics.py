"""Figures 2, 3, 4 and 7, drawn from the real tasks, masks and model."""

import dataclasses

import jax
import numpy as np
import polars as pl
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.patches import Patch

from ...drawing import COLOURS, QUIET, new_figure
from ...models.masks import causal, inputs_and_previous, previous_level
from ...supervision import OwnPrefix
from ...tasks import Boolean
from ...training import Lab
from ..figure import Figure, Frames
from .exact import pretrained, with_weights

IDLE = "#E4E3DE"


@dataclasses.dataclass(frozen=True)
class Chained:
    bits: int = 12
    sparsity: int = 8
    decomposition: str = "tree"

    def task(self) -> Boolean:
        return Boolean(self.bits, self.sparsity, "parity", self.decomposition)  # pyright: ignore


def _edges(task: Boolean) -> pl.DataFrame:
    children = np.asarray(task.children(task.draw(jax.random.key(3)))) + 1
    nodes = np.arange(task.layout.thoughts) + task.bits + 1
    return pl.DataFrame(
        {"node": nodes, "left": children[:, 0], "right": children[:, 1], "level": list(task.layout.levels)}
    )


def _masks(task: Boolean) -> pl.DataFrame:
    kinds = {"causal": causal(task.layout)}
    chosen = previous_level if task.decomposition == "tree" else inputs_and_previous
    kinds["pretrained"] = chosen(task.layout)
    rows = []
    for name, mask in kinds.items():
        query, source = np.indices(mask.shape) + 1
        rows.append(
            pl.DataFrame({"mask": name, "query": query.ravel(), "source": source.ravel(), "allowed": mask.ravel()})
        )
    return pl.concat(rows)


def _structure(size: Chained, lab: Lab) -> Frames:
    return {"data": _masks(size.task()), "edges": _edges(size.task())}


def _draw_chain(ax, edges: pl.DataFrame, size: Chained) -> None:
    places = {index: (float(index), 0.0) for index in range(1, size.bits + 1)}
    used = set()
    for row in edges.iter_rows(named=True):
        left, right, node = row["left"], row["right"], row["node"]
        used |= {child for child in (left, right) if child <= size.bits}
        x = (places[left][0] + places[right][0]) / 2
        if size.decomposition == "serial":
            x = places[right][0]
        places[node] = (x, places[left][1] + 1 if size.decomposition == "serial" else float(row["level"]))
        for child in (left, right):
            ax.plot([x, places[child][0]], [places[node][1], places[child][1]], color=QUIET, linewidth=1.2, zorder=1)
    for index, (x, y) in places.items():
        thought = index > size.bits
        colour = COLOURS["green"] if thought else COLOURS["sky"] if index in used else IDLE
        ax.scatter(x, y, s=330, color=colour, zorder=2)
        name = f"$y_{{{index - size.bits}}}$" if thought else f"$x_{{{index}}}$"
        ax.text(x, y, name, ha="center", va="center", fontsize=8, zorder=3)
    top = max(y for _, y in places.values())
    ax.set_xlim(0.2, size.bits + 0.8)
    ax.set_ylim(-0.6, top + 0.6)
    ax.set_yticks(np.arange(int(top) + 1), ["input", *(f"step {t}" for t in range(1, int(top) + 1))])
    ax.set_xticks([])
    ax.grid(False)
    ax.set_xlabel("secret bits blue, idle bits grey, thoughts green")


def _draw_mask(ax, data: pl.DataFrame, name: str, size: Chained, title: str) -> None:
    layout = size.task().layout
    grid = data.filter(pl.col("mask") == name)["allowed"].to_numpy().reshape(layout.positions, -1)[layout.inputs :]
    ax.pcolormesh(grid, cmap=ListedColormap([IDLE, COLOURS["blue"]]), edgecolors="white", linewidth=0.6, vmin=0, vmax=1)
    for end in layout.ends[:-1]:
        ax.axvline(end, color="black", linestyle=":", linewidth=0.9)
    ax.invert_yaxis()
    ax.set_xticks(np.arange(layout.positions)[::2] + 0.5, (np.arange(layout.positions) + 1)[::2], fontsize=7)
    ax.set_yticks(np.arange(layout.thoughts) + 0.5, np.arange(layout.thoughts) + 1, fontsize=7)
    ax.set(title=title, xlabel="source position", ylabel="thought")
    ax.grid(False)


def _draw_structure(frames: Frames, size: Chained):
    figure = new_figure(9.0, 6.6)
    top, bottom = np.asarray(figure.subfigures(2, 1, height_ratios=[1.25, 1]))
    ax = top.subplots()
    _draw_chain(ax, frames["edges"], size)
    kind = "tree" if size.decomposition == "tree" else "serial chain"
    ax.set_title(f"(a) {size.sparsity} secret bits of {size.bits}: the {kind}")
    left, right = bottom.subplots(1, 2)
    _draw_mask(left, frames["data"], "causal", size, "(b) causal mask")
    _draw_mask(right, frames["data"], "pretrained", size, "(b) causal and “pretrained” mask")
    bottom.legend(
        handles=[Patch(color=COLOURS["blue"], label="attends"), Patch(color=IDLE, label="masked")],
        loc="outside lower center", ncols=2,
    )  # fmt: skip
    return figure


def _draw_only_chain(frames: Frames, size: Chained):
    figure = new_figure(7.4, 4.4)
    ax = figure.subplots()
    _draw_chain(ax, frames["edges"], size)
    ax.set_title(f"Serial chain of {size.sparsity} secret bits of {size.bits}: one thought per step")
    return figure


@dataclasses.dataclass(frozen=True)
class Generated(Chained):
    strength: float = 12.0


def _generation(size: Generated, lab: Lab) -> Frames:
    """One chain as a trained model writes it: before, and after each step."""
    task = size.task()
    secret = task.draw(jax.random.key(3))
    goal = np.zeros((task.layout.thoughts, task.layout.positions))
    np.put_along_axis(goal, np.asarray(task.children(secret)), size.strength, axis=1)
    chain = task.sample(secret, jax.random.key(6), 1)
    tokens = np.asarray(
        OwnPrefix("sampled")(with_weights(pretrained(task), goal), chain, jax.random.key(5), None).tokens
    )[:, 0, 0]
    rows = []
    for step, end in enumerate(task.layout.ends):
        for position in range(task.layout.positions):
            value = int(tokens[position]) if position < end else 0
            rows.append(
                {
                    "step": step,
                    "position": position + 1,
                    "value": value,
                    "right": bool(tokens[position] == chain.tokens[position, 0, 0]),
                }
            )
    return {"data": pl.DataFrame(rows)}


def _draw_generation(frames: Frames, size: Generated):
    data, layout = frames["data"], size.task().layout
    grid = data["value"].to_numpy().reshape(-1, layout.positions)
    figure = new_figure(8.2, 2.9)
    ax = figure.subplots()
    colours = ListedColormap([COLOURS["vermillion"], "#F2F1EC", COLOURS["blue"]])
    ax.pcolormesh(grid, cmap=colours, norm=BoundaryNorm([-1.5, -0.5, 0.5, 1.5], 3), edgecolors="white", linewidth=1.2)
    for row, column in np.ndindex(*grid.shape):
        ink = QUIET if grid[row, column] == 0 else "white"
        ax.text(
            column + 0.5,
            row + 0.5,
            f"{grid[row, column]:+d}".replace("+0", "0"),
            ha="center",
            va="center",
            fontsize=7,
            color=ink,
        )
    for end in layout.ends[:-1]:
        ax.axvline(end, color="black", linewidth=1.0)
    ax.set_yticks(np.arange(len(grid)) + 0.5, ["input", *(f"after step {t}" for t in range(1, len(grid)))])
    ax.set_xticks(np.arange(layout.positions) + 0.5, [str(p + 1) for p in range(layout.positions)], fontsize=7)
    ax.invert_yaxis()
    ax.set(
        xlabel=f"position (inputs 1 to {size.bits}, then the thoughts level by level)",
        title="The chain as the trained model writes it (blue +1, red −1)",
    )
    ax.grid(False)
    return figure


def _find_generation(frames: Frames, size: Generated) -> str:
    last = frames["data"].filter(pl.col("step") == frames["data"]["step"].max())
    wrong = last.height - int(last["right"].sum())
    return f"{wrong} of {size.task().layout.thoughts} written thoughts differ from the truth."


FIGURES = (
    Figure(
        "rl-sft/2", "The tree and its masks",
        "(a) The tree of two-bit gates over a drawn secret. (b) Which positions each thought reads: causal, and with the “pretrained” mask, "
        "the level below alone.",
        {"tiny": Chained(8, 4), "quick": Chained()}, _structure, _draw_structure, seconds=1, claims=("RS-1",),
    ),
    Figure(
        "rl-sft/3", "Serial decomposition",
        "Each thought joins the one before with the next secret bit; any number of secret bits will do.",
        {"tiny": Chained(6, 3, "serial"), "quick": Chained(10, 6, "serial")}, _structure, _draw_only_chain, seconds=1, claims=("RS-1",),
    ),
    Figure(
        "rl-sft/4", "Generation, level by level",
        "One chain written by a model whose attention is on the children; tokens not yet written are 0.",
        {"tiny": Generated(8, 4), "quick": Generated()}, _generation, _draw_generation, _find_generation, seconds=2,
    ),
    Figure(
        "rl-sft/7", "The serial chain and its mask",
        "(a) A serial chain over a drawn secret. (b) Its mask: all inputs and the thought before.",
        {"tiny": Chained(6, 3, "serial"), "quick": Chained(10, 6, "serial")}, _structure, _draw_structure, seconds=1, claims=("RS-29",),
    ),
)  # fmt: skip
