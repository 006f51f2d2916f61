"""Figures 2(b) and 3: the AdamW experiment over seeds, and the attention it ends with."""

import math

import numpy as np
import polars as pl
from matplotlib.colors import PowerNorm

from ...drawing import COLOURS, QUIET, band, new_figure, stage_lines
from ...tasks import Parity
from ...theory import tree_law
from ...training import Lab
from ..figure import Figure, Frames
from .experiments import AdamExperiment
from .grids import LARGE, Losses


def _losses(size: Losses, lab: Lab) -> Frames:
    frames = []
    for name, (runs, seeds) in size.ensembles().items():
        history = lab.train(runs, seeds).history
        decay = float(runs[0].stages[0].optimizer.decay)  # pyright: ignore
        frames.append(
            history.frame()
            .rename({"own.loss": "loss", "padded.answer": "accuracy"})
            .with_columns(pl.lit(name).alias("ensemble"), pl.lit(decay).alias("decay"))
        )
    law = [
        {
            "stage": stage,
            "step": (stage - 1) * size.steps,
            "loss": tree_law.start_loss(size.bits, size.sparsity, stage),
        }
        for stage in range(1, int(math.log2(size.sparsity)) + 1)
    ]
    return {"data": pl.concat(frames), "law": pl.DataFrame(law)}


def _draw_losses(frames: Frames, size: Losses):
    figure = new_figure(7.4, 4.8)
    ax = figure.subplots()
    data, law = frames["data"], frames["law"]
    for name, colour in zip(data["ensemble"].unique(maintain_order=True), ("blue", "green"), strict=True):
        part = data.filter(pl.col("ensemble") == name).sort("seed", "stage", "step")
        decay = part["decay"][0]
        seeds = part["seed"].n_unique()
        steps = part["step"].to_numpy().reshape(seeds, -1)[0]
        values = np.maximum(part["loss"].to_numpy().reshape(seeds, -1), 1e-12)
        band(ax, steps, values, f"weight decay {decay:g} (median, 10–90 % of {seeds} seeds)", colour)
    ax.scatter(law["step"], law["loss"], marker="D", s=34, color=COLOURS["vermillion"], zorder=5, clip_on=False,
               label="start of stage, exact tree law (LI-21)")  # fmt: skip
    stage_lines(ax, law["step"].to_list()[1:])
    ax.set_yscale("log")
    ax.set(xlabel="training step", ylabel="validation loss of the stage (Eq. 1)")
    ax.set_title(f"Log-ICoT with AdamW, n={size.bits}, k={size.sparsity}, batch {size.batch}")
    ax.set_xlim(0, size.steps * law.height)
    figure.legend(loc="outside lower center", ncols=1)
    return figure


def _find_losses(frames: Frames, size: Losses) -> str:
    data, law = frames["data"], frames["law"]
    ends = data.group_by("ensemble", "decay", "seed", maintain_order=True).agg(pl.col("accuracy").last())
    right = ends.group_by("ensemble", "decay", maintain_order=True).agg((pl.col("accuracy") == 1).sum())
    first = data.filter(pl.col("ensemble") == data["ensemble"][0])
    seen = [
        first.filter((pl.col("stage") == stage) & (pl.col("step") == step))["loss"].mean()
        for stage, step in law.select("stage", "step").iter_rows()
    ]
    pairs = ", ".join(f"{law_loss:.3f} / {got:.3f}" for law_loss, got in zip(law["loss"], seen, strict=True))
    solved = "; ".join(f"decay {decay:g}: {count} of {size.seeds}" for _, decay, count in right.iter_rows())
    return f"Seeds with every held-out answer right at the end: {solved}. Start-of-stage loss, law / mean: {pairs}."


