"""Clipped ratios and group-relative advantages beside the plain policy gradient."""

import dataclasses

import numpy as np
import polars as pl

from ...drawing import COLOURS, band, new_figure
from ...errors import require
from ...probes import ChildMass, Outcome, Reward
from ...supervision import Clipped, PolicyGradient, Repeated, Sampled, credit, process_reward
from ...tasks import Boolean
from ...training import GD, AbstractOptimizer, AdamW, Evaluation, Lab, Run, Stage
from ..figure import Figure, Frames
from .exact import pretrained
from .setting import require_rate

OPTIMIZERS = {"adam": AdamW, "gd": GD}


@dataclasses.dataclass(frozen=True)
class Ratios:
    bits: int = 12
    sparsity: int = 4
    batch: int = 2_000
    batches: int = 60
    epochs: int = 4
    clip: float = 0.2
    rate: float = 0.1
    rule: str = "adam"
    seeds: int = 12

    def __post_init__(self):
        known = ", ".join(OPTIMIZERS)
        require(self.rule in OPTIMIZERS, f"a rule is one of {known}: rule={self.rule!r}; use one of these")
        require_rate(self.rate)

    def task(self) -> Boolean:
        return Boolean(self.bits, self.sparsity)  # pyright: ignore

    def ways(self) -> dict[str, Run]:
        rule, faster = (OPTIMIZERS[self.rule](self.rate * times) for times in (1, self.epochs))
        several = f"{self.epochs} updates"
        return {
            "plain, one update per batch": self.run(rule, 1),
            f"plain, one update, {self.epochs} times the rate": self.run(faster, 1),
            f"ratio, {several} per batch": self.run(rule, self.epochs),
            f"clipped ratio, {several}": self.run(rule, self.epochs, self.clip),
            f"batch baseline, clipped, {several}": self.run(rule, self.epochs, self.clip, "batch"),
            f"group-relative, clipped, {several}": self.run(rule, self.epochs, self.clip, "group"),
        }

    def run(self, rule: AbstractOptimizer, reuse: int, clip: float = 0.0, baseline: str = "none") -> Run:
        task, group = self.task(), 8 if baseline == "group" else 1
        signal = PolicyGradient(credit(task.layout, "step"), baseline, group, baseline == "group")
        taught = process_reward(task.layout, Clipped(signal, clip))  # pyright: ignore
        source = Repeated(self.batch, group) if group > 1 else Sampled(self.batch)
        evaluation = Evaluation(1, self.batch, (Reward(), Outcome("rolled"), ChildMass()))
        return Run(pretrained(task), [Stage(task, (taught,), source, rule, self.batches, evaluation, reuse=reuse)])  # pyright: ignore


def _measure(size: Ratios, lab: Lab) -> Frames:
    """Mean reward and least child mass before every batch, for each seed."""
    rows, ways = [], size.ways()
    histories = {name: lab.train(run, range(size.seeds)).history for name, run in ways.items()}
    for name, history in histories.items():
        found = history.metrics
        reward, mass = (found[metric][:, : size.batches] for metric in ("sampled.reward", "child_mass"))
        seed, batch = np.indices(reward.shape)
        rows.append(pl.DataFrame({"way": name, "seed": seed.ravel(), "batch": batch.ravel(), "reward": reward.ravel(),
                                  "child_mass": mass.min(axis=-1).ravel()}))  # fmt: skip
    return {"data": pl.concat(rows)}


def _grid(data: pl.DataFrame, way: str, column: str, size: Ratios) -> np.ndarray:
    return data.filter(pl.col("way") == way)[column].to_numpy().reshape(size.seeds, size.batches)


def _draw(frames: Frames, size: Ratios):
    figure = new_figure(9.2, 4.4)
    left, right = figure.subplots(1, 2)
    colours = ("black", "purple", "sky", "blue", "green", "vermillion")
    batches = np.arange(size.batches)
    for way, colour in zip(frames["data"]["way"].unique(maintain_order=True), colours, strict=True):
        band(left, batches, _grid(frames["data"], way, "reward", size), way, COLOURS[colour])
        band(right, batches, _grid(frames["data"], way, "child_mass", size), None, COLOURS[colour])
    left.set(
        title=f"Process reward, d={size.bits}, k={size.sparsity}",
        xlabel=f"batches of {size.batch:,} chains",
        ylabel="mean reward of sampled thoughts",
    )
    right.set(
        title=f"{size.seeds} secrets, median and 10–90 %",
        xlabel=f"batches of {size.batch:,} chains",
        ylabel="least attention on the children",
    )
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _find(frames: Frames, size: Ratios) -> str:
    words = []
    for way in frames["data"]["way"].unique(maintain_order=True):
        reward = np.median(_grid(frames["data"], way, "reward", size), axis=0)
        past = np.flatnonzero(reward >= 0.9)
        words.append(
            f"{way}: {past[0]}" if len(past) else f"{way}: more than {size.batches} (ends at {reward[-1]:.2f})"
        )
    return f"Batches until the median reward passes 0.9: {'; '.join(words)}."


FIGURES = (
    Figure(
        "rl-sft/clipped", "Clipped ratios and group-relative advantages",
        "REINFORCE with the step reward of Eq. 6: one update per batch, several with the likelihood ratio, clipped at 1 ± 0.2, with a batch "
        "baseline, and with advantages relative to 8 chains of the same input. Adam, so that steps differ in size as well as sign.",
        {"tiny": Ratios(6, 4, 64, 4, 2, seeds=2), "quick": Ratios()}, _measure, _draw, _find, seconds=30,
    ),
)  # fmt: skip
