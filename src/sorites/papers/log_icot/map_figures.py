"""New figures: where Algorithm 1 succeeds over (K, B), and how its error falls with K."""

import math

import numpy as np
import polars as pl

from ...drawing import COLOURS, QUIET, new_figure
from ...statistics import wilson
from ...theory import gated_laws, tree_law
from ...training import Lab
from ..figure import Figure, Frames
from .experiments import after_each
from .grids import LARGE, ErrorLaw, SuccessMap

ROUNDING = 1e-6  # float32: the cosine link is exact to about this


def _success(size: SuccessMap, lab: Lab) -> Frames:
    rows = []
    for samples, (runs, seeds) in zip(size.batches, size.ensembles().values(), strict=True):
        history = lab.train(runs, seeds, snapshots=after_each(runs[0])).history
        strengths = np.repeat(np.array(size.strengths, float), size.seeds)
        columns = {"strength": strengths, "samples": np.full(len(seeds), samples), "seed": seeds}
        outcomes = {
            name: history.last(f"padded.{what}").astype(float)
            for name, what in (("accuracy", "answer"), ("error", "error"))
        }
        rows.append(pl.DataFrame(columns | outcomes))
    return {"data": pl.concat(rows)}


def _draw_success(frames: Frames, size: SuccessMap):
    rates = frames["data"].group_by("strength", "samples").agg((pl.col("accuracy") == 1).mean().alias("rate"))
    table = rates.sort("samples", "strength").pivot("strength", index="samples", values="rate")
    grid = table.drop("samples").to_numpy()
    figure = new_figure(6.6, 4.0)
    ax = figure.subplots()
    image = ax.pcolormesh(grid, cmap="cividis", vmin=0, vmax=1, edgecolors="white", linewidth=0.8)
    for row, column in np.ndindex(*grid.shape):
        ink = "white" if grid[row, column] < 0.5 else "black"
        ax.text(
            column + 0.5,
            row + 0.5,
            f"{grid[row, column]:.0%}",
            ha="center",
            va="center",
            fontsize=8,
            color=ink,
        )
    batches, strengths = sorted(size.batches), sorted(size.strengths)
    if min(grid.shape) > 1:  # a line needs two rows and two columns
        noise = np.sqrt(2 * size.bits) * np.array(strengths)[None, :] / np.sqrt(np.array(batches))[:, None]
        middles = np.arange(grid.shape[1]) + 0.5, np.arange(grid.shape[0]) + 0.5
        ax.contour(*middles, noise, levels=[0.2], colors=COLOURS["vermillion"], linewidths=1.8, linestyles="--")
        ax.plot(
            [], [], color=COLOURS["vermillion"], linestyle="--", label=r"noise of a weight $\sqrt{2}K\sqrt{n/B}=0.2$"
        )
    ax.set_xticks(np.arange(grid.shape[1]) + 0.5, [f"{k:g}" for k in strengths])
    ax.set_yticks(np.arange(grid.shape[0]) + 0.5, [f"{b:,}" for b in batches])
    ax.set(xlabel="strength K (weight that a child should get)", ylabel="chains per stage B")
    ax.set_title(f"Share of {size.seeds} seeds solved, n={size.bits}, k={size.sparsity}")
    ax.grid(False)
    figure.colorbar(image, ax=ax, label="success rate")
    figure.legend(loc="outside lower center")
    return figure


def _find_success(frames: Frames, size: SuccessMap) -> str:
    data = frames["data"].with_columns((pl.col("accuracy") == 1).alias("right"))
    cells = data.group_by("strength", "samples").agg(pl.col("right").sum())
    good = cells.filter(pl.col("right") >= 0.9 * size.seeds)
    if good.is_empty():
        return "No cell reaches 9 of 10 seeds."
    least = good.sort("samples", "strength").row(0, named=True)
    low, high = wilson(int(least["right"]), size.seeds)
    return (
        f"The smallest batch at which 9 of 10 seeds succeed is B={least['samples']:,} (K={least['strength']:g}: "
        f"{least['right']} of {size.seeds}, 95 % interval {low:.2f} to {high:.2f})."
    )


