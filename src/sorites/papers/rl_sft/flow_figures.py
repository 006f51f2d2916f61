"""Gradient flow with true labels: trajectories with the closed form on top, and step times against the scale separation."""

import dataclasses

import numpy as np
import polars as pl

from ...drawing import COLOURS, QUIET, new_figure
from ...theory import reward_flow
from ...theory.precision import in_float64
from ...training import Lab
from ..figure import Figure, Frames
from .symmetric import Symmetric, reached, require_flow


@dataclasses.dataclass(frozen=True)
class Flows:
    bits: int = 16  # of the trajectories
    sparsity: int = 8
    sizes: tuple[int, ...] = (10, 12, 16, 24)  # of the step times
    share: float = 0.4

    def __post_init__(self):
        require_flow(self.sparsity, self.share)


def _horizon(bits: int, size: Flows) -> float:
    tokens = size.sparsity - 1
    return reward_flow.escape_time(bits, tokens, size.share) + 4 * reward_flow.escape_time(
        size.sparsity // 2, tokens, size.share
    )


@in_float64
def _measure(size: Flows, lab: Lab) -> Frames:
    tokens, rows, times = size.sparsity - 1, [], []
    depth = size.sparsity.bit_length() - 1
    for steps in range(1, depth + 1):
        symmetric = Symmetric(size.bits, size.sparsity, steps)
        flow = symmetric.flow(_horizon(size.bits, size), 801, lab)
        for level, column in enumerate(symmetric.shares(flow.states).T, start=1):
            rows.append(pl.DataFrame({"steps": steps, "level": level, "time": flow.times, "share": column}))
    for bits in size.sizes:
        symmetric = Symmetric(bits, size.sparsity, depth)
        flow = symmetric.flow(_horizon(bits, size), 2001, lab)
        found = [reached(flow.times, column, size.share) for column in symmetric.shares(flow.states).T]
        alone = reward_flow.escape_time(bits, tokens, size.share)
        stage = reward_flow.escape_time(size.sparsity // 2, tokens, size.share)
        times += [
            {"bits": bits, "level": level, "time": found[level - 1], "predicted": alone + stage * (level - 1)}
            for level in (1, 2)
        ]
    growth = np.geomspace(1.0001, 200 * size.bits, 400)
    law = pl.DataFrame({
        "time": [reward_flow.time_at(u, size.bits, tokens) for u in growth],
        "share": [reward_flow.share(u, size.bits) for u in growth],
    })  # fmt: skip
    return {"data": pl.concat(rows), "times": pl.DataFrame(times), "law": law}


def _draw(frames: Frames, size: Flows):
    data, times, law = frames["data"], frames["times"], frames["law"]
    figure = new_figure(11.0, 3.9)
    left, middle, right = figure.subplots(1, 3)
    depth = size.sparsity.bit_length() - 1
    end = float(data["time"].max())  # pyright: ignore
    one = data.filter((pl.col("steps") == 1) & (pl.col("level") == 1))
    left.plot(one["time"], one["share"], color=COLOURS["blue"], linewidth=3, alpha=0.5, label="flow")
    inside = law.filter(pl.col("time") <= end)
    left.plot(inside["time"], inside["share"], color="black", linestyle="--", linewidth=1.1, label="Eq. 161")
    left.set(
        title=f"One step rewarded, d={size.bits}, k={size.sparsity}", xlabel="time", ylabel="attention on each child"
    )
    left.legend(loc="lower right")
    for steps, style in ((2, "-"), (depth, "--")):
        for level, colour in ((1, "blue"), (2, "vermillion")):
            part = data.filter((pl.col("steps") == steps) & (pl.col("level") == level))
            middle.plot(
                part["time"],
                part["share"],
                color=COLOURS[colour],
                linestyle=style,
                label=f"level {level}, {steps} steps rewarded",
            )
    stage = reward_flow.escape_time(size.sparsity // 2, size.sparsity - 1, size.share)
    for level, colour in ((1, "blue"), (2, "vermillion")):
        when = reward_flow.escape_time(size.bits, size.sparsity - 1, size.share) + stage * (level - 1)
        middle.plot(when, size.share, marker="D", color=COLOURS[colour], markeredgecolor="black", linestyle="none")
    middle.set(title="Two and all steps; diamonds: predicted", xlabel="time", ylabel="attention on each child")
    middle.legend(fontsize=8)
    for level, colour in ((1, "blue"), (2, "vermillion")):
        part = times.filter(pl.col("level") == level).sort("bits")
        right.plot(
            part["bits"],
            part["time"],
            marker="o",
            linestyle="none",
            color=COLOURS[colour],
            label=f"level {level}, measured",
        )
        right.plot(
            part["bits"],
            part["predicted"],
            color=COLOURS[colour],
            linestyle=":",
            label=f"level {level}, scale separation",
        )
    right.set(title=f"Time to a share of {size.share}, T={depth}", xlabel="bits d", ylabel="time")
    right.legend(fontsize=8)
    for ax in (left, middle):
        ax.axhline(0.5, color=QUIET, linewidth=0.8, linestyle=":")
    return figure


def _find(frames: Frames, size: Flows) -> str:
    times = frames["times"]
    words, sooner = [], []
    for bits in size.sizes:
        part = times.filter(pl.col("bits") == bits).sort("level")
        words.append(
            f"d={bits}: {part['time'][0]:.0f} and {part['time'][1]:.0f} ({part['predicted'][0]:.0f} and {part['predicted'][1]:.0f})"
        )
        sooner.append(f"{1 - part['time'][0] / part['predicted'][0]:.1%} at d={bits}")
    return (
        f"With all {size.sparsity.bit_length() - 1} steps rewarded, times to a share of {size.share} on levels 1 and 2, predicted in brackets: "
        f"{'; '.join(words)}. With later rewards level 1 comes earlier than alone by {', '.join(sooner)}; the last level has two keys and "
        "nothing to learn."
    )


FIGURES = (
    Figure(
        "rl-sft/flow", "Gradient flow with true labels",
        "Attention on a child along dW/dt = grad R. Left: one rewarded step with the closed form. Middle: two steps (Eq. 167), and all T steps, "
        "which the paper does not compute. Right: when each level is learned against the prediction of separated scales.",
        {"tiny": Flows(8, 8, (8,)), "quick": Flows(), "paper": Flows(16, 8, (10, 12, 16, 24, 32, 64))}, _measure, _draw, _find, seconds=40, claims=("RS-28", "RS-25", "RS-26"),
    ),
)  # fmt: skip
