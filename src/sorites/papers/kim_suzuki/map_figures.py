"""New figures: where the filter works, where one step works, and how the samples it needs grow."""

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh

from ...drawing import COLOURS, QUIET, new_figure
from ...statistics import log_log_slope
from ...training import Lab
from ..figure import Figure, Frames
from .grids import LARGE, LARGE_LAWS, FilterRange, SampleLaws
from .sample_law import BLOCK, NEEDED, noise_law, success


def _filter(size: FilterRange, lab: Lab) -> Frames:
    ((runs, seeds),) = size.ensembles().values()
    history = lab.train(runs, seeds).history
    cells = np.repeat(np.array(size.cells()), size.seeds, axis=0)
    return {
        "data": pl.DataFrame(
            {
                "threshold": cells[:, 0],
                "strings": cells[:, 1].astype(int),
                "seed": seeds,
                "accuracy": history.last("soft.answer").astype(float),
                "error": history.last("soft.error").astype(float),
            }
        )
    }


def _shares(data: pl.DataFrame, rows: str, columns: str, good: pl.Expr) -> tuple[np.ndarray, list, list]:
    """Share of good members per cell, and the sorted values of both axes."""
    table = data.group_by(rows, columns).agg(good.mean().alias("share")).sort(rows, columns)
    below, along = sorted(table[rows].unique()), sorted(table[columns].unique())
    return table["share"].to_numpy().reshape(len(below), len(along)), below, along


def _draw_shares(ax: Axes, grid: np.ndarray) -> QuadMesh:
    image = ax.pcolormesh(grid, cmap="cividis", vmin=0, vmax=1, edgecolors="white", linewidth=0.6)
    for (row, column), share in np.ndenumerate(grid):
        ax.text(
            column + 0.5,
            row + 0.5,
            f"{share:.2g}",
            ha="center",
            va="center",
            fontsize=7,
            color="black" if share > 0.55 else "white",
        )
    ax.grid(False)
    return image


def _draw_filter(frames: Frames, size: FilterRange):
    grid, strings, thresholds = _shares(frames["data"], "strings", "threshold", pl.col("accuracy") == 1)
    figure = new_figure(7.2, 4.2)
    ax = figure.subplots()
    image = _draw_shares(ax, grid)
    edge = sum(threshold <= 1 for threshold in thresholds)
    ax.axvline(
        edge,
        color=COLOURS["vermillion"],
        linewidth=2,
        label=r"$\varepsilon_0 = 1$: a zeroed level is no longer flagged",
    )
    ax.set_xticks(np.arange(len(thresholds)) + 0.5, [f"{t:g}" for t in thresholds])
    ax.set_yticks(np.arange(len(strings)) + 0.5, [str(s) for s in strings])
    ax.set(xlabel="filter threshold ε₀", ylabel="unlabelled strings n′")
    ax.set_title(
        f"Share of {size.seeds} seeds solved, d={size.bits}, k={size.sparsity}, n={size.samples:,}, K={size.strength:g}"
    )
    figure.colorbar(image, ax=ax, label="success rate")
    figure.legend(loc="outside lower center")
    return figure


ENOUGH = 8  # strings from which on the filter seldom errs by chance


def _find_filter(frames: Frames, size: FilterRange) -> str:
    data = frames["data"].with_columns((pl.col("accuracy") == 1).alias("right"))
    parts = []
    for name, where in (
        ("at most 1", pl.col("threshold") <= 1),
        (f"between 1 and 2, {ENOUGH} strings or more", (pl.col("threshold") > 1) & (pl.col("strings") >= ENOUGH)),
        (f"between 1 and 2, fewer than {ENOUGH}", (pl.col("threshold") > 1) & (pl.col("strings") < ENOUGH)),
    ):
        part = data.filter(where)
        if part.height:
            seeds = part.group_by("seed").agg(pl.col("right").mean())["right"]  # the same seeds recur in every cell
            parts.append(
                f"eps0 {name}: {part['right'].sum()} of {part.height} runs solved (seeds {seeds.min():.2f} to {seeds.max():.2f})"
            )
    return f"{'; '.join(parts)}. The printed proof asks only for eps0 above O(d^-1/2)."