def _errors(size: ErrorLaw, lab: Lab) -> Frames:
    ((runs, seeds),) = size.ensembles().values()
    history = lab.train(runs, seeds, snapshots=after_each(runs[0])).history
    measured = pl.DataFrame(
        {
            "strength": np.repeat(np.array(size.strengths, float), size.seeds),
            "seed": seeds,
            "error": history.last("padded.error").astype(float),
            "accuracy": history.last("padded.answer").astype(float),
        }
    )
    law = []
    between = np.linspace(min(size.strengths), max(size.strengths), 61)
    for strength in sorted({*map(float, size.strengths), *map(float, between)}):
        error = 0.0
        for stage in range(1, int(math.log2(size.sparsity)) + 1):
            keys = tree_law.keys_of_stage(size.bits, size.sparsity, stage)
            error = gated_laws.next_error(gated_laws.other_mass(keys, strength), error)
        law.append({"strength": strength, "bound": error})
    return {"data": measured, "law": pl.DataFrame(law)}


def _draw_errors(frames: Frames, size: ErrorLaw):
    figure = new_figure(6.8, 4.8)
    ax = figure.subplots()
    data, law = frames["data"], frames["law"]
    jitter = (data["seed"].to_numpy() / max(size.seeds - 1, 1) - 0.5) * 0.3
    right = data["accuracy"].to_numpy() == 1
    x, y = data["strength"].to_numpy() + jitter, np.maximum(data["error"].to_numpy(), 1e-8)
    ax.scatter(x[right], y[right], s=16, color=COLOURS["blue"], label=f"solved seeds (of {size.seeds} per K)")
    ax.scatter(x[~right], y[~right], s=22, marker="x", color=COLOURS["vermillion"], label="seeds with a wrong answer")
    ax.plot(law["strength"], law["bound"], color=COLOURS["black"], label="bound of LI-15 and LI-16, children at K")
    ax.axhline(ROUNDING, color=QUIET, linestyle=":", linewidth=1.2)
    ax.text(0.01, ROUNDING, "float32 rounds an answer to this", transform=ax.get_yaxis_transform(), va="bottom",
            fontsize=8, color=QUIET)  # fmt: skip
    ax.set_yscale("log")
    ax.set_xticks(sorted(size.strengths), [f"{k:g}" for k in sorted(size.strengths)])
    ax.set(xlabel="strength K", ylabel="largest error of an answer over 2,000 chains")
    ax.set_title(f"Error of Algorithm 1 against K, n={size.bits}, k={size.sparsity}, B={size.samples:,}")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _find_errors(frames: Frames, size: ErrorLaw) -> str:
    joined = frames["data"].join(frames["law"], on="strength", how="inner").filter(pl.col("accuracy") == 1)
    within = joined.filter(pl.col("error") <= pl.col("bound") + ROUNDING)
    solved = frames["data"].filter(pl.col("accuracy") == 1).height
    return (
        f"{solved} of {frames['data'].height} runs answer every chain; {within.height} of the {joined.height} solved runs lie "
        "on or below the bound for children at exactly K."
    )


FIGURES = (
    Figure(
        "log-icot/success-map", "Where one rounded step per stage succeeds",
        "Algorithm 1 with the calibrated rate over strength K and chains per stage B; each cell is the share of seeds whose "
        "2,000 held-out answers are all right. Expected: too small a K leaves attention off the children, too large a K lifts the "
        "sampling noise past the rounding margin of 0.5. The dashed line is the noise law to leading order at stage 1: one "
        "standard deviation of an updated weight is 0.2.",
        {
            "tiny": SuccessMap(8, 4, (4.0, 6.0), (1_000, 4_000), 2),
            "quick": SuccessMap(),
            "paper": LARGE["success-map"],
        },
        _success, _draw_success, _find_success, seconds=40, claims=("LI-14",),
    ),
    Figure(
        "log-icot/error-law", "Error against strength",
        "Largest error of the answer over 2,000 held-out chains against K, one point per seed, with the bound that follows "
        "from the attention mass off the children (LI-15) and the level-by-level recursion (LI-16).",
        {
            "tiny": ErrorLaw(8, 4, (4.0, 6.0), 4_000, 2),
            "quick": ErrorLaw(),
            "paper": LARGE["error-law"],
        },
        _errors, _draw_errors, _find_errors, seconds=30, claims=("LI-16", "LI-15"),
    ),
)  # fmt: skip
