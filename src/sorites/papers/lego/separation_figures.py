"""What separates the actions in the decoder."""

import dataclasses

import numpy as np
import polars as pl

from ...drawing import COLOURS, new_figure
from ...training import Lab
from ..figure import Figure, Frames
from .grids import LARGE, SMALL, TINY, Study, ensemble


def separation(size: Study, ensembles: dict[str, dict[str, np.ndarray]]) -> pl.DataFrame:
    """Every way, action, seed, check and length; attention at the last check."""
    rows = []
    for way, found in ensembles.items():
        for arm, name in enumerate(size.actions):
            for seed in range(size.seeds):
                member = arm * size.seeds + seed
                for check, step in enumerate(found["step"]):
                    for at, length in enumerate(size.lengths):
                        rows.append({
                            "way": way, "action": name, "seed": seed, "step": int(step), "length": length,
                            "right": float(found["values"][check, member, at]),
                            "clauses": float(found["clauses"][check, member, at]),
                            "loss": float(found["loss"][check, member]),
                            "predicate": float(found["predicate"][member, at, :length].mean()),
                            "answer": float(found["answer"][member, at, :length].mean()),
                        })  # fmt: skip
    return pl.DataFrame(rows)


WAYS = {  # in words
    "fresh": "fresh sentences",
    "fixed": "a fixed set",
    "fresh-decay": "fresh, rate decays to 0",
    "fixed-residual": "a fixed set, residual path",
    "fresh-residual": "fresh, residual path",
    "fast-decay": "fresh, 5 x rate, decays",
}
ACTIONS = {
    "S3/itself": "S3 on itself",
    "A5/itself": "A5 on itself",
    "C6*20": "C6, 20 names each",
    "S5[6]": "S5, six of 120",
}


def _draw_separation(frames: Frames, size: Study):
    """A panel for each way of training, a row for each action, a colour for each length."""
    data = frames["data"].filter(pl.col("step") == pl.col("step").max().over("way"))
    ways = data["way"].unique(maintain_order=True).to_list()
    lengths = [length for length in size.lengths if length > size.length][-3:]
    figure = new_figure(1.6 + 2.3 * len(ways), 1.7 + 0.34 * len(size.actions))
    axes = np.atleast_1d(figure.subplots(1, len(ways), sharey=True))
    for ax, way in zip(axes, ways, strict=True):
        for length, (colour, marker) in zip(lengths, (("sky", "o"), ("blue", "D"), ("black", "s")), strict=False):
            part = data.filter((pl.col("way") == way) & (pl.col("length") == length))
            for height, name in enumerate(size.actions):
                values = part.filter(pl.col("action") == name)["right"].to_numpy()
                ax.plot([values.min(), values.max()], [height] * 2, color=COLOURS[colour], linewidth=2, alpha=0.35)
                ax.plot(values.mean(), height, marker, color=COLOURS[colour], markersize=5,
                        label=f"test length {length}" if height == 0 else None)  # fmt: skip
        seeds = data.filter(pl.col("way") == way)["seed"].n_unique()
        ax.set(xlim=(-0.05, 1.05), xticks=(0, 0.5, 1), xlabel="every value right")
        ax.set_title(f"{WAYS.get(way, way)}\nmean, range of {seeds} seed{'s' if seeds > 1 else ''}", fontsize=9)
        ax.set_yticks(range(len(size.actions)), [ACTIONS.get(name, name) for name in size.actions])
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(lengths))
    return figure


def _find_separation(frames: Frames, size: Study) -> str:
    data = frames["data"].filter(pl.col("step") == pl.col("step").max().over("way"))
    easy, hard = size.pair
    parts = []
    for way in data["way"].unique(maintain_order=True):
        part = data.filter((pl.col("way") == way) & (pl.col("length") == size.lengths[-2]))
        by = {name: part.filter(pl.col("action") == name) for name in (easy, hard)}
        gap = by[easy]["right"].mean() - by[hard]["right"].mean()  # pyright: ignore
        loss = " / ".join(f"{by[name]['loss'].median():.0e}" for name in (easy, hard))
        parts.append(f"{way} {gap:+.2f} (loss {loss})")
    spread = (
        data.filter(pl.col("length") == size.lengths[-2])
        .group_by("action", maintain_order=True)
        .agg(pl.col("right").mean())
    )
    ranked = ", ".join(f"{name} {value:.2f}" for name, value in spread.sort("right", descending=True).iter_rows())
    return f"{easy} minus {hard} at L={size.lengths[-2]}, by way of training: {'; '.join(parts)}. Mean over ways, best first: {ranked}."


def measure_ways(size: Study, lab: Lab) -> Frames:
    return {"data": separation(size, {way: ensemble(size, way, lab)[1] for way in size.ways})}


COMPARED = dataclasses.replace(
    SMALL, actions=("C6", "S5", "C6*20", "S5[6]"), ways=("fresh", "fresh-residual"), seeds=2, steps=2_000, checks=2
)
FIGURES = (
    Figure(
        "lego/separation", "What separates the actions in the decoder",
        "Every action under every way of training at the last check; marks are means over seeds, lines reach from the least to the largest seed. "
        "C6 with 20 names each (C6*20) has 120 names for six actions, as many tokens as S5; S5 with six of 120 (S5[6]) as few as C6; A5 on itself "
        "(A5/itself) is simply transitive and not solvable. A fixed set is one of 20,000 sentences at paper scale; with a residual path the stream "
        "also passes around attention and feed-forward.",
        {"tiny": dataclasses.replace(TINY, ways=("fresh-residual", "fast-decay"), seeds=2, steps=100), "quick": COMPARED, "paper": LARGE},
        measure_ways, _draw_separation, _find_separation, seconds=90, claims=("L16",),
    ),
)  # fmt: skip
