"""Figures 4, 5, 9, 10 and 11: many passes over a training set, and what its size decides."""

import dataclasses

import numpy as np
import polars as pl
from matplotlib.ticker import EngFormatter, MaxNLocator

from ...drawing import COLOURS, QUIET, new_figure
from ..figure import Figure, Frames
from .frames import measure
from .grids import AT_PAPER_SCALE, LARGE, PROBED, SMALLEST, Repetitions, shape

CUT = 1.2  # losses above it are drawn at it
PALETTE = [ink for name, ink in COLOURS.items() if name != "yellow"]


def short_ticks(ax) -> None:
    """A few ticks, thousands as k and millions as M."""
    ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.xaxis.set_major_formatter(EngFormatter(sep=""))


def members(data: pl.DataFrame, *keys: str):
    """(labels, curve) of every member."""
    return data.sort("samples").group_by(*keys, maintain_order=True)


def _draw_epochs(frames: Frames, size: Repetitions):
    figure = new_figure(7.6, 4.8)
    ax = figure.subplots()
    data = frames["data"]
    for number, name in enumerate(size.shapes):
        layers, heads = shape(name)
        part = data.filter(~pl.col("chain") & (pl.col("layers") == layers) & (pl.col("heads") == heads))
        for (_, _), curve in members(part, "seed", "rate"):
            epochs = curve["samples"].to_numpy() / size.sizes[0]
            ax.plot(epochs, curve["accuracy"], color=PALETTE[number % len(PALETTE)], linewidth=1.1, alpha=0.8,
                    linestyle=("-", "--", ":")[number // len(PALETTE) % 3])  # fmt: skip
        ax.plot(
            [],
            [],
            color=PALETTE[number % len(PALETTE)],
            linestyle=("-", "--", ":")[number // len(PALETTE) % 3],
            label=name,
        )
    chain = _chain_epochs(data, size.sizes[0])
    if chain is not None:
        ax.axvline(
            chain,
            color=COLOURS["blue"],
            linestyle="--",
            linewidth=1.6,
            label=f"with the chain: exact after {chain:.1f} passes",
        )
    ax.set_xscale("log")
    ax.set(xlabel=f"passes over N={size.sizes[0]:,} sequences", ylabel="held-out accuracy")
    ax.set_title(f"Without the chain, n={size.bits}, k={size.sparsity}, width {size.width}; {size.seeds} seeds")
    figure.legend(loc="outside lower center", ncols=4)
    return figure


def _chain_epochs(data: pl.DataFrame, number: int) -> float | None:
    """Passes over `number` sequences until every held-out chain is right, median over the members that get there."""
    part = data.filter(pl.col("chain") & (pl.col("size") == number) & (pl.col("accuracy") >= 1))
    firsts = part.group_by("seed", "rate").agg(pl.col("samples").min())
    return None if firsts.is_empty() else float(firsts["samples"].median()) / number  # pyright: ignore


def _ends(data: pl.DataFrame) -> pl.DataFrame:
    """The last evaluation of every member."""
    keys = [name for name in ("chain", "layers", "heads", "size", "seed", "rate") if name in data.columns]
    return data.sort("samples").group_by(*keys, maintain_order=True).last()


def _find_epochs(frames: Frames, size: Repetitions) -> str:
    ends = _ends(frames["data"]).filter(~pl.col("chain"))
    shapes = ", ".join(
        f"{layers}L{heads}H {_exact(part, size)}" for (layers, heads), part in ends.group_by("layers", "heads", maintain_order=True)
    )  # fmt: skip
    chain = _chain_epochs(frames["data"], size.sizes[0])
    tail = f" With the chain: exact after {chain:.1f} passes (median)." if chain is not None else ""
    return f"Members exact within {size.presentations:,} presentations without the chain: {shapes}.{tail}"


def _exact(ends: pl.DataFrame, size: Repetitions) -> str:
    """How many members ended exact; said where the others were stopped before their budget."""
    others = ends.filter(pl.col("accuracy") < 1)["samples"]
    count = f"{ends.height - len(others)} of {ends.height}"
    cut = len(others) and int(others.min()) < size.presentations - size.batch * size.every  # pyright: ignore
    return f"{count} (not exact when stopped at {others.min():,})" if cut else count


def _draw_sizes(frames: Frames, size: Repetitions):
    """One row per training-set size: accuracy, losses, and the entropy of every head, each on an axis of its own."""
    seed = _exact_seed(frames["data"], min(size.sizes))
    figure = new_figure(11.4, 2.5 * len(size.sizes) + 1.0)
    axes = figure.subplots(len(size.sizes), 3, squeeze=False, sharex=True, sharey="col")
    for (first, middle, last), number in zip(axes, size.sizes, strict=True):
        data = _one(frames["data"], number, seed)
        first.plot(data["samples"], data["accuracy"], color="black")
        _draw_losses(middle, data)
        entropy = frames["entropy"].filter((pl.col("size") == number) & (pl.col("seed") == seed))
        for (layer, head), part in members(entropy, "layer", "head"):
            last.plot(part["samples"], part["entropy"], color=PALETTE[(int(layer) - 1) % len(PALETTE)], linewidth=1.0, alpha=0.85,  # pyright: ignore
                      label=f"layer {layer}" if head == 1 else None)  # fmt: skip
        first.axhline(0.5, color=QUIET, linestyle=":", linewidth=1)
        first.set(ylabel=f"N = {number:,}", ylim=(0.4, 1.03))
        last.set_ylim(-0.03, 1.03)
    for ax, title in zip(
        axes[0], (f"held-out accuracy, seed {seed}", "loss", "entropy of every head (1 is uniform)"), strict=True
    ):
        ax.set_title(title)
    for ax in axes[-1]:
        ax.set_xlabel("sequences presented")
        short_ticks(ax)
    handles = [part for ax in axes[0] for part in ax.get_legend_handles_labels()[0]]
    figure.legend(handles, [handle.get_label() for handle in handles], loc="outside lower center", ncols=7)
    return figure


def _one(data: pl.DataFrame, number: int, seed: int) -> pl.DataFrame:
    """The curve of one seed on one training set, without the chain."""
    return data.filter(~pl.col("chain") & (pl.col("size") == number) & (pl.col("seed") == seed)).sort("samples")


def _draw_losses(ax, curve: pl.DataFrame) -> None:
    for name, colour, label in (("training_loss", "green", "training loss"), ("loss", "orange", "held-out loss")):
        ax.plot(
            curve["samples"], np.minimum(curve[name].to_numpy(), CUT), color=COLOURS[colour], linewidth=1.2, label=label
        )
    ax.axhline(np.log(2), color=QUIET, linestyle=":", linewidth=1, label="chance")
    ax.set_ylim(-0.03, CUT + 0.03)


def _exact_seed(data: pl.DataFrame, number: int) -> int:
    """The first member that ends exact on that training set, else the first."""
    ends = _ends(data).filter(~pl.col("chain") & (pl.col("size") == number)).sort("seed")
    exact = ends.filter(pl.col("accuracy") >= 1)
    return int((exact if exact.height else ends)["seed"][0])


LEARNED = 0.99  # accuracy; with a fixed set and no goal a member may end one held-out sequence short of exact


def _find_sizes(frames: Frames, size: Repetitions) -> str:
    """Who learns, and whether heads are sharp before or without it: at half of the least entropy of the start."""
    keys = ["layers", "heads", "size", "seed", "rate"]
    low = frames["entropy"].filter(~pl.col("chain")).group_by(*keys, "samples").agg(pl.col("entropy").min())
    joined = frames["data"].filter(~pl.col("chain")).join(low, on=[*keys, "samples"]).sort("samples")
    each = joined.group_by(*keys, maintain_order=True).agg(
        learned=pl.col("samples").filter(pl.col("accuracy") > LEARNED).first(),
        sharp=pl.col("samples").filter(pl.col("entropy") < pl.col("entropy").first() / 2).first(),
        last=pl.col("accuracy").last(),
    )
    parts = []
    for number in size.sizes:
        here = each.filter(pl.col("size") == number).sort("layers", "heads")
        shapes = here.group_by("layers", "heads", maintain_order=True)
        parts.append(
            f"N={number:,}: " + ", ".join(f"{layers}L{heads}H {_passed(part)}" for (layers, heads), part in shapes)
        )
    learned, others = each.filter(pl.col("learned").is_not_null()), each.filter(pl.col("learned").is_null())
    text = f"Members that pass accuracy {LEARNED}: {'; '.join(parts)}. The sharpest head loses half of its entropy in "
    if learned.height:
        when = (learned["sharp"] / learned["learned"]).median()
        text += f"{learned['sharp'].count()} of the {learned.height} that pass" + (
            "" if when is None else f" (median: after {when:.0%} of the time it takes)"
        )
    if others.height:
        text += f"{' and in ' if learned.height else ''}{others['sharp'].count()} of the {others.height} that do not"
    return text + "."


def _passed(members: pl.DataFrame) -> str:
    count = members["learned"].count()
    more = f"after {members['learned'].median():,.0f}" if count else f"ending at {members['last'].max():.2f}"
    return f"{count} of {members.height} ({more})"


def _draw_final(frames: Frames, size: Repetitions):
    ends = _ends(frames["data"]).filter(~pl.col("chain"))
    figure = new_figure(2.5 * len(size.sizes) + 1.6, 3.4)
    axes = np.atleast_1d(figure.subplots(1, len(size.sizes), sharey=True))
    layers, heads = (sorted(ends[name].unique()) for name in ("layers", "heads"))
    image = None
    for ax, number in zip(axes, size.sizes, strict=True):
        grid = np.full((len(layers), len(heads)), np.nan)
        for (layer, head), group in ends.filter(pl.col("size") == number).group_by("layers", "heads"):
            place = layers.index(layer), heads.index(head)
            grid[place] = group["accuracy"].max()
            ax.text(place[1] + 0.5, place[0] + 0.5, f"{grid[place]:.2f}", ha="center", va="center", fontsize=9,
                    color="black" if grid[place] > 0.75 else "white")  # fmt: skip
        image = ax.pcolormesh(grid, cmap="cividis", vmin=0.5, vmax=1, edgecolors="white")
        ax.set_xticks(np.arange(len(heads)) + 0.5, heads)
        ax.set_yticks(np.arange(len(layers)) + 0.5, layers)
        ax.set(title=f"N={number:,}", xlabel="heads")
        ax.grid(False)
    axes[0].set_ylabel("layers")
    assert image is not None
    figure.colorbar(image, ax=list(axes), label="best final accuracy; chance is 0.5")
    return figure


def _find_final(frames: Frames, size: Repetitions) -> str:
    ends = _ends(frames["data"])
    bare = ends.filter(~pl.col("chain"))
    text = (
        f"Without the chain (n={size.bits}, k={size.sparsity}) the best of {bare.height} members ends at accuracy "
        f"{bare['accuracy'].max():.3f}, the mean at {bare['accuracy'].mean():.3f}."
    )
    passes = {number: _chain_epochs(frames["data"], number) for number in size.sizes}
    told = [f"{count:.1f} passes over N={number:,}" for number, count in passes.items() if count is not None]
    if not ends["chain"].any():
        return text
    if told:
        return text + f" With the chain: exact after {', '.join(told)} (medians)."
    best = ends.filter(pl.col("chain")).group_by("size").agg(pl.col("accuracy").max()).sort("size")
    ended = ", ".join(f"{accuracy:.3f} on N={number:,}" for number, accuracy in best.iter_rows())
    return text + f" With the chain nobody is exact; the best ends at {ended}."


def _draw_grid(frames: Frames, size: Repetitions):
    """Two rows for each shape: accuracy, and below it the losses."""
    figure = new_figure(3.1 * len(size.sizes) + 0.8, 2.9 * len(size.shapes) + 0.9)
    axes = figure.subplots(2 * len(size.shapes), len(size.sizes), squeeze=False, sharex=True, sharey="row")
    for row, name in enumerate(size.shapes):
        layers, heads = shape(name)
        for column, number in enumerate(size.sizes):
            above, below = axes[2 * row, column], axes[2 * row + 1, column]
            here = (pl.col("layers") == layers) & (pl.col("heads") == heads) & (pl.col("size") == number)
            for (_, _), curve in members(frames["data"].filter(here & ~pl.col("chain")), "seed", "rate"):
                above.plot(curve["samples"], curve["accuracy"], color="black", linewidth=1.2)
                _draw_losses(below, curve)
            above.axhline(0.5, color=QUIET, linestyle=":", linewidth=1)
            above.set(title=f"{name}, N={number:,}", ylim=(0.4, 1.03))
        axes[2 * row, 0].set_ylabel("held-out\naccuracy")
        axes[2 * row + 1, 0].set_ylabel("loss")
    for ax in axes[-1]:
        ax.set_xlabel("sequences presented")
        short_ticks(ax)
    named = dict(zip(*reversed(axes[1, 0].get_legend_handles_labels()), strict=True))  # one of each
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=3)
    return figure


TINY = Repetitions(bits=12, sparsity=2, sizes=(300, 1000), presentations=10_000, seeds=1, **SMALLEST)
ALL = (
    "Adam with linear decay of the rate; the held-out inputs are never trained on. "
    + AT_PAPER_SCALE
    + " "
    + PROBED
    + " "
)
FIGURES = (
    Figure(
        "wen/4", "Many passes over a small set, without the chain",
        "Held-out accuracy of every member; the dashed line is the same set with the chain. The released code trains one layer at "
        "1e-4 and deeper nets at 6e-5. Four of its sixteen shapes at paper scale. " + ALL,
        {"tiny": dataclasses.replace(TINY, sizes=(300,), with_chain=True, seeds=2),
         "quick": Repetitions(sizes=(4000,), presentations=400_000, shapes=("1L1H", "1L2H", "1L4H", "1L8H"), with_chain=True, seeds=2),
         "paper": LARGE["4"]}, measure, _draw_epochs, _find_epochs, seconds=60, claims=("W24",),
    ),
    Figure(
        "wen/5", "A small set learned, a large one not?",
        "The same number of presentations from a small and a large training set, without the chain: accuracy and losses (cut at 1.2) of one seed, one that learns the small "
        "set where there is one, and the entropy of every head. The finding counts all seeds. " + ALL,
        {"tiny": TINY, "quick": Repetitions(sizes=(4000, 60_000), presentations=400_000, shapes=("1L4H",), seeds=3, stops=False),
         "paper": LARGE["5"]}, measure, _draw_sizes, _find_sizes, seconds=60, claims=("W24", "W23"),
    ),
    Figure(
        "wen/9", "A harder parity without the chain stays at chance",
        "Best final accuracy over rates and seeds; one layer at quick scale; at paper scale three of the 36 shapes, two of the three sizes and one "
        "rate. The printed caption says with CoT; the text and the data are without it. " + ALL,
        {"tiny": dataclasses.replace(TINY, sparsity=6),
         "quick": Repetitions(sparsity=8, sizes=(1000, 4000, 16_000), presentations=150_000, shapes=("1L1H", "1L2H", "1L4H", "1L8H"), with_chain=True, seeds=1),
         "paper": LARGE["9"]},
        measure, _draw_final, _find_final, seconds=90, claims=("W24",),
    ),
    Figure(
        "wen/10", "Training-set size against shape",
        "Accuracy and losses for several set sizes and shapes, without the chain. The paper's 1-layer 1-head is 1-layer 2-head in "
        "the released code. " + ALL,
        {"tiny": TINY,
         "quick": Repetitions(sizes=(1000, 4000, 60_000), presentations=400_000, shapes=("1L2H", "1L4H", "1L8H"), seeds=1, stops=False),
         "paper": LARGE["10"]},
        measure, _draw_grid, _find_sizes, seconds=60, claims=("W24",),
    ),
    Figure(
        "wen/11", "Entropy of every head, small and large set",
        "As figure 5 for two layers; each line is a head. " + ALL,
        {"tiny": TINY, "quick": Repetitions(sizes=(4000, 60_000), presentations=200_000, shapes=("2L2H",), seeds=1, stops=False),
         "paper": LARGE["11"]},
        measure, _draw_sizes, _find_sizes, seconds=60, claims=("W23",),
    ),
)  # fmt: skip
