"""The figure wen/plateau: where members stop, and which function they have learned there."""

import numpy as np
import polars as pl

from ...drawing import COLOURS, QUIET, new_figure
from ...theory.plateau import level
from ...training import Lab
from ..figure import Figure, Frames
from .experiments import SMALL_NETS
from .grids import AT_PAPER_SCALE
from .pass_figures import short_ticks
from .plateau import LARGE, TINY, Plateaus, stopped

TINTS = ("blue", "vermillion", "green", "purple", "orange")


def _measure(size: Plateaus, lab: Lab) -> Frames:
    return {name: pl.DataFrame(rows) for name, rows in size.tables(lab).items()}


def subset_name(subset: int) -> str:
    """ "∅", "1", "12": the secret bits in it, in their order."""
    return "".join(str(place + 1) for place in range(subset.bit_length()) if subset >> place & 1) or "∅"


def _draw(frames: Frames, size: Plateaus):
    wide = [2 ** int(k) for k in size.sparsities]
    figure = new_figure(4.6 + 0.45 * sum(wide), 1.6 + 0.3 * max(4, size.seeds * len(size.rates)))
    axes = np.atleast_1d(figure.subplots(1, 1 + len(wide), width_ratios=[max(wide), *wide]))
    left = axes[0]
    for number, k in enumerate(size.sparsities):
        curves = frames["curves"].filter(pl.col("sparsity") == k)
        for place, (_, part) in enumerate(curves.group_by("seed", "rate", maintain_order=True)):
            label = f"k = {k}" if place == 0 else None
            left.plot(
                part["samples"],
                part["accuracy"],
                color=COLOURS[TINTS[number % len(TINTS)]],
                linewidth=0.9,
                alpha=0.8,
                label=label,
            )
    for gates in range(1, max(size.sparsities)):
        left.axhline(level(gates), color=QUIET, linestyle="--", linewidth=0.9,
                     label=r"$1/2 + 2^{-1-a}$, a = 1, 2, ..." if gates == 1 else None)  # fmt: skip
    left.set(xlabel="sequences seen", ylabel="held-out accuracy", ylim=(0.45, 1.02), title="without the chain")
    short_ticks(left)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    image = None
    for ax, k in zip(axes[1:], size.sparsities, strict=True):
        data = frames["data"].filter(pl.col("sparsity") == k).sort("seed", "rate", "subset")
        members = frames["members"].filter(pl.col("sparsity") == k).sort("seed", "rate")
        grid = data["coefficient"].to_numpy().reshape(members.height, -1)
        image = ax.pcolormesh(grid, cmap="PuOr", vmin=-1, vmax=1)
        ax.set_xticks(np.arange(grid.shape[1]) + 0.5, [subset_name(each) for each in range(grid.shape[1])])
        ax.set_yticks(
            np.arange(len(grid)) + 0.5,
            [f"{row['seed']}: {row['accuracy']:.2f}" for row in members.iter_rows(named=True)],
        )
        ax.invert_yaxis()
        ax.set(title=f"k = {k}", xlabel="secret bits in the subset")
        ax.grid(False)
    axes[1].set_ylabel("seed: accuracy")
    assert image is not None
    figure.colorbar(image, ax=list(axes[1:]), label="Fourier coefficient of the answer", shrink=0.9)
    return figure


def _find(frames: Frames, size: Plateaus) -> str:
    parts = []
    for k in size.sparsities:
        members = frames["members"].filter(pl.col("sparsity") == k).to_dicts()
        halted = [member for member in members if stopped(member)]
        said = ", ".join(f"{member['accuracy']:.3f} with {member['formula']}" for member in halted)
        solved = sum(member["solved"] for member in members)
        parts.append(
            f"k={k}: {solved} of {len(members)} solve, {len(halted)} stop between" + (f" ({said})" if halted else "")
        )
    off = [abs(row["coefficient"] - row["law"]) for member in frames["members"].to_dicts() if stopped(member)
           for row in frames["data"].filter((pl.col("sparsity") == member["sparsity"]) & (pl.col("seed") == member["seed"])
                                            & (pl.col("rate") == member["rate"])).to_dicts()]  # fmt: skip
    end = (
        f" No coefficient of theirs is further than {max(off):.2f} from those of these formulas (negations of bits left out)."
        if off
        else ""
    )
    return "; ".join(parts) + "." + end


FIGURES = (
    Figure(
        "wen/plateau", "What members have learned that stop half way",
        "One layer, one head, without the chain. Left: accuracy of every member; dashed, 1/2 + 2^(-1-a). Right: Fourier coefficients of each "
        "member's likeliest answer at the end, over the subsets of the secret bits, from all held-out sequences: the parity alone where it is solved, "
        f"a formula that reads each secret bit once, with a ANDs or ORs in the place of as many XORs, where it has stopped. {SMALL_NETS} {AT_PAPER_SCALE}",
        {"tiny": TINY, "quick": Plateaus(), "paper": LARGE},
        _measure, _draw, _find, seconds=90, claims=("W27",),
    ),
)  # fmt: skip
