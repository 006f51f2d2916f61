"""What reviewers ask for: finite samples, noisy labels and rewards, other losses."""

import math

import numpy as np
import polars as pl

from ...drawing import COLOURS, QUIET, new_figure
from ...statistics import wilson
from ...training import History, Lab
from ..figure import Figure, Frames
from .experiments import exact
from .grids import LARGE, LONGER, FiniteSamples, LabelNoise, Losses

LOOKS = {  # colour, marker, dashed: two curves may coincide
    "RL, Rao-Blackwell": ("blue", "o", False),
    "RL, REINFORCE": ("sky", "v", False),
    "SFT, own thoughts": ("vermillion", "s", False),
    "SFT, teacher forcing": ("orange", "D", True),
    "RL, Rao-Blackwell" + LONGER: ("green", "o", True),
    "RL, REINFORCE" + LONGER: ("purple", "v", True),
}


def _rows(history: History, way: str, values, seeds: int, column: str) -> list[dict]:
    right = exact(history)[:, -1].reshape(len(values), seeds)
    levels = history.last("rolled.levels").min(axis=-1).reshape(len(values), seeds)
    found = []
    for value, each, level in zip(values, right, levels, strict=True):
        low, high = wilson(int(each.sum()), seeds)
        found.append({"way": way, column: float(value), "success": float(each.mean()), "low": low, "high": high,
                      "worst_level": float(level.mean()), "seeds": seeds})  # fmt: skip
    return found


def _measure(size: FiniteSamples | LabelNoise | Losses, lab: Lab) -> Frames:
    column, values = ("noise", size.noises) if isinstance(size, LabelNoise) else ("samples", size.samples)
    rows, ensembles = [], size.ensembles()
    for way, (runs, seeds) in ensembles.items():
        rows += _rows(lab.train(runs, seeds).history, way, values, size.seeds, column)
    return {"data": pl.DataFrame(rows)}


def _curve(ax, data: pl.DataFrame, way: str, column: str, colour: str, marker: str = "o", dashed: bool = False) -> None:
    part, colour = data.filter(pl.col("way") == way).sort(column), COLOURS[colour]
    x, y = part[column].to_numpy(), part["success"].to_numpy()
    ax.plot(x, y, marker=marker, markersize=4, color=colour, label=way, linestyle="--" if dashed else "-")
    ax.fill_between(x, part["low"].to_numpy(), part["high"].to_numpy(), color=colour, alpha=0.15, linewidth=0)


def _dress(ax, title: str, xlabel: str) -> None:
    ax.set(title=title, xlabel=xlabel, ylabel="share of secrets learned (Wilson 95 %)", ylim=(-0.03, 1.05))


def _draw_finite(frames: Frames, size: FiniteSamples):
    figure = new_figure(6.8, 4.2)
    ax = figure.subplots()
    for way in size.ways:
        _curve(ax, frames["data"], way, "samples", *LOOKS[way])
    ax.set_xscale("log")
    _dress(
        ax, f"Finite samples, {size.gate}, d={size.bits}, k={size.sparsity}, {size.seeds} secrets", "chains per update"
    )
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _half(data: pl.DataFrame, way: str, column: str) -> float:
    """The first value at which at least half of the secrets are learned."""
    part = data.filter((pl.col("way") == way) & (pl.col("success") >= 0.5)).sort(column)
    return float(part[column][0]) if part.height else float("nan")


def _find_finite(frames: Frames, size: FiniteSamples) -> str:
    words = []
    for way in size.ways:
        half = _half(frames["data"], way, "samples")
        words.append(f"{way} {half:,.0f}" if half == half else f"{way} more than {max(size.samples):,}")
    mended = [way for way in size.ways if way + LONGER in size.ways and _mends(frames["data"], way)]
    more = (
        f" With T-1 updates fewer do for {' and '.join(mended)}: a later one mends what an earlier one got wrong."
        if mended
        else ""
    )
    return f"Chains per update from which half of {size.seeds} secrets are learned: {'; '.join(words)}.{more}"