def _maps(size: AdamExperiment, lab: Lab) -> Frames:
    result = lab.train(size.run(), range(size.seeds))
    layout, rows = Parity(size.bits, size.sparsity).layout, []
    for layer, scores in enumerate(result.model(0).attention(), start=1):  # pyright: ignore
        start = layout.ends[layer - 1]
        for (row, source), value in np.ndenumerate(np.asarray(scores)):
            rows.append({"layer": layer, "query": start + row + 1, "source": source + 1, "attention": float(value)})
    assert result.history.secrets is not None
    return {"data": pl.DataFrame(rows), "secret": pl.DataFrame({"position": result.history.secrets[0] + 1})}


def _draw_maps(frames: Frames, size: AdamExperiment):
    layout, data = Parity(size.bits, size.sparsity).layout, frames["data"]
    figure = new_figure(10.6, 3.4)
    axes = np.atleast_1d(figure.subplots(1, layout.depth, sharey=True))
    image = None
    for layer, ax in enumerate(axes, start=1):
        grid = np.full((layout.positions, layout.positions), np.nan)
        part = data.filter(pl.col("layer") == layer)
        grid[part["query"].to_numpy() - 1, part["source"].to_numpy() - 1] = part["attention"].to_numpy()
        image = ax.pcolormesh(grid[layout.inputs :], cmap="cividis", norm=PowerNorm(0.6, 0, 0.5))
        ax.set_facecolor("#F2F1EC")
        for end in layout.ends[:-1]:
            ax.axvline(end, color=QUIET, linestyle=":", linewidth=0.8)
            ax.axhline(end - layout.inputs, color=QUIET, linestyle=":", linewidth=0.8)
        for position in frames["secret"]["position"]:
            ax.plot([position - 0.5] * 2, [-0.045, -0.01], color=COLOURS["vermillion"], linewidth=2,
                    transform=ax.get_xaxis_transform(), clip_on=False)  # fmt: skip
        ax.tick_params(axis="x", pad=6)
        ax.set(title=f"layer {layer}", xlabel="source position")
        ax.grid(False)
    ticks = np.arange(0, layout.thoughts, 2)
    axes[0].set_yticks(ticks + 0.5, ticks + layout.inputs + 1)
    axes[0].set_ylabel("query position")
    axes[0].invert_yaxis()  # shared by all panels
    assert image is not None
    figure.colorbar(image, ax=list(axes), label="attention", shrink=0.9)
    return figure


def _find_maps(frames: Frames, size: AdamExperiment) -> str:
    task = Parity(size.bits, size.sparsity)
    children = np.asarray(task.children(frames["secret"]["position"].to_numpy() - 1)) + 1
    pairs = pl.DataFrame({"query": np.repeat(np.arange(len(children)) + size.bits + 1, 2), "source": children.ravel()})
    masses = (
        frames["data"].join(pairs, on=["query", "source"]).group_by("layer", "query").agg(pl.col("attention").sum())
    )
    least = masses.group_by("layer").agg(pl.col("attention").min()).sort("layer")
    return (
        f"Least mass of any thought on its two children, by layer: {', '.join(f'{m:.3f}' for m in least['attention'])}."
    )


FIGURES = (
    Figure(
        "log-icot/2b", "Validation loss under the Log-ICoT curriculum",
        "Loss of the current stage on 2,000 held-out chains, evaluated on entry to each stage and every 25 steps. Diamonds "
        "are the start-of-stage losses predicted without any fit. Weight decay is unstated in the paper, so both the library "
        "default and none are shown.",
        {"tiny": Losses(8, 4, steps=50, batch=64, seeds=2), "quick": Losses(), "paper": LARGE["2b"]},
        _losses, _draw_losses, _find_losses, seconds=30, claims=("LI-21", "LI-22"),
    ),
    Figure(
        "log-icot/3", "Attention maps of the trained transformer",
        "Softmax attention at the final stage, one seed; only the rows that a layer writes are shown. Dotted lines are level "
        "ends, red ticks the secret bits. The finding gives the mass on the children.",
        {"tiny": AdamExperiment(8, 4, steps=50, batch=64, seeds=1), "quick": AdamExperiment()}, _maps, _draw_maps, _find_maps, seconds=15, claims=("LI-22",),
    ),
)  # fmt: skip
