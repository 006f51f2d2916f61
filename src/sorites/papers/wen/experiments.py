"""The GPT experiments: one pass over fresh data, and many passes over a fixed set. Every choice is a field."""

import dataclasses
from typing import Any

import numpy as np

from ...errors import require
from ...models.gpt import gpt
from ...probes import Enough, HeadEntropy, Loss, Outcome
from ...supervision import CrossEntropy, OnePass, Passes, teacher_forcing
from ...tasks import Sequences
from ...training import Adam, Clip, Decay, Evaluation, Lab, Run, Stage, Trained, Until

SMALL_NETS = (
    "Width 64 instead of 720, so that two cores are enough; initial weights of 0.067, GPT-2's 0.02 rescaled by "
    "sqrt(720/64): with 0.02 a net of this width takes 2 (with the chain) to 4 times (without) as many sequences at k = 2."
)


@dataclasses.dataclass(frozen=True)
class Net:
    """A GPT and how it is trained; the defaults are the small nets of quick scale."""

    layers: int = 1
    heads: int = 4
    width: int = 64
    hidden: int = 256
    spread: float = 0.067  # of the initial weights
    batch: int = 128
    every: int = 20  # steps between evaluations
    rates: tuple[float, ...] = (5e-4,)  # the best one counts
    held_out: int = 2048
    probed: int = 64  # held-out sequences whose attention entropy is measured
    format: str = "paper"
    dropout: float = 0.0
    weights: str = "float32"
    compute: str = "float32"
    clip: float = 0.0  # of the gradient norm; 0: none
    seeds: int = 8

    def case(
        self, seed: int, bits: int, sparsity: int, rate: float, budget: int, room: int, size: int = 0, threshold: float = 1.0,
        stops: bool = True, secret: tuple[int, ...] | None = None, layers: int | None = None, heads: int | None = None,
        curves: bool = True,
    ) -> "Case":  # fmt: skip
        """One training. room: thoughts of the longest chain in the ensemble, 0 without; size: inputs of many passes;
        without curves only whether it is solved is measured."""
        task = Sequences(bits, room, sparsity, self.format, self.held_out, secret=secret)  # pyright: ignore
        steps, most = max(1, budget // self.batch), task.trainable
        require(
            bool(size) or steps * self.batch <= most,
            f"one pass sees every input once: {steps * self.batch:,} sequences of {most:,} inputs that are not "
            "held out; use a smaller budget or more bits",
        )
        require(
            0 <= size <= most,
            f"a training set has at least one input and spares the held-out ones: size={size}; use 1 to {most}",
        )
        model = gpt(
            task, layers or self.layers, heads or self.heads, self.width, self.hidden, self.dropout, self.weights,
            self.compute, self.spread, start=self.format == "paper",
        )  # fmt: skip
        rule = Decay(Adam(rate), steps)  # pyright: ignore
        rule = Clip(rule, self.clip) if self.clip else rule  # pyright: ignore
        probes = (Loss(), Outcome("forced"), *((HeadEntropy(self.probed),) if self.probed else ()))
        goal = Until("forced.chain", threshold)  # pyright: ignore
        if not curves:
            probes, goal = (Enough(threshold),), Until("forced.enough")  # pyright: ignore
        stage = Stage(
            task,
            (dataclasses.replace(teacher_forcing(task.layout, CrossEntropy()), normalised=True),),
            Passes(self.batch, size) if size else OnePass(self.batch),  # pyright: ignore
            rule,
            -(-steps // self.every) * self.every,  # pyright: ignore  # whole evaluations; beyond the budget the rate is zero
            Evaluation(self.every, self.held_out, probes, numbered=True),
            goal if stops else None,
        )
        return Case(Run(model, [stage], goal), seed, sparsity, rate, steps, size)


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """One training of an ensemble, and what tables call it by."""

    run: Run
    seed: int
    sparsity: int
    rate: float
    steps: int  # the budget
    size: int = 0  # training inputs of many passes


@dataclasses.dataclass(frozen=True, eq=False)
class Studied:
    """Cases and what became of them."""

    cases: tuple[Case, ...]
    trained: Trained
    batch: int

    @property
    def history(self):
        return self.trained.history

    @property
    def solved(self) -> np.ndarray:
        return self.history.solved_at >= 0

    @property
    def samples(self) -> np.ndarray:
        """Sequences seen when solved, else when stopped; a diverged member would not have solved within its budget."""
        budget = np.array([case.steps for case in self.cases], np.int64)
        stopped = np.where(self.history.diverged, budget, np.minimum(self.history.samples // self.batch, budget))
        return np.where(self.solved, np.minimum(self.history.solved_at, budget), stopped) * self.batch


def study(cases: list[Case], batch: int, lab: Lab) -> Studied:
    return Studied(tuple(cases), lab.train([case.run for case in cases], [case.seed for case in cases]), batch)


@dataclasses.dataclass(frozen=True)
class FreshData(Net):
    """Sample complexity: sequences seen at the first evaluation with every target of every held-out one right."""

    bits: int = 20  # n
    chained: tuple[int, ...] = (1, 2, 3, 4)  # k with the chain
    bare: tuple[int, ...] = (1, 2, 3, 4)  # k without
    budget: int = 1_000_000  # sequences; the rate decays to zero over it
    threshold: float = 1.0

    def cases(self, sparsity: int, room: int, layers: int | None = None, heads: int | None = None) -> list[Case]:
        alike: dict[str, Any] = {"threshold": self.threshold, "layers": layers, "heads": heads, "curves": False}
        return [
            self.case(seed, self.bits, sparsity, rate, self.budget, room, **alike)
            for seed in range(self.seeds)
            for rate in self.rates
        ]


def one_pass(size: FreshData, lab: Lab, layers: int | None = None, heads: int | None = None) -> list[dict[str, Any]]:
    """One row per member: with or without the chain, k, seed, rate, samples, solved."""
    rows: list[dict[str, Any]] = []
    for chain, sizes in ((True, size.chained), (False, size.bare)):
        if sizes:  # the sparsity is data: one ensemble for every k
            room = max(sizes) if chain else 0
            cases = [case for sparsity in sizes for case in size.cases(sparsity, room, layers, heads)]
            rows += _rows(study(cases, size.batch, lab), chain=chain)
    return rows


def _rows(studied: Studied, **labels: Any) -> list[dict[str, Any]]:
    return [
        labels
        | {
            "sparsity": case.sparsity,
            "seed": case.seed,
            "rate": case.rate,
            "samples": int(samples),
            "solved": bool(solved),
        }
        for case, samples, solved in zip(studied.cases, studied.samples, studied.solved, strict=True)
    ]


def best(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The best rate of every seed: the earliest success, else the latest censoring."""
    found: dict[tuple, dict[str, Any]] = {}
    for row in rows:
        key = tuple(value for name, value in row.items() if name not in ("rate", "samples", "solved"))
        old = found.get(key)
        better = old is None or (row["solved"], -row["samples"] if row["solved"] else row["samples"]) > (
            old["solved"],
            -old["samples"] if old["solved"] else old["samples"],
        )
        if better:
            found[key] = row
    return list(found.values())


def columns(rows: list[dict[str, Any]], chain: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """k, samples, solved of the members with or without the chain, best rate per seed."""
    part = [row for row in best(rows) if row["chain"] == chain]
    return tuple(np.array([row[name] for row in part]) for name in ("sparsity", "samples", "solved"))  # pyright: ignore


@dataclasses.dataclass(frozen=True)
class Watched(Net):
    """One training that is looked at: attention maps, entropy and accuracy along the way."""

    bits: int = 20
    sparsity: int = 8
    budget: int = 200_000
    secret: tuple[int, ...] = ()  # positions from 0; empty: drawn
    stops: bool = True

    def studied(self, lab: Lab, chain: bool = True) -> Studied:
        room, secret = self.sparsity if chain else 0, self.secret or None
        cases = [
            self.case(seed, self.bits, self.sparsity, rate, self.budget, room, stops=self.stops, secret=secret)
            for seed in range(self.seeds)
            for rate in self.rates
        ]
        return study(cases, self.batch, lab)


@dataclasses.dataclass(frozen=True)
class RepeatedData(Net):
    """The same number of presentations from training sets of different sizes, without the chain."""

    rates: tuple[float, ...] = (1e-3,)
    every: int = 40
    bits: int = 16
    sparsity: int = 4
    sizes: tuple[int, ...] = (4000, 60_000)  # N
    presentations: int = 500_000
    stops: bool = True

    def studied(self, lab: Lab, chain: bool = False, layers: int | None = None, heads: int | None = None) -> Studied:
        """All sizes in one ensemble: N is data."""
        room = self.sparsity if chain else 0
        cases = [
            self.case(
                seed,
                self.bits,
                self.sparsity,
                rate,
                self.presentations,
                room,
                size,
                stops=self.stops,
                layers=layers,
                heads=heads,
            )
            for size in self.sizes
            for seed in range(self.seeds)
            for rate in self.rates
        ]
        return study(cases, self.batch, lab)
