"""Figures 3 and 4, drawn from the literal transformer with trained attention, and what its neurons learn."""

import dataclasses

import jax
import numpy as np
import polars as pl
from matplotlib.colors import TwoSlopeNorm
from matplotlib.patches import Rectangle

from ...drawing import COLOURS, new_figure
from ...models.features import imbalance
from ...models.features import literal as whole
from ...models.routing import literal_scores
from ...tasks.actions import action_named
from ...tasks.lego import Lego, Vocabulary, encode
from ...training import Lab
from ..figure import Figure, Frames
from .setting import CYCLIC3, CYCLIC6, SYMMETRIC3, SYMMETRIC4, Learning, Theory, winners


@dataclasses.dataclass(frozen=True)
class Worked(Theory):
    variables: int = 8
    action: str = "C6"


def _worked(size: Worked, lab: Lab) -> Frames:
    """One two-step sentence read by the literal transformer with trained features and attention."""
    action = action_named(size.action)
    theory = Theory(size.variables, size.clipping, size.steps, size.rate, size.slowing)
    words, end = Vocabulary(size.variables, action.actions, action.values), theory.run(size.action, lab).end
    drawn = Lego(action, 2, size.variables).sentences(jax.random.split(jax.random.key(6), 1))
    model = literal_scores(end, whole(theory.features(action), words))
    clauses = encode(drawn, words, 2)[0]
    x, g, y = (np.asarray(each[0]).tolist() for each in (drawn.variables, drawn.actions, drawn.values))
    before = np.asarray(model.preactivations(clauses)[4, words.first_value : words.blank])  # [class, neuron]
    text = [f"$x_1=g_1(x_0)$\nv{x[1]} = {g[0]}(v{x[0]})", f"$x_2=g_2(x_1)$\nv{x[2]} = {g[1]}(v{x[1]})",
            f"$x_0=y_0$\nv{x[0]} = {y[0]}", f"$x_1=y_1$\nv{x[1]} = {y[1]}"]  # fmt: skip
    rows = {"clause": text, "attention": np.asarray(model.attention(clauses)).tolist()}
    logits = np.asarray(model(clauses)[4, words.first_value : words.blank])
    values = {"value": np.arange(action.values), "logit": logits, "preactivation": before.max(axis=1)}
    block = [
        {"block": f"$Q_{{4,{slot + 1}}}$", "row": int(row), "column": int(column), "score": float(score)}
        for slot in (2, 3)
        for (row, column), score in np.ndenumerate(
            np.asarray(model.scores[3, : size.variables, slot, : size.variables])
        )
    ]
    query = {"truth": [y[2]], "query": [x[1]], "old": [x[0]]}
    return {
        "data": pl.DataFrame(rows),
        "values": pl.DataFrame(values),
        "scores": pl.DataFrame(block),
        "query": pl.DataFrame(query),
    }


def _draw_solution(frames: Frames, size: Worked):
    figure = new_figure(9.0, 3.6)
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1])
    data, values, truth = frames["data"], frames["values"], frames["query"]["truth"][0]
    colours = [COLOURS["sky"] if i in (1, 3) else "#C9C8C2" for i in range(4)]
    bars = left.bar(range(4), data["attention"], color=colours)
    left.bar_label(bars, [f"{value:.3f}" for value in data["attention"]], fontsize=9, padding=2)
    left.set_xticks(range(4), data["clause"].to_list())
    left.set(ylabel="attention of the query $x_1=y_1$", ylim=(0, 0.62), title="Retrieve: two clauses share $x_1$")
    colours = [COLOURS["vermillion"] if i == truth else "#C9C8C2" for i in range(values.height)]
    right.bar(values["value"], values["logit"], color=colours)
    right.set(xlabel="value", ylabel="logit of $y_2$ (clipped at B)", title=f"Apply: $y_2=g_2(y_1)$ is {truth}")
    return figure


def _find_solution(frames: Frames, size: Worked) -> str:
    attention, logits = frames["data"]["attention"], np.sort(frames["values"]["logit"].to_numpy())
    mass = attention[1] + attention[3]
    return f"The two clauses that share the variable hold {mass:.4f} of attention; the right value leads by {logits[-1] - logits[-2]:.1f}."


def _draw_blocks(frames: Frames, size: Worked):
    figure = new_figure(8.6, 4.0)
    axes = figure.subplots(1, 2, sharey=True)
    query, data = frames["query"]["query"][0], frames["scores"]
    top, image = float(data["score"].max()), None  # pyright: ignore
    for ax, (name,), where in zip(
        axes,
        data.select("block").unique(maintain_order=True).iter_rows(),
        ("predicate's slot 3", "answer's slot 4"),
        strict=True,
    ):
        part = data.filter(pl.col("block") == name)
        grid = part["score"].to_numpy().reshape(size.variables, -1)
        image = ax.pcolormesh(grid, cmap="PuOr_r", norm=TwoSlopeNorm(0, -top, top), edgecolors="white", linewidth=0.8)
        ax.add_patch(
            Rectangle(
                (0, query),
                size.variables,
                1,
                fill=False,
                edgecolor=COLOURS["vermillion"],
                linewidth=2,
                zorder=4,
                clip_on=False,
            )
        )
        ticks = np.arange(size.variables)
        ax.set_xticks(ticks + 0.5, [f"v{i}" for i in ticks])
        ax.set_yticks(ticks + 0.5, [f"v{i}" for i in ticks])
        ax.set(title=f"{name}: scores with the {where}", xlabel="variable of the clause")
        ax.grid(False)
    axes[0].invert_yaxis()  # shared by both panels
    axes[0].set_ylabel("variable of the query (slot 4)")
    assert image is not None
    figure.colorbar(image, ax=list(axes), label="score", shrink=0.9)
    return figure


