"""Figure 1 filled from runs, and how many updates each way of teaching needs."""

import dataclasses

import numpy as np
import polars as pl

from ...drawing import COLOURS, QUIET, new_figure
from ...tasks import Boolean
from ...theory.precision import in_float64
from ...training import Lab
from ..figure import Figure, Frames
from .population import accuracies, mixed_updates
from .setting import require_limit, require_rate

NAMES = {
    "rl": "RL, labels from\nthe own prefix",
    "forced": "SFT with\nteacher forcing",
    "rl-truth": "RL,\ntrue labels",
    "own": "SFT on\nown thoughts",
    "filtered": "SFT, one thought\nper phase",
    "outcome": "RL,\noutcome reward",
}


@dataclasses.dataclass(frozen=True)
class Summary:
    bits: int = 10
    sparsity: int = 8
    serial_bits: int = 8
    serial_sparsity: int = 5
    gate: str = "parity"
    rate: float = 4.0
    limit: int = 5

    def __post_init__(self):
        require_rate(self.rate)
        require_limit(self.limit)

    def tasks(self) -> dict[str, Boolean]:
        return {
            "tree": Boolean(self.bits, self.sparsity, self.gate),  # pyright: ignore
            "serial": Boolean(self.serial_bits, self.serial_sparsity, self.gate, "serial"),  # pyright: ignore
        }


@in_float64
def _summary(size: Summary, lab: Lab) -> Frames:
    rows = []
    for chain, task in size.tasks().items():
        for teaching in NAMES:
            if teaching == "filtered" and chain == "tree":
                continue
            for update, levels in enumerate(accuracies(task, teaching, size.rate, size.limit)):
                rows += [{"chain": chain, "teaching": teaching, "update": update, "step": step + 1, "accuracy": float(a)}
                         for step, a in enumerate(levels)]  # fmt: skip
    return {"data": pl.DataFrame(rows)}


def _draw_summary(frames: Frames, size: Summary):
    data = frames["data"]
    figure = new_figure(11.0, 5.6)
    rows = figure.subplots(2, len(NAMES), sharey="row")
    image = None
    for axes, (chain, task) in zip(rows, size.tasks().items(), strict=True):
        teachings = data.filter(pl.col("chain") == chain)["teaching"].unique(maintain_order=True).to_list()
        for ax in axes[len(teachings) :]:
            ax.set_axis_off()
        for ax, teaching in zip(axes, teachings, strict=False):
            found = data.filter((pl.col("chain") == chain) & (pl.col("teaching") == teaching)).sort("update", "step")
            grid = found["accuracy"].to_numpy().reshape(-1, task.layout.depth)
            done = bool((grid[-1] == 1).all())
            image = ax.pcolormesh(grid.T, cmap="cividis", vmin=0.4, vmax=1, edgecolors="white", linewidth=1)
            ax.set_xticks(np.arange(len(grid)) + 0.5, range(len(grid)), fontsize=8)
            ax.set_yticks(np.arange(task.layout.depth) + 0.5, range(1, task.layout.depth + 1), fontsize=8)
            verdict = f"exact after {len(grid) - 1}" if done else f"not exact after {len(grid) - 1}"
            ax.set_title(
                f"{NAMES[teaching]}\n{verdict}", fontsize=8.5, color="black" if done else COLOURS["vermillion"]
            )
            ax.set_xlabel("update", fontsize=9)
            ax.grid(False)
        words = (
            f"tree, d={size.bits}, k={size.sparsity}"
            if chain == "tree"
            else f"serial, d={size.serial_bits}, k={size.serial_sparsity}"
        )
        axes[0].set_ylabel(f"{words}\nstep of the chain", fontsize=9)
    assert image is not None
    figure.colorbar(image, ax=list(rows.ravel()), label="share of right tokens, over every input", shrink=0.8)
    return figure


def _find_summary(frames: Frames, size: Summary) -> str:
    words = []
    for (chain, teaching), part in frames["data"].group_by(["chain", "teaching"], maintain_order=True):
        last = part.filter(pl.col("update") == part["update"].max())
        done = bool((last["accuracy"] == 1).all())
        words.append(f"{chain} {teaching!s}: {int(last['update'][0]) if done else f'not within {size.limit}'}")
    return f"Sign updates on the population gradient until every thought is right for every input: {', '.join(words)}."


@dataclasses.dataclass(frozen=True)
class Updates:
    bits: int = 8
    sparsity: int = 8
    serial_sparsity: int = 5
    gates: tuple[str, ...] = ("parity", "and", "or")
    shares: tuple[float, ...] = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
    rate: float = 4.0
    limit: int = 20
    sizes: tuple[int, ...] = (5, 6, 7, 8, 9, 10, 11)  # bits of the unfiltered serial chain of four secret bits

    def __post_init__(self):
        require_rate(self.rate)
        require_limit(self.limit)


@in_float64
def _updates(size: Updates, lab: Lab) -> Frames:
    rows = []
    for gate in size.gates:
        chains = {
            "tree": Boolean(size.bits, size.sparsity, gate),  # pyright: ignore
            "serial": Boolean(size.bits, size.serial_sparsity, gate, "serial"),  # pyright: ignore
        }
        for chain, task in chains.items():
            counts = {"RL": mixed_updates(task, None, size.rate, size.limit)}
            for share in size.shares:
                counts[f"SFT, {share:.0%} forced"] = mixed_updates(task, share, size.rate, size.limit)
            rows += [
                {"gate": gate, "chain": chain, "teaching": name, "updates": found} for name, found in counts.items()
            ]
    free = [
        {"bits": bits, "updates": mixed_updates(Boolean(bits, 4, "parity", "serial"), 0.0, size.rate, size.limit)}
        for bits in size.sizes
    ]  # pyright: ignore
    types = {"updates": pl.Int64}
    return {"data": pl.DataFrame(rows, schema_overrides=types), "free": pl.DataFrame(free, schema_overrides=types)}


