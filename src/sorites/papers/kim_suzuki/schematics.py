"""Figures 1, 2 and 3, drawn from the real tree, filter and masks."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from matplotlib.patches import Patch

from ...drawing import COLOURS, QUIET, new_figure
from ...models.masks import MASKS
from ...models.positional import positional
from ...supervision import Strings
from ...tasks import Parity
from ...training import Lab
from ..figure import Figure, Frames
from ..tree_pictures import Grid, draw_mask, draw_tree, mask_table, tree_table


def _tree(size: Grid, lab: Lab) -> Frames:
    task = Parity(size.bits, size.sparsity)
    secret = task.draw(jax.random.key(1))
    return {"data": tree_table(np.asarray(task.children(secret)), size.bits)}


def _draw_tree(frames: Frames, size: Grid):
    figure = new_figure(9.0, 4.2)
    ax = figure.subplots()
    draw_tree(ax, frames["data"], size.bits, "x")
    ax.set_title(
        f"The parity of k={size.sparsity} out of d={size.bits} bits as {size.sparsity - 1} two-bit parities, level by level"
    )
    return figure


@dataclasses.dataclass(frozen=True)
class Generation(Grid):
    sparsity: int = 8
    strength: float = 12.0  # of the levels that are trained
    threshold: float = 1.5
    strings: int = 16


def _generation(size: Generation, lab: Lab) -> Frames:
    """What stands at each thought after t trained levels: its value on one labelled chain, and how far its strings are from -1."""
    task = Parity(size.bits, size.sparsity)
    secret, layout = task.draw(jax.random.key(1)), task.layout
    children, levels, rows = np.asarray(task.children(secret)), np.asarray(layout.levels), []
    chain = task.sample(secret, jax.random.key(2), 1)
    drawn = np.asarray(task.inputs(jax.random.key(3), size.strings))
    inputs = jnp.concatenate([chain.tokens[: layout.inputs, 0], drawn], axis=1).astype(jnp.float32)
    for trained in range(layout.depth):
        weights = np.zeros((layout.thoughts, layout.positions), np.float32)
        np.put_along_axis(weights, children, size.strength * (levels <= trained)[:, None].astype(np.float32), axis=1)
        model = eqx.tree_at(lambda m: m.weights, positional(task), jnp.asarray(weights))
        passes = np.asarray(Strings(drawn, size.threshold)(model))
        values = np.asarray(model.generate_soft(inputs, jnp.asarray(passes[levels - 1])))
        for thought, level in enumerate(levels):
            rows.append(
                {
                    "trained": trained, "thought": thought + layout.inputs + 1, "level": int(level), "passes": bool(passes[level - 1]),
                    "value": float(values[thought, 0]), "truth": int(chain.tokens[layout.inputs + thought, 0, 0]),
                    "distance": float(np.abs(values[thought, 1:] + 1).max()),
                }
            )  # fmt: skip
    return {"data": pl.DataFrame(rows)}


def _draw_generation(frames: Frames, size: Generation):
    data = frames["data"]
    stages = data["trained"].n_unique()
    figure = new_figure(8.6, 1.5 * stages + 1.4)
    axes = np.atleast_1d(figure.subplots(stages, 1, sharex=True))
    for ax, ((trained,), part) in zip(axes, data.group_by("trained", maintain_order=True), strict=True):
        x = part["thought"].to_numpy()
        passes = part["passes"].to_numpy()
        ax.axhline(size.threshold, color=COLOURS["vermillion"], linewidth=1.2)
        ax.bar(x, part["distance"].to_numpy(), color=[COLOURS["blue"] if p else "#CFCEC8" for p in passes], width=0.7)
        for place, value, truth, ok in zip(x, part["value"], part["truth"], passes, strict=True):
            ax.text(
                place,
                2.12,
                f"{value + 0:+.2f}" if ok else "0",
                ha="center",
                fontsize=7,
                color=QUIET if not ok else "black" if value * truth > 0 else COLOURS["vermillion"],
            )
        for end in np.flatnonzero(np.diff(part["level"].to_numpy())) + 1:
            ax.axvline(x[end] - 0.5, color=QUIET, linestyle=":", linewidth=0.9)
        ax.set(ylim=(0, 2.45), ylabel="distance from −1")
        ax.set_title(f"{trained} of {stages} levels trained: {int(sum(passes))} thoughts pass", pad=4)
        ax.grid(False)
    axes[-1].set_xticks(data["thought"].unique().sort().to_list())
    axes[-1].set_xlabel(
        "thought m (dotted lines: levels); above the bars: its value on one labelled chain, red if wrong"
    )
    figure.legend(
        handles=[
            Patch(color=COLOURS["blue"], label="passes"), Patch(color="#CFCEC8", label="zeroed by the filter"),
            Patch(color=COLOURS["vermillion"], label=f"threshold ε₀ = {size.threshold:g} for the level above"),
        ],
        loc="outside lower center", ncols=3,
    )  # fmt: skip
    return figure


def _masks(size: Grid, lab: Lab) -> Frames:
    layout = Parity(size.bits, size.sparsity).layout
    frames = [
        pl.DataFrame(mask_table(MASKS[name](layout))).with_columns(pl.lit(name).alias("mask"))
        for name in ("causal", "lower-levels")
    ]
    return {"data": pl.concat(frames)}


def _draw_masks(frames: Frames, size: Grid):
    layout = Parity(size.bits, size.sparsity).layout
    figure = new_figure(9.2, 4.9)
    titles = {"causal": "with teacher forcing: causal", "lower-levels": "without: lower levels only"}
    for ax, (name, title) in zip(figure.subplots(1, 2), titles.items(), strict=True):
        part = frames["data"].filter(pl.col("mask") == name).sort("query", "source")
        draw_mask(ax, part["allowed"].to_numpy().reshape(layout.positions, -1), layout)
        ax.set_title(title)
    figure.legend(
        handles=[Patch(color=COLOURS["blue"], label="attends"), Patch(color="#E4E3DE", label="masked")],
        loc="outside lower center", ncols=2,
    )  # fmt: skip
    return figure


FIGURES = (
    Figure(
        "kim-suzuki/1", "The tree of a parity",
        "Secret bits (blue) are paired in order; every thought (orange) is the product of the two positions below it, the last one the answer.",
        {"quick": Grid()}, _tree, _draw_tree, seconds=1, claims=("KS-1",),
    ),
    Figure(
        "kim-suzuki/2", "Generation with the self-consistency filter",
        "The real model with its first levels trained, writing a chain. A bar is how far a thought's values on unlabelled strings get from -1; "
        "a level passes only if every thought of the level below reaches the threshold, else it is zeroed, which leaves it at distance 1.",
        {"quick": Generation()}, _generation, _draw_generation, seconds=5, claims=("KS-23",),
    ),
    Figure(
        "kim-suzuki/3", "The two attention masks",
        "Left: Theorem 5. Right: Theorem 7, where a level is written at once. Dotted lines are level ends.",
        {"quick": Grid(8, 8)}, _masks, _draw_masks, seconds=1, claims=("KS-20",),
    ),
)  # fmt: skip
