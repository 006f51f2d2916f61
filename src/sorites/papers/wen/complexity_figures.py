"""Figures 1a, 2 and 3a: samples until everything is right, over k, censored at the budget."""

import dataclasses
import math

import numpy as np
import polars as pl
from matplotlib.colors import LogNorm

from ...drawing import COLOURS, QUIET, new_figure
from ...statistics import Median, compare_growth, median_time
from ..figure import Figure, Frames
from .experiments import best
from .frames import measure
from .grids import AT_PAPER_SCALE, LARGE, SMALLEST, Complexity

NAMES = {True: "with the chain", False: "without the chain"}
ENOUGH = 6  # members from which on a median has a 95 % interval
INKS = {True: COLOURS["blue"], False: COLOURS["vermillion"]}


def _best(frame: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame(best(frame.to_dicts()))


def _lines(ax, data: pl.DataFrame, runs: pl.DataFrame, size: Complexity) -> None:
    """Where every run stopped: dots were exact there, triangles were not. Medians of `data`, with 95 % intervals where
    the members are enough for one."""
    room = _room(data)
    for chain in (True, False):
        part = data.filter(pl.col("chain") == chain)
        if part.is_empty():
            continue
        middles, shift = [], _shift(data, chain)
        for (sparsity,), group in part.sort("sparsity").group_by("sparsity", maintain_order=True):
            x = float(sparsity) + shift  # pyright: ignore
            _stops(ax, x, runs.filter((pl.col("chain") == chain) & (pl.col("sparsity") == sparsity)), INKS[chain], room)
            found = median_time(group["samples"].to_numpy(), group["solved"].to_numpy())
            middles.append((x, found.value if math.isfinite(found.value) else np.nan))
            if math.isfinite(found.value) and found.interval.low > 0:
                top = min(found.interval.high, size.budget)
                ax.plot([x, x], [found.interval.low, top], color=INKS[chain], linewidth=2.4, alpha=0.5)
        ax.plot(*zip(*middles, strict=True), "o-", color=INKS[chain], label=f"{NAMES[chain]}: median")
    right = "exact" if size.threshold == 1 else "solved"
    ax.scatter([], [], s=16, color=QUIET, alpha=0.6, linewidth=0, label=f"a run stopped here: {right}")
    if not runs["solved"].all():
        ax.scatter(
            [], [], s=26, marker="^", facecolor="none", edgecolor=QUIET, label=f"a run stopped here: not {right}"
        )


def _room(data: pl.DataFrame) -> float:
    """Between two k."""
    gaps = np.diff(sorted(data["sparsity"].unique()))
    return float(min(gaps)) if len(gaps) else 1.0


def _shift(data: pl.DataFrame, chain: bool) -> float:
    """With and without stand beside each other where both are drawn."""
    return (0.14 if chain else -0.14) * _room(data) * (data["chain"].n_unique() > 1)


def _stops(ax, x: float, runs: pl.DataFrame, ink: str, room: float) -> None:
    """Side by side, so that each can be counted."""
    runs = runs.sort("samples", "solved")
    places = x + np.linspace(-0.09, 0.09, max(runs.height, 2))[: runs.height] * room
    samples, solved = runs["samples"].to_numpy(), runs["solved"].to_numpy()
    ax.scatter(places[solved], samples[solved], s=14, color=ink, alpha=0.5, linewidth=0)
    ax.scatter(places[~solved], samples[~solved], s=26, marker="^", facecolor="none", edgecolor=ink, linewidth=0.9)


def _ticks(runs: pl.DataFrame) -> tuple[list[int], list[str]]:
    """Every k, and below it how many of its runs were exact when they stopped."""
    sizes, labels = sorted(runs["sparsity"].unique()), []
    for k in sizes:
        counts = []
        for chain, word in ((True, "with"), (False, "without")):
            part = runs.filter((pl.col("sparsity") == k) & (pl.col("chain") == chain))
            counts += [f"{word} {part['solved'].sum()}/{part.height}"] if part.height else []
        labels.append("\n".join([str(k), *counts]))
    return sizes, labels


def _medians(data: pl.DataFrame, chain: bool) -> dict[int, Median]:
    """Of the members with or without the chain, by k."""
    part = data.filter(pl.col("chain") == chain).sort("sparsity").group_by("sparsity", maintain_order=True)
    return {int(k): median_time(group["samples"].to_numpy(), group["solved"].to_numpy()) for (k,), group in part}  # pyright: ignore


def _draw_lines(frames: Frames, size: Complexity):
    figure = new_figure(7.2, 5.4)
    ax = figure.subplots()
    data = _best(frames["data"])
    _lines(ax, data, frames["data"], size)
    if frames["data"]["rate"].n_unique() > 1:
        for chain in (True, False):
            all_rates = [(k, each.value) for k, each in _medians(frames["data"], chain).items()]
            known = [(k + _shift(data, chain), value) for k, value in all_rates if math.isfinite(value)]
            if known:
                ax.plot(*zip(*known, strict=True), ":", color=INKS[chain], label=f"{NAMES[chain]}: median, all rates")
    ax.set_yscale("log")
    ax.axhline(size.budget, color=QUIET, linestyle=":", linewidth=1)
    ax.text(0.01, size.budget, f"budget {size.budget:,}", transform=ax.get_yaxis_transform(), va="bottom", fontsize=8,
            color=QUIET)  # fmt: skip
    ax.set_xticks(*_ticks(frames["data"]))
    ax.set(xlabel="secret bits k; runs exact when they stopped", ylabel="sequences until every held-out one is right")
    interval = ", 95 % intervals" if size.seeds >= ENOUGH else ""
    counts = sorted({group.height for _, group in data.group_by("chain", "sparsity")})
    number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    members = (
        f"best of {len(size.rates)} rates for each of {number} secrets"
        if len(size.rates) > 1
        else f"{number} members each"
    )
    ax.set_title(f"{size.shapes[0]}, n={size.bits}, width {size.width}: medians{interval}, {members}", fontsize=10)
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def growth_sentence(data: pl.DataFrame, chain: bool) -> str:
    """The computed verdict on linear against exponential growth."""
    part = data.filter(pl.col("chain") == chain)
    if part["sparsity"].n_unique() < 3 or not part["solved"].any():
        return f"{NAMES[chain].capitalize()}: too few sizes or successes to compare growth laws."
    if not part.filter(pl.col("sparsity") > part["sparsity"].min())["solved"].any():
        return f"{NAMES[chain].capitalize()}: solved at the smallest k alone, so growth laws cannot be compared."
    found = compare_growth(*(part[name].to_numpy() for name in ("sparsity", "samples", "solved")))
    return (
        f"{NAMES[chain].capitalize()}: {found.verdict} (AIC linear minus exponential {found.difference:+.1f}; "
        f"factor per bit {found.exponential.growth:.1f}, added per bit {found.linear.growth:,.0f})."
    )


def _find_lines(frames: Frames, size: Complexity) -> str:
    data = _best(frames["data"])
    parts = []
    for chain in (True, False):
        if not (data["chain"] == chain).any():
            continue
        parts.append(f"{NAMES[chain].capitalize()}: {_listed(data, chain)}.")
        if frames["data"]["rate"].n_unique() > 1:
            parts.append(f"Every rate a member: {_listed(frames['data'], chain)}.")
        parts.append(growth_sentence(data, chain))
    return " ".join(parts)


def _listed(data: pl.DataFrame, chain: bool) -> str:
    """Median and solved members for each k."""
    found = _medians(data, chain).items()
    return ", ".join(
        f"k={k}: {'' if math.isfinite(each.value) else '> '}{each.bound:,.0f} ({each.solved}/{each.members})"
        for k, each in found
    )


def _draw_heat(frames: Frames, size: Complexity):
    """Shapes by k, with the chain beside without it; below each median how many members were exact."""
    data = _best(frames["data"])
    sizes = sorted(data["sparsity"].unique())
    shapes = sorted({(row["layers"], row["heads"]) for row in data.iter_rows(named=True)})
    figure = new_figure(2.0 + 1.05 * 2 * len(sizes), 1.9 + 0.75 * len(shapes))
    axes = figure.subplots(1, 2, sharey=True)
    image, low = None, min(float(data["samples"].min()), size.budget / 10)  # pyright: ignore
    for ax, chain in zip(axes, (True, False), strict=True):
        grid = np.full((len(shapes), len(sizes)), np.nan)
        for (layers, heads, k), group in data.filter(pl.col("chain") == chain).group_by("layers", "heads", "sparsity"):
            row, column = shapes.index((layers, heads)), sizes.index(k)  # pyright: ignore
            found = median_time(group["samples"].to_numpy(), group["solved"].to_numpy())
            grid[row, column] = found.bound
            light = math.log(max(found.bound, 1) / low) > 0.5 * math.log(size.budget / low)
            median = ("" if math.isfinite(found.value) else "> ") + _short(found.bound)
            for words, lift, points in ((median, -0.1, 9), (f"{found.solved}/{found.members}", 0.22, 7)):
                ax.text(column + 0.5, row + 0.5 + lift, words, ha="center", va="center", fontsize=points,
                        color="black" if light else "white")  # fmt: skip
        image = ax.pcolormesh(grid, cmap="cividis", norm=LogNorm(low, size.budget), edgecolors="white")
        ax.set_xticks(np.arange(len(sizes)) + 0.5, sizes)
        ax.set_yticks(np.arange(len(shapes)) + 0.5, [_shape_name(*each) for each in shapes])
        ax.set(title=NAMES[chain], xlabel="secret bits k; below a median: secrets exact")
        ax.grid(False)
    axes[0].invert_yaxis()
    assert image is not None
    figure.colorbar(image, ax=list(axes), label="sequences until exact, median")
    return figure


def _shape_name(layers: int, heads: int) -> str:
    return f"{layers} layer{'s' if layers > 1 else ''},\n{heads} head{'s' if heads > 1 else ''}"


def _short(value: float) -> str:
    return f"{value / 1e6:.2g}M" if value >= 1e6 else f"{value / 1e3:.0f}k"


def _find_heat(frames: Frames, size: Complexity) -> str:
    data = _best(frames["data"])
    keys = ["layers", "heads", "sparsity"]
    pairs = data.filter(pl.col("chain")).join(data.filter(~pl.col("chain")), on=[*keys, "seed"], suffix="_bare")
    pairs = pairs.filter(pl.col("sparsity") > 1)
    if pairs.is_empty():
        return "No shape was trained both with and without the chain."
    fewer = pairs.filter((pl.col("samples") < pl.col("samples_bare")) & pl.col("solved")).height
    return (
        f"With the chain fewer sequences are needed in {fewer} of {pairs.height} pairs of members (same shape, k > 1, seed); "
        f"censored times count as their lower bound."
    )


def _draw_line(frames: Frames, size: Complexity):
    figure = new_figure(6.4, 4.2)
    ax = figure.subplots()
    data = _best(frames["data"])
    _lines(ax, data, frames["data"], size)
    if (line := line_fit(data)) is not None:
        slope, base, score = line
        x = np.array([min(size.chained), max(size.chained)], float)
        ax.plot(x, base + slope * x, "--", color=QUIET, label=f"line: {base:,.0f} + {slope:,.0f} k, R² = {score:.2f}")
    ax.set_xticks(*_ticks(frames["data"]))
    ax.set_ylim(0)
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.set(xlabel="secret bits k; runs solved when they stopped", ylabel="sequences until solved")
    ax.set_title(
        f"{size.shapes[0]} with the chain, n={size.bits}, width {size.width}; solved: {size.threshold:.1%} right"
    )
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def line_fit(data: pl.DataFrame) -> tuple[float, float, float] | None:
    """Slope, intercept and R^2 of the medians against k, where two or more are known."""
    parts = data.sort("sparsity").group_by("sparsity", maintain_order=True)
    medians = [(k, median_time(part["samples"].to_numpy(), part["solved"].to_numpy()).value) for (k,), part in parts]
    x, y = np.array([(k, value) for k, value in medians if math.isfinite(value)], float).reshape(-1, 2).T
    if len(x) < 2:
        return None
    slope, base = np.polyfit(x, y, 1)
    left = float(((y - base - slope * x) ** 2).sum())
    return float(slope), float(base), 1 - left / max(float(((y - y.mean()) ** 2).sum()), 1e-12)


def _find_line(frames: Frames, size: Complexity) -> str:
    data = _best(frames["data"])
    count = f"{data['solved'].sum()} of {data.height} members solved."
    line = line_fit(data)
    if line is None:
        return count
    slope, base, score = line
    return f"{count} Medians against k: {base:,.0f} + {slope:,.0f} k, R² = {score:.2f}. " + growth_sentence(data, True)


QUICK = Complexity(seeds=8)
TINY = Complexity(bits=14, chained=(1, 2), bare=(1, 2), budget=10_000, seeds=2, **SMALLEST)
CAPTION = (
    "Sequences seen at the first evaluation at which every target of 2,048 held-out sequences is right; one pass over fresh "
    "data, Adam with linear decay to zero over the budget. Medians by Kaplan-Meier and, from 6 members on, 95 % intervals by "
    "the sign test. Small marks are runs, at every rate, where they stopped: dots were exact, triangles were not, and the counts "
    "below k say how many were. At paper scale, as in the paper, "
    "the best of three rates for each secret (1a, 2); nobody there was stopped before 10^7 sequences, and accuracy without the chain is "
    "measured every 32,768. " + AT_PAPER_SCALE
)
FIGURES = (
    Figure(
        "wen/1a", "Sample complexity with and without the chain", CAPTION,
        {"tiny": TINY, "quick": QUICK, "paper": LARGE["1a"]}, measure, _draw_lines, _find_lines, seconds=400, claims=("W21",),
    ),
    Figure(
        "wen/2a", "Sample complexity over layers and heads", CAPTION + " Cells with > are lower bounds; below each median the members that were exact; three of the shapes at paper scale.",
        {"tiny": TINY,
         "quick": Complexity(bits=20, chained=(1, 2, 3), bare=(1, 2, 3), budget=100_000, seeds=2, shapes=("1L1H", "1L2H", "2L1H", "2L2H")),
         "paper": LARGE["2a"]}, measure, _draw_heat, _find_heat, seconds=500, claims=("W21",),
    ),
    Figure(
        "wen/2b", "Sample complexity of one layer, one head", CAPTION,
        {"tiny": TINY, "quick": Complexity(seeds=4, shapes=("1L1H",), budget=400_000, bare=(1, 2, 3)),
         "paper": LARGE["2b"]}, measure, _draw_lines, _find_lines, seconds=150, claims=("W21", "W27"),
    ),
    Figure(
        "wen/2c", "Sample complexity of the deepest shape",
        CAPTION + " At quick scale the shape is 2L4H, at paper scale the paper's 4L4H (the data of figure 1a).",
        {"tiny": TINY, "quick": Complexity(seeds=2, shapes=("2L4H",), budget=100_000, bare=(1, 2, 3)),
         "paper": LARGE["1a"]}, measure, _draw_lines, _find_lines, seconds=300, claims=("W21",),
    ),
    Figure(
        "wen/3a", "With the chain, samples against k",
        "One layer, one head, taught with the chain. The paper says exact match and 10^7; its released code stops at 0.995 and 10^6. "
        "At paper scale every second of its k, and one rate. " + AT_PAPER_SCALE,
        {"tiny": dataclasses.replace(TINY, bare=()),
         "quick": Complexity(bits=32, chained=(4, 8, 12, 16), bare=(), budget=400_000, threshold=0.995, seeds=4, every=8, shapes=("1L1H",)),
         "paper": LARGE["3a"]}, measure, _draw_line, _find_line, seconds=150, claims=("W21",),
    ),
)  # fmt: skip
