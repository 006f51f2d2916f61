"""Figures 1, 2(a) and 4, drawn from the real curricula, mask and model."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.patches import Patch

from ...drawing import COLOURS, QUIET, new_figure
from ...models import block
from ...models.base import padded_signs
from ...models.masks import lower_levels_and_inputs
from ...supervision import Supervision
from ...tasks import Layout, Parity
from ...training import Lab, linear_icot, log_icot
from ...training.curricula import full_chain
from ..figure import Figure, Frames
from ..tree_pictures import Grid, draw_mask, draw_tree, mask_table, tree_table
from .experiments import concentrated

STATES = ("input", "shown thought", "padded thought", "taught here")
TINTS = (COLOURS["sky"], COLOURS["orange"], "#E4E3DE", COLOURS["vermillion"])


def _curricula(size: Grid, lab: Lab) -> Frames:
    layout, rows = Parity(size.bits, size.sparsity).layout, []
    plans = {
        "(a) chain of thought": full_chain(layout),
        "(b) ICoT": linear_icot(layout),
        "(c) Log-ICoT": log_icot(layout),
    }
    for name, plan in plans.items():
        for stage, taught in enumerate(plan, start=1):
            for position, state in enumerate(_states(layout, taught)):
                rows.append({"curriculum": name, "stage": stage, "position": position + 1, "state": state})
    return {"data": pl.DataFrame(rows)}


def _states(layout: Layout, taught: Supervision) -> list[str]:
    """What stands at each position, and whether the stage's readout predicts it anew."""
    shown = np.ones(layout.positions, bool) if taught.prefix.shown is None else np.asarray(taught.prefix.shown)  # pyright: ignore
    depth = taught.level or layout.depth
    states = []
    for position, level in enumerate(layout.position_levels):
        predicted = level > 0 and taught.where[position - layout.inputs, 0] > 0
        own = predicted and (level == depth or taught.level is None)
        states.append(
            "input" if level == 0 else "taught here" if own else "shown thought" if shown[position] else "padded thought"
        )  # fmt: skip
    return states


def _draw_curricula(frames: Frames, size: Grid):
    data = frames["data"]
    names = data["curriculum"].unique(maintain_order=True).to_list()
    heights = [data.filter(pl.col("curriculum") == name)["stage"].n_unique() for name in names]
    figure = new_figure(7.4, 0.42 * sum(heights) + 2.2)
    axes = figure.subplots(len(names), 1, sharex=True, height_ratios=[height + 0.6 for height in heights])
    for ax, name, stages in zip(axes, names, heights, strict=True):
        part = data.filter(pl.col("curriculum") == name).sort("stage", "position")
        grid = np.array([STATES.index(s) for s in part["state"]]).reshape(stages, -1)
        ax.pcolormesh(grid, cmap=ListedColormap(TINTS), vmin=-0.5, vmax=3.5, edgecolors="white", linewidth=1.2)
        ax.invert_yaxis()
        ax.set(title=f"{name}: {stages} stage{'s' if stages > 1 else ''}", ylabel="stage")
        ax.set_yticks(np.arange(stages) + 0.5, range(1, stages + 1))
        ax.grid(False)
    positions = data["position"].n_unique()
    axes[-1].set_xticks(np.arange(positions) + 0.5, range(1, positions + 1), fontsize=7)
    axes[-1].set_xlabel(f"position (inputs 1 to {size.bits}, then thoughts, the answer last)")
    figure.legend(
        handles=[Patch(color=tint, label=state) for tint, state in zip(TINTS, STATES, strict=True)],
        loc="outside lower center", ncols=4,
    )  # fmt: skip
    return figure


def _mask(size: Grid, lab: Lab) -> Frames:
    layout = Parity(size.bits, size.sparsity).layout
    mask = lower_levels_and_inputs(layout)
    return {"data": pl.DataFrame(mask_table(mask))}


def _draw_mask(frames: Frames, size: Grid):
    layout, data = Parity(size.bits, size.sparsity).layout, frames["data"]
    grid = data["allowed"].to_numpy().reshape(layout.positions, -1)
    figure = new_figure(5.2, 4.9)
    ax = figure.subplots()
    draw_mask(ax, grid, layout)
    ax.set_title(f"Attention mask of Def. 1, n={size.bits}, k={size.sparsity}")
    figure.legend(
        handles=[Patch(color=COLOURS["blue"], label="attends"), Patch(color="#E4E3DE", label="masked")],
        loc="outside lower center", ncols=2,
    )  # fmt: skip
    return figure