def _mends(data: pl.DataFrame, way: str) -> bool:
    """Half of the secrets are learned from fewer chains with T-1 updates than with one."""
    once, longer = (_half(data, name, "samples") for name in (way, way + LONGER))
    return longer < once or (math.isfinite(longer) and math.isnan(once))


def _draw_noisy(frames: Frames, size: LabelNoise):
    figure = new_figure(6.8, 4.2)
    ax = figure.subplots()
    for way in size.ways:
        _curve(ax, frames["data"], way, "noise", *LOOKS[way])
    ax.axvline(0.5, color=QUIET, linestyle=":", linewidth=1)
    title = f"Flipped labels and rewards, {size.gate}, d={size.bits}, k={size.sparsity}, {size.samples:,} chains, {size.seeds} secrets"
    _dress(ax, title, "chance that a label, so a token's reward, is flipped")
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _find_noisy(frames: Frames, size: LabelNoise) -> str:
    words = []
    for way in size.ways:
        good = frames["data"].filter((pl.col("way") == way) & (pl.col("success") >= 0.5))
        words.append(f"{way} {good['noise'].max():.2f}" if good.height else f"{way} none")
    return (
        "Largest flip chance at which at least half of the secrets are still learned: "
        f"{'; '.join(words)}. Flipping scales the expected gradient by 1 - 2p and leaves its sign; noise only costs samples."
    )


def _draw_losses(frames: Frames, size: Losses):
    figure = new_figure(5.0 * len(size.gates) + 1.2, 4.0)
    axes = np.atleast_1d(figure.subplots(1, len(size.gates), sharey=True))
    looks = {"hinge": ("blue", "o"), "logistic": ("vermillion", "s"), "exponential": ("green", "^")}
    for ax, gate in zip(axes, size.gates, strict=True):
        for loss, (colour, marker) in looks.items():
            _curve(ax, frames["data"], f"{gate}, {loss}", "samples", colour, marker)
        ax.set_xscale("log")
        _dress(ax, f"{gate.upper()}, d={size.bits}, k={size.sparsity}, {size.seeds} secrets", "chains per update")
        ax.legend()
    return figure


def _find_losses(frames: Frames, size: Losses) -> str:
    words = []
    for name in frames["data"]["way"].unique(maintain_order=True):
        half = _half(frames["data"], name, "samples")
        words.append(f"{name} {half:,.0f}" if half == half else f"{name} more than {max(size.samples):,}")
    return f"Chains per update from which half of the secrets are learned level by level: {'; '.join(words)}."


FIGURES = (
    Figure(
        "rl-sft/finite-samples", "Success against samples",
        "Share of random secrets whose every held-out thought is right, with Wilson 95 % bands. RL and teacher forcing take one sign update "
        "unless it says T-1, SFT on own thoughts T-1 with learned levels frozen; a fresh batch per update.",
        {"tiny": FiniteSamples(8, 4, samples=(500, 2_000), seeds=4, ways=("RL, Rao-Blackwell",)), "quick": FiniteSamples(), "paper": LARGE["finite-samples"]},
        _measure, _draw_finite, _find_finite, seconds=60, claims=("RS-37",),
    ),
    Figure(
        "rl-sft/label-noise", "Noisy labels and rewards",
        "Each label (SFT) or each token's reward (RL) is flipped with the given chance. Bands are Wilson 95 %. No level is frozen: with "
        "wrong labels none ever looks learned. All take the same T-1 updates, so the same number of chains; at paper scale RL and teacher "
        "forcing take one.",
        {"tiny": LabelNoise(8, 4, noises=(0.0, 0.4), samples=2_000, seeds=4, ways=("RL, Rao-Blackwell",)), "quick": LabelNoise(), "paper": LARGE["label-noise"]},
        _measure, _draw_noisy, _find_noisy, seconds=60, claims=("RS-38",),
    ),
    Figure(
        "rl-sft/losses", "Hinge, logistic, exponential",
        "SFT on own thoughts with three losses, learned levels frozen; the share of secrets learned after T-1 sign updates.",
        {"tiny": Losses(8, 4, (500, 2_000), ("parity",), seeds=4), "quick": Losses()}, _measure, _draw_losses, _find_losses, seconds=60, claims=("RS-22", "RS-39"),
    ),
)  # fmt: skip
