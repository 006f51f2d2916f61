"""What separates the actions in the decoder."""

import dataclasses

import numpy as np
import polars as pl

from ...drawing import COLOURS, new_figure
from ...statistics import mean_interval
from ...training import Lab
from ..figure import Figure, Frames
from .grids import LARGE, SMALL, TINY, Study, ensemble

TINTS = ("blue", "vermillion", "green", "purple", "orange", "sky", "black")


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


def _draw_separation(frames: Frames, size: Study):
    data = frames["data"].filter(pl.col("step") == pl.col("step").max().over("way"))
    ways = data["way"].unique(maintain_order=True).to_list()
    shown = [length for length in size.lengths if length > size.length][-3:]
    figure = new_figure(3.4 * len(shown) + 1.4, 1.2 + 0.62 * len(size.actions))
    axes = np.atleast_1d(figure.subplots(1, len(shown), sharey=True))
    for ax, length in zip(axes, shown, strict=True):
        for number, (way, colour) in enumerate(zip(ways, TINTS, strict=False)):
            part = data.filter((pl.col("way") == way) & (pl.col("length") == length))
            heights = np.arange(len(size.actions)) + (number - (len(ways) - 1) / 2) * 0.8 / max(len(ways), 2)
            for name, height in zip(size.actions, heights, strict=True):
                values = part.filter(pl.col("action") == name)["right"].to_numpy()
                low, high = np.clip(mean_interval(values), 0, 1)
                ax.plot([low, high], [height, height], color=COLOURS[colour], linewidth=1, alpha=0.5)
                ax.scatter(values, [height] * len(values), s=10, color=COLOURS[colour], alpha=0.6, linewidth=0)
            means = [part.filter(pl.col("action") == name)["right"].mean() for name in size.actions]
            ax.plot(means, heights, "D", color=COLOURS[colour], markersize=4, label=way)
        ax.set(xlim=(-0.04, 1.04), title=f"L = {length}", xlabel="every value right")
        ax.set_yticks(range(len(size.actions)), size.actions)
    axes[0].invert_yaxis()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=min(len(ways), 6))
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
        "Every action under every way of training at the last check; diamonds are means over seeds, lines 95 % intervals of the mean. C6*20 has "
        "120 names for six actions, S5[6] six of S5's 120; A5/itself is simply transitive and not solvable.",
        {"tiny": dataclasses.replace(TINY, ways=("fresh-residual", "fast-decay"), seeds=2, steps=100), "quick": COMPARED, "paper": LARGE},
        measure_ways, _draw_separation, _find_separation, seconds=90, claims=("L16",),
    ),
)  # fmt: skip