@dataclasses.dataclass(frozen=True)
class Neurons:
    runs: tuple[Learning, ...] = (CYCLIC6, SYMMETRIC4)
    seed: int = 0


def _features(size: Neurons, lab: Lab) -> Frames:
    rows = []
    for run in size.runs:
        action = action_named(run.action)
        winner, end = winners(run.run(size.seed, lab)[1], action)
        for value, neuron in enumerate(winner[0]):  # class 0
            for source, row in (("action", end.actions[0, neuron]), ("value", end.values[0, neuron])):
                for column, feature in enumerate(row):
                    rows.append(
                        {
                            "task": run.action,
                            "neuron": value,
                            "source": source,
                            "column": column,
                            "feature": float(feature) / run.ceiling,
                        }
                    )
    return {"data": pl.DataFrame(rows)}


def _draw_features(frames: Frames, size: Neurons):
    figure = new_figure(9.6, 1.0 + 2.0 * len(size.runs))
    axes = np.atleast_2d(figure.subplots(len(size.runs), 2, width_ratios=[3, 1]))
    image = None
    for row, run in zip(axes, size.runs, strict=True):
        for ax, source in zip(row, ("action", "value"), strict=True):
            part = frames["data"].filter((pl.col("task") == run.action) & (pl.col("source") == source))
            grid = part.sort("neuron", "column")["feature"].to_numpy().reshape(part["neuron"].n_unique(), -1)
            image = ax.pcolormesh(grid, cmap="PuOr_r", vmin=-1.6, vmax=1.6, edgecolors="white", linewidth=0.6)
            ax.invert_yaxis()
            ax.set_yticks(np.arange(grid.shape[0]) + 0.5, range(grid.shape[0]))
            ax.set_xticks(
                np.arange(0, grid.shape[1], max(1, grid.shape[1] // 12)) + 0.5,
                range(0, grid.shape[1], max(1, grid.shape[1] // 12)),
            )
            ax.set(
                xlabel={"action": "action g", "value": "value y"}[source],
                title=f"{run.action}: V({'g' if source == 'action' else 'y'}) / B",
            )
            ax.grid(False)
        row[0].set_ylabel("neuron that won\nvalue y, class 0")
    assert image is not None
    figure.colorbar(image, ax=axes.ravel().tolist(), label="feature / B", shrink=0.9)
    return figure


def _find_features(frames: Frames, size: Neurons) -> str:
    parts = []
    for run in size.runs:
        data = frames["data"].filter(pl.col("task") == run.action)
        moves = data.filter((pl.col("source") == "action") & (pl.col("feature") > 0))["feature"].to_numpy().mean()
        own = (pl.col("source") == "value") & (pl.col("neuron") == pl.col("column"))
        states = data.filter(own)["feature"].to_numpy().mean()
        ratio, law = moves / states, imbalance(action_named(run.action))
        parts.append(f"{run.action}: V(g) = {moves:.2f} B, V(y) = {states:.2f} B, ratio {ratio:.2f} (C_α = {law:.2f})")
    return "Winning neurons, " + "; ".join(parts) + "."


FIGURES = (
    Figure(
        "lego/3", "How the model solves a two-step task",
        "The literal theory transformer with trained attention on one sentence: the query attends to the predicate and the answer "
        "that share its variable (left), and the feed-forward network applies the action to the value (right).",
        {"tiny": Worked(steps=60), "quick": Worked()}, _worked, _draw_solution, _find_solution, seconds=8,
    ),
    Figure(
        "lego/4", "Which entries of Q route attention",
        "The two trained blocks of Q after stage 2. The row of the query's variable is outlined: its diagonal entries are what "
        "draws attention to the next predicate and to the answer itself.",
        {"tiny": Worked(steps=60), "quick": Worked()}, _worked, _draw_blocks, seconds=8, claims=("L12",),
    ),
    Figure(
        "lego/features", "What each neuron learns",
        "Features of class 0's winning neurons after stage 1, in units of the clipping level B. On cyclic tasks V(g) = V(y); on "
        "symmetry tasks the actions of a fibre carry most of it, and actions off the fibre are negative, against (18b) as printed.",
        {"tiny": Neurons((dataclasses.replace(CYCLIC3, steps=4000), dataclasses.replace(SYMMETRIC3, steps=4000))), "quick": Neurons()}, _features, _draw_features, _find_features, seconds=6, claims=("L5", "L6"),
    ),
)  # fmt: skip