@dataclasses.dataclass(frozen=True)
class Worked(Grid):
    bits: int = 8
    sparsity: int = 4
    strength: float = 12.0


def _worked(size: Worked, lab: Lab) -> Frames:
    """Residual block l+1 after layer l, for one chain: as shown in stage 1, and fully padded."""
    task = Parity(size.bits, size.sparsity)
    layout, secret = task.layout, task.draw(jax.random.key(3))
    chain = task.sample(secret, jax.random.key(4), 1)
    model, rows = concentrated(task, secret, size.strength), []
    inputs = chain.with_shown(jnp.arange(layout.positions) < layout.inputs)
    for name, view in (("thoughts shown", chain), ("thoughts padded", inputs)):
        weights, data = block.full_weights(model.weights, layout), padded_signs(view).T
        streams = jax.jit(lambda weights, data: block.forward(weights, data, layout, model.link))(weights, data)
        for layer, stream in enumerate(streams):
            for position in range(layout.positions):
                value = float(stream[layout.positions + layer, position])
                rows.append({"view": name, "layer": layer, "position": position + 1, "value": value})
    tree = tree_table(np.asarray(task.children(secret)), layout.inputs)
    return {"data": pl.DataFrame(rows), "tree": tree}


def _draw_worked(frames: Frames, size: Worked):
    figure = new_figure(9.0, 3.9)
    left, right = figure.subplots(1, 2, width_ratios=[1.15, 1])
    draw_tree(left, frames["tree"], size.bits, "b")
    left.set_title(f"The tree of k={size.sparsity} secret bits among n={size.bits}")
    data, layout = frames["data"], Parity(size.bits, size.sparsity).layout
    grid = data["value"].to_numpy().reshape(-1, layout.positions)
    colours = ListedColormap([COLOURS["vermillion"], "#F2F1EC", COLOURS["blue"]])
    right.pcolormesh(
        grid, cmap=colours, norm=BoundaryNorm([-1.5, -0.5, 0.5, 1.5], 3), edgecolors="white", linewidth=1.2
    )
    for row, column in np.ndindex(*grid.shape):
        ink = QUIET if abs(grid[row, column]) < 0.5 else "white"
        right.text(column + 0.5, row + 0.5, f"{round(float(grid[row, column])):+d}".replace("+0", "0"),
                   ha="center", va="center", fontsize=7, color=ink)  # fmt: skip
    layers = layout.depth + 1
    right.axhline(layers, color="black", linewidth=1.2)
    labels = [f"{view}, $X^{{({layer})}}$" for view in ("shown", "padded") for layer in range(layers)]
    right.set_yticks(np.arange(2 * layers) + 0.5, labels)
    right.set_xticks(np.arange(layout.positions) + 0.5, range(1, layout.positions + 1), fontsize=8)
    right.invert_yaxis()
    right.set(xlabel="position", title="Residual stream, one chain (blue +1, red −1)")
    right.grid(False)
    return figure


FIGURES = (
    Figure(
        "log-icot/1", "Three ways to teach a chain",
        "What each stage shows, pads and teaches. Chain of thought teaches every node at once and writes k-1 thoughts at "
        "inference; ICoT pads one thought per stage; Log-ICoT pads one level per stage. Drawn from the curriculum objects.",
        {"tiny": Grid(4, 4), "quick": Grid(8, 8)}, _curricula, _draw_curricula, seconds=2, claims=("LI-24",),
    ),
    Figure(
        "log-icot/2a", "The customised attention mask",
        "Each thought attends to all lower levels and to nothing on its own level (Def. 1). Dotted lines are level ends. "
        "The clause for input queries never matters under the paper's gates.",
        {"tiny": Grid(4, 4), "quick": Grid(8, 8)}, _mask, _draw_mask, seconds=1, claims=("LI-29",),
    ),
    Figure(
        "log-icot/4", "A worked example",
        "Left: the tree over the secret bits. Right: residual block l+1 after layer l of the literal block model with "
        "trained attention, for one chain with its thoughts shown (top) and padded (bottom): after two layers both rows "
        "agree, and neither layer read a shown thought.",
        {"quick": Worked()}, _worked, _draw_worked, seconds=5, claims=("LI-1",),
    ),
)  # fmt: skip
