"""Figure 1b: attention entropy falls as accuracy jumps."""

import polars as pl

from ...drawing import new_figure
from ..figure import Figure, Frames
from .complexity_figures import NAMES
from .frames import measure
from .grids import LARGE, SMALLEST, Curves
from .pass_figures import ALL, PALETTE, members, short_ticks


def _draw_drop(frames: Frames, size: Curves):
    figure = new_figure(9.6, 4.0)
    axes = figure.subplots(1, 2, sharey=True)
    seed = _shown_seed(frames["data"])
    for ax, chain in zip(axes, (True, False), strict=True):
        data = frames["data"].filter((pl.col("chain") == chain) & (pl.col("seed") == seed))
        ax.plot(data["samples"], data["accuracy"], color="black", label="accuracy (whole sequences)")
        entropy = frames["entropy"].filter(
            (pl.col("chain") == chain) & (pl.col("seed") == seed) & (pl.col("layer") == 1)
        )
        for (head,), part in members(entropy, "head"):
            ax.plot(
                part["samples"],
                part["entropy"],
                color=PALETTE[(int(head) - 1) % len(PALETTE)],
                linewidth=1.2,
                label=f"entropy, head {head}",
            )  # pyright: ignore
        ax.set(title=f"{NAMES[chain]}, k={size.sparsity}, seed {seed}", xlabel="sequences seen", ylim=(-0.03, 1.03))
        short_ticks(ax)
    axes[0].set_ylabel("accuracy; normalised entropy (layer 1)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


def _shown_seed(data: pl.DataFrame) -> int:
    """A seed that succeeds in both panels where there is one."""
    ends = data.sort("samples").group_by("chain", "seed").agg(pl.col("accuracy").last())
    rank = ends.group_by("seed").agg(pl.col("accuracy").sum()).sort("accuracy", "seed", descending=[True, False])
    return int(rank["seed"][0])


def _find_drop(frames: Frames, size: Curves) -> str:
    low = frames["entropy"].group_by("chain", "seed", "samples").agg(pl.col("entropy").min())
    joined = frames["data"].join(low, on=["chain", "seed", "samples"]).sort("samples")
    parts = []
    for chain in (True, False):
        part = joined.filter(pl.col("chain") == chain)
        passed = part.filter(pl.col("accuracy") > 0.99).group_by("seed", maintain_order=True).first()
        total = part["seed"].n_unique()
        if passed.is_empty():
            parts.append(f"{NAMES[chain].capitalize()}: none of {total} seeds passes 0.99.")
            continue
        parts.append(
            f"{NAMES[chain].capitalize()}: {passed.height} of {total} seeds pass 0.99, after {passed['samples'].median():,.0f} sequences "
            f"(median), with the sharpest head's entropy at {passed['entropy'].median():.2f} (start {part['entropy'][0]:.2f})."
        )
    return " ".join(parts)


FIGURES = (
    Figure(
        "wen/1b", "Entropy falls as accuracy jumps",
        "Normalised entropy (Eq. 1) of the heads of layer 1 and held-out accuracy, one seed; the finding counts all. At paper scale the members of "
        "figure 1a, accuracy without the chain measured every 32,768 sequences. " + ALL,
        {"tiny": Curves(sparsity=2, seeds=4, bits=14, budget=10_000, stops=False, **SMALLEST),
         "quick": Curves(sparsity=2, seeds=3, budget=60_000, every=10, stops=False), "paper": LARGE["1b"]}, measure, _draw_drop, _find_drop, seconds=30, claims=("W23",),
    ),
)  # fmt: skip