def _law_table(size: SampleLaws, lab: Lab) -> Frames:
    rows, cells = [], []
    for name, law in size.laws().items():
        found = success(law, lab)  # [size, n, seed]
        for bits, table in zip(law.bits, found, strict=True):
            share = table.mean(axis=1)
            enough = np.flatnonzero(share >= NEEDED)
            smallest = int(law.samples()[enough[0]]) if len(enough) else None
            rows.append(
                {"regime": name, "bits": bits, "smallest": smallest, "law": noise_law(bits, law.task(bits).sparsity)}
            )
            cells += [
                {"regime": name, "bits": bits, "samples": int(n), "solved": int(row.sum()), "seeds": law.seeds}
                for n, row in zip(law.samples(), table, strict=True)
            ]
    return {"data": pl.DataFrame(cells), "smallest": pl.DataFrame(rows)}


def _draw_phase(frames: Frames, size: SampleLaws):
    names = frames["smallest"]["regime"].unique(maintain_order=True).to_list()
    figure = new_figure(9.4, 5.2)
    axes = np.atleast_1d(figure.subplots(1, len(names), sharey=True))
    image = None
    for ax, name in zip(axes, names, strict=True):
        data = (
            frames["data"]
            .filter(pl.col("regime") == name)
            .with_columns((pl.col("solved") / pl.col("seeds")).alias("part"))
        )
        table = data.sort("samples", "bits")
        bits, samples = sorted(table["bits"].unique()), sorted(table["samples"].unique())
        grid = table["part"].to_numpy().reshape(len(samples), len(bits))
        apart = np.sqrt(np.divide(samples[1:], samples[:-1])) if len(samples) > 1 else np.array([2.0])
        edges = np.array([samples[0] / apart[0], *(samples[:-1] * apart[: len(samples) - 1]), samples[-1] * apart[-1]])
        image = ax.pcolormesh(np.arange(len(bits) + 1), edges, grid, cmap="cividis", vmin=0, vmax=1)
        line = frames["smallest"].filter((pl.col("regime") == name) & pl.col("smallest").is_not_null())
        ax.step(
            [bits.index(b) + edge for b in line["bits"] for edge in (0, 1)],
            [edges[samples.index(n)] for n in line["smallest"] for _ in (0, 1)], color=COLOURS["vermillion"], linewidth=1.8,
        )  # fmt: skip
        ax.set_xticks(np.arange(len(bits)) + 0.5, [f"{d:,}" for d in bits])
        ax.set_yscale("log", base=2)
        doubled = [n for n in samples if n // BLOCK & (n // BLOCK - 1) == 0][::2]  # elsewhere n is rounded
        ax.set_yticks(doubled, [f"{n:,}" for n in doubled])
        ax.minorticks_off()
        ax.set(xlabel="bits d", title=name)
        ax.grid(False)
    axes[0].set_ylabel("samples n")
    assert image is not None
    figure.colorbar(image, ax=list(axes), label=f"share of {size.seeds} seeds solved by one step")
    axes[0].plot([], [], color=COLOURS["vermillion"], label="smallest n with 90 % of the seeds")
    figure.legend(loc="outside lower center")
    return figure


def _fits(frames: Frames) -> dict[str, tuple]:
    """Regime -> measured slope and the noise law's slope at the same sizes, where three sizes are known."""
    found = {}
    for (name,), part in frames["smallest"].drop_nulls("smallest").group_by("regime", maintain_order=True):
        if part.height >= 3:
            bits = part["bits"].to_numpy().astype(float)
            found[name] = (
                log_log_slope(bits, part["smallest"].to_numpy().astype(float)),
                log_log_slope(bits, part["law"].to_numpy()),
            )
    return found


def _draw_exponent(frames: Frames, size: SampleLaws):
    figure = new_figure(7.2, 5.4)
    ax = figure.subplots()
    fits = _fits(frames)
    for name, colour, marker in zip(fits, ("blue", "green"), ("o", "s"), strict=False):
        part = frames["smallest"].filter(pl.col("regime") == name).drop_nulls("smallest")
        bits, needed = part["bits"].to_numpy().astype(float), part["smallest"].to_numpy().astype(float)
        slope, law = fits[name]
        low, high = slope.interval
        ax.plot(
            bits,
            needed,
            marker,
            color=COLOURS[colour],
            label=f"{name}: measured; line of exponent {slope.value:.2f} ({low:.2f} to {high:.2f})",
        )
        middle = np.exp(np.log(needed).mean() - slope.value * np.log(bits).mean())
        ax.plot(bits, middle * bits**slope.value, color=COLOURS[colour], linewidth=1)
        scale = np.exp((np.log(needed) - np.log(part["law"].to_numpy())).mean())
        ax.plot(
            bits,
            scale * part["law"].to_numpy(),
            "--",
            color=COLOURS[colour],
            linewidth=1,
            label=f"{name}: shape of $N K^2 \\log N$, exponent {law.value:.2f}",
        )
    everything = frames["smallest"].drop_nulls("smallest")
    if everything.height:
        bits = np.array(sorted(everything["bits"].unique()), float)
        ax.plot(
            bits,
            everything["smallest"].min() * (bits / bits[0]) ** 2,
            ":",
            color=QUIET,
            label=r"the theorem's $d^{2+\epsilon}$ as $\epsilon \to 0$ (any constant)",
        )
        ax.set_xscale("log", base=2)
        ax.set_xticks(bits, [f"{int(d):,}" for d in bits])
        ax.minorticks_off()
    ax.set_yscale("log")
    ax.set(xlabel="bits d", ylabel="smallest n that solves 90 % of the seeds")
    ax.set_title(f"Samples that one step needs ({size.seeds} seeds, three n per doubling)")
    figure.legend(loc="outside lower center")
    return figure


def _find_exponent(frames: Frames, size: SampleLaws) -> str:
    middle = frames["smallest"].with_columns(pl.col("bits").median().over("regime").alias("middle"))
    late = _fits({"smallest": middle.filter(pl.col("bits") >= pl.col("middle"))})  # small sizes have a law of their own
    parts = [
        f"{name}: exponent {slope.value:.2f} (95 % {slope.interval.low:.2f} to {slope.interval.high:.2f}), noise law {law.value:.2f}"
        + (
            f"; on the larger half of the sizes {late[name][0].value:.2f} and {late[name][1].value:.2f}"
            if name in late
            else ""
        )
        for name, (slope, law) in _fits(frames).items()
    ]
    return f"Growth of the smallest n in d, {'; '.join(parts) or 'too few sizes solved'}. The theorem's sufficient n has exponent above 2."


def _find_phase(frames: Frames, size: SampleLaws) -> str:
    known = frames["smallest"].drop_nulls("smallest")
    cells = "; ".join(f"{regime}, d={bits}: {n:,}" for regime, bits, n, _ in known.iter_rows())
    return f"Smallest n with 90 % of {size.seeds} seeds solved: {cells}."


SMALL = SampleLaws((8, 16, 32), (8, 12, 16), 4, 6, 3)

FIGURES = (
    Figure(
        "kim-suzuki/filter-range", "Where the self-consistency filter works",
        "Theorem 7 over the filter's threshold and the number of unlabelled strings; each cell is the share of seeds that answer every "
        "held-out chain after log2 k rounded updates.",
        {"tiny": FilterRange(thresholds=(0.5, 1.5), strings=(2, 16), seeds=2), "quick": FilterRange(), "paper": LARGE["filter-range"]},
        _filter, _draw_filter, _find_filter, seconds=60, claims=("KS-23", "KS-26"),
    ),
    Figure(
        "kim-suzuki/phase", "When one step is enough",
        "Theorem 5 over bits and samples: share of seeds that answer every held-out chain after one gradient step with teacher forcing. The "
        "strength K grows with d as the concentration rule of KS-18 asks.",
        {"tiny": SMALL, "quick": SampleLaws(), "paper": LARGE_LAWS}, _law_table, _draw_phase, _find_phase, seconds=60, claims=("KS-18",),
    ),
    Figure(
        "kim-suzuki/exponent", "How many samples one step needs",
        "The smallest n at which 90 % of the seeds succeed, against d, in two regimes; with the shape of the noise law (KS-17) and of the "
        "theorem's sufficient n.",
        {"tiny": SMALL, "quick": SampleLaws(), "paper": LARGE_LAWS}, _law_table, _draw_exponent, _find_exponent, seconds=60, claims=("KS-17",),
    ),
)  # fmt: skip
