"""Length curves of the theory's model and of the decoder, before and after self-training."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from ...drawing import COLOURS, QUIET, new_figure
from ...tasks.actions import action_named
from ...training import PLAIN, Lab
from ..figure import Figure, Frames
from .grids import LARGE, SMALL, TINY, Study, ensemble, measured
from .setting import LENGTHS, Theory, accuracies


def curves(size: Study, found: dict[str, np.ndarray], lab: Lab = PLAIN) -> pl.DataFrame:
    """Theory and decoder at each length; the theory model is trained here, in seconds."""
    rows, theory = [], Theory(steps=size.theory_steps)
    for name in size.pair:
        action = action_named(name)
        values = accuracies(theory.features(action), theory.run(name, lab).end, action)
        rows += [
            {"model": "theory", "action": name, "seed": 0, "length": n, "right": float(v)}
            for n, v in zip(LENGTHS, values, strict=True)
        ]
    for name in size.pair:
        for seed, member in enumerate(size.rows(name)):
            values = found["values"][-1][member]
            rows += [
                {"model": "decoder", "action": name, "seed": seed, "length": n, "right": float(v)}
                for n, v in zip(size.lengths, values, strict=True)
            ]
    return pl.DataFrame(rows)


def stage_curves(
    size: Study, found: dict[str, np.ndarray], stages: dict[str, np.ndarray], lab: Lab = PLAIN
) -> pl.DataFrame:
    theory, hard, rows = Theory(steps=size.theory_steps), size.pair[1], []
    action = action_named(hard)
    features = theory.features(action)
    ends = {2: theory.run(hard, lab).end} | {
        stage.length: stage.history.end for stage in theory.continued(hard, 3, size.theory_steps // 3, 1024, lab)
    }
    for trained, end in ends.items():
        values = accuracies(features, end, action)
        rows += [
            {"model": "theory", "stage": trained, "seed": 0, "length": n, "right": float(v), "labels": 1.0}
            for n, v in zip(LENGTHS, values, strict=True)
        ]
    members = size.rows(hard)
    runs = {size.length: (found["values"][-1][members], np.ones(len(members)))}
    runs |= {length: (stages[f"values{length}"], stages[f"labels{length}"]) for length in size.stages}
    for trained, (values, labels) in runs.items():
        for seed, row in enumerate(values):
            rows += [{"model": "decoder", "stage": trained, "seed": seed, "length": n, "right": float(v), "labels": float(labels[seed])}
                     for n, v in zip(size.lengths, row, strict=True)]  # fmt: skip
    return pl.DataFrame(rows)


PAIR = (("blue", "o-", 8), ("vermillion", "s-", 5))  # where both are right the larger is seen behind the smaller


def draw_lines(ax, part: pl.DataFrame, label: str, colour: str, mark: str = "o-", points: int = 5) -> None:
    """Mean over seeds, every seed as a faint point."""
    mean = part.group_by("length").agg(pl.col("right").mean()).sort("length")
    ax.plot(mean["length"], mean["right"], mark, color=COLOURS[colour], label=label, markersize=points)
    if part["seed"].n_unique() > 1:
        ax.scatter(part["length"], part["right"], s=12, color=COLOURS[colour], alpha=0.45, linewidth=0)


def draw_axes(ax, title: str, trained: Sequence[int], shown: Sequence[int] = LENGTHS) -> None:
    """The same lengths in every panel, with those of training among them."""
    ticks = sorted({*trained, *shown})
    ax.set_xscale("log", base=2)
    ax.set_xticks(ticks, ticks)
    ax.minorticks_off()
    ax.set(xlabel="test length L", xlim=(min(ticks) / 1.2, max(ticks) * 1.2), ylim=(-0.03, 1.05), title=title)


def trained_here(ax, length: int) -> None:
    ax.axvline(length, color=QUIET, linestyle="--", linewidth=1)
    ax.text(length, 0.5, " trained here", transform=ax.get_xaxis_transform(), fontsize=8, color=QUIET, rotation=90,
            ha="right", va="center")  # fmt: skip


def _draw_lengths(frames: Frames, size: Study):
    figure = new_figure(9.4, 3.9)
    axes = figure.subplots(1, 2, sharey=True)
    for ax, model, trained in zip(axes, ("theory", "decoder"), (2, size.length), strict=True):
        data = frames["data"].filter(pl.col("model") == model)
        for name, look in zip(size.pair, PAIR, strict=True):
            draw_lines(ax, data.filter(pl.col("action") == name), name, *look)
        seeds = data["seed"].n_unique()
        name = (
            f"trained decoder, {seeds} seed{'s' if seeds > 1 else ''}" if model == "decoder" else "the theory's model"
        )
        draw_axes(ax, name, (2, size.length), sorted(set(frames["data"]["length"])))
        trained_here(ax, trained)
    axes[0].set_ylabel("share with every value right")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _find_lengths(frames: Frames, size: Study) -> str:
    data, parts = frames["data"], []
    for model in ("theory", "decoder"):
        part = data.filter(pl.col("model") == model)
        top = part["length"].max()
        ends = part.filter(pl.col("length") == top).group_by("action", maintain_order=True).agg(pl.col("right").mean())
        parts.append(f"{model} at L={top}: " + ", ".join(f"{a} {r:.2f}" for a, r in ends.iter_rows()))
    return "; ".join(parts) + " (the paper: C6 near 1 to 160, S5 lower)."


def _draw_stages(frames: Frames, size: Study):
    figure = new_figure(9.4, 4.5)
    axes = figure.subplots(1, 2, sharey=True)
    for ax, model in zip(axes, ("theory", "decoder"), strict=True):
        data = frames["data"].filter(pl.col("model") == model)
        for stage, colour in zip(
            data["stage"].unique(maintain_order=True), ("vermillion", "orange", "green", "blue"), strict=False
        ):
            draw_lines(ax, data.filter(pl.col("stage") == stage), f"trained up to L = {stage}", colour)
            ax.axvline(stage, color=COLOURS[colour], linestyle="--", linewidth=0.9)
        stages = sorted(set(data["stage"]))
        seeds = data["seed"].n_unique()
        name = (
            f"trained decoder, {seeds} seed{'s' if seeds > 1 else ''}" if model == "decoder" else "the theory's model"
        )
        draw_axes(ax, f"{name}, {size.pair[1]}", stages, sorted(set(data["length"])))
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)  # dashed lines of the stages are all over
    axes[0].set_ylabel("share with every value right")
    return figure


def _find_stages(frames: Frames, size: Study) -> str:
    parts = []
    for model in ("theory", "decoder"):
        part = frames["data"].filter(pl.col("model") == model)
        last = (
            part.filter(pl.col("length") == part["length"].max())
            .group_by("stage", maintain_order=True)
            .agg(pl.col("right").mean())
        )
        parts.append(
            f"{model} at L={part['length'].max()} by stage: " + ", ".join(f"{s}: {r:.2f}" for s, r in last.iter_rows())
        )
    labels = (
        frames["data"]
        .filter(pl.col("model") == "decoder")
        .group_by("stage", maintain_order=True)
        .agg(pl.col("labels").mean())
    )
    kept = ", ".join(f"{s}: {r:.2f}" for s, r in labels.iter_rows() if s != size.length)
    return "; ".join(parts) + f". Share of the decoder's own training sentences with every label true: {kept}."


STATED = (
    "The paper states one layer, two heads, Adam 1e-4 and 300 epochs; every other choice is a field of the setting. Here "
    f"fresh sentences in every step stand for the epochs ({LARGE.steps:,} steps at paper scale), and the output map of "
    "attention starts as the identity."
)
FIGURES = (
    Figure(
        "lego/1a", "Length generalisation of C6 and S5",
        "Share of sentences with every value right in a greedy free-running rollout. Left: the theory's model trained on two steps; "
        "right: the decoder trained at L = 5, points are seeds. " + STATED,
        {"tiny": TINY, "quick": SMALL, "paper": LARGE},
        lambda size, lab: {"data": curves(size, ensemble(size, "fresh", lab)[1], lab)}, _draw_lengths, _find_lengths, seconds=40, claims=("L16",),
    ),
    Figure(
        "lego/1b", "Recursive self-training on S5",
        "Each stage trains on sentences of twice the length, labelled by the stage before. Dashed lines are training lengths.",
        {"tiny": TINY, "quick": SMALL, "paper": LARGE},
        lambda size, lab: {"data": stage_curves(size, ensemble(size, "fresh", lab)[1], measured(size, "stages", lab), lab)},
        _draw_stages, _find_stages, seconds=60, claims=("L17",),
    ),
)  # fmt: skip