def _draw_updates(frames: Frames, size: Updates):
    data = frames["data"]
    names = data["teaching"].unique(maintain_order=True).to_list()
    columns = [(chain, gate) for chain in ("tree", "serial") for gate in size.gates]
    grid = np.full((len(names), len(columns)), np.nan)
    for row, name in enumerate(names):
        for column, (chain, gate) in enumerate(columns):
            found = data.filter((pl.col("teaching") == name) & (pl.col("chain") == chain) & (pl.col("gate") == gate))[
                "updates"
            ][0]
            grid[row, column] = np.nan if found is None else found
    figure = new_figure(1.15 * len(columns) + 6.0, 0.5 * len(names) + 1.9)
    ax, right = figure.subplots(1, 2, width_ratios=[1.9, 1])
    _draw_free(right, frames["free"], size)
    image = ax.pcolormesh(
        np.ma.masked_invalid(np.log2(grid)),
        cmap="cividis_r",
        vmin=0,
        vmax=np.log2(size.limit),
        edgecolors="white",
        linewidth=1.5,
    )
    ax.set_facecolor("#F2F1EC")
    for row, column in np.ndindex(*grid.shape):
        value = grid[row, column]
        ink = QUIET if np.isnan(value) else "white" if value > 4 else "black"
        ax.text(
            column + 0.5,
            row + 0.5,
            f"> {size.limit}" if np.isnan(value) else f"{int(value)}",
            ha="center",
            va="center",
            color=ink,
        )
    ax.set_xticks(np.arange(len(columns)) + 0.5, [f"{chain}\n{gate.upper()}" for chain, gate in columns])
    ax.set_yticks(np.arange(len(names)) + 0.5, names)
    ax.invert_yaxis()
    ax.grid(False)
    ax.set_title(f"Sign updates until exact, d={size.bits}, tree k={size.sparsity}, serial k={size.serial_sparsity}")
    ax.set_xlabel("chain and gate")
    figure.colorbar(image, ax=ax, label="log2 updates", shrink=0.8)
    return figure


def _draw_free(ax, free: pl.DataFrame, size: Updates) -> None:
    """Unfiltered SFT of the serial parity chain against the number of bits."""
    done, never = free.filter(pl.col("updates").is_not_null()), free.filter(pl.col("updates").is_null())
    ax.plot(done["bits"], done["updates"], "o", color=COLOURS["blue"], label="exact")
    ax.plot(
        never["bits"],
        [size.limit] * never.height,
        "x",
        color=COLOURS["vermillion"],
        markersize=8,
        label=f"not within {size.limit}",
    )
    ax.set(
        title="Own thoughts,\nserial PARITY, k=4",
        xlabel="bits d",
        ylabel="updates until exact",
        ylim=(0, size.limit + 1),
    )
    ax.set_xticks(size.sizes)
    ax.legend()


def _find_updates(frames: Frames, size: Updates) -> str:
    data, words = frames["data"], []
    for (chain, gate), part in data.filter(pl.col("teaching") != "RL").group_by(["chain", "gate"], maintain_order=True):
        found = part["updates"].drop_nulls()
        never = part.filter(pl.col("updates").is_null())["teaching"].str.strip_prefix("SFT, ").to_list()
        late = f"{'any mixture' if not len(found) else ' and '.join(never)} not within {size.limit}" if never else ""
        count = f"{found.min()}" if len(found) and found.min() == found.max() else f"{found.min()} to {found.max()}"
        words.append(f"{chain} {gate} {', '.join(filter(None, (count if len(found) else '', late)))}")
    reward = data.filter(pl.col("teaching") == "RL")["updates"]
    rewarded = f"{reward.min()} to {reward.max()}" if not reward.null_count() else f"not always within {size.limit}"
    free = frames["free"]
    exact, failed = (
        free.filter(rule)["bits"].to_list() for rule in (pl.col("updates").is_not_null(), pl.col("updates").is_null())
    )
    return (
        f"Updates of SFT over the mixtures: {'; '.join(words)}. RL: {rewarded}. "
        f"Own thoughts on serial PARITY, k=4: exact at d = {', '.join(map(str, exact)) or 'none'}, not at {', '.join(map(str, failed)) or 'none'}."
    )


FIGURES = (
    Figure(
        "rl-sft/1", "Summary of the dynamics",
        "The paper's table of learning dynamics filled from runs: share of right tokens by step of the chain after each sign update on the "
        "population gradient, no level frozen, over every input.",
        {"tiny": Summary(6, 4, 5, 3, limit=2), "quick": Summary()}, _summary, _draw_summary, _find_summary, seconds=25, claims=("RS-34",),
    ),
    Figure(
        "rl-sft/updates", "Updates until exact",
        "RL with process reward, and SFT on mixtures of own and true thoughts (the share of teacher forcing in the loss), for trees and "
        "serial chains; population gradients, sign updates, no level frozen. Right: on serial PARITY own thoughts fail at some sizes only.",
        {"tiny": Updates(5, 4, 3, ("parity",), (0.0, 1.0), limit=3, sizes=(5,)), "quick": Updates()}, _updates, _draw_updates, _find_updates, seconds=40, claims=("RS-34", "RS-33"),
    ),
)  # fmt: skip
