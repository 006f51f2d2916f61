"""The GPT experiments: one pass over fresh data, and many passes over a fixed set. Every choice is a field."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...models import Architecture
from ...tasks import Sequences
from ...training.sequences import Course, Pupil, Taught, teach

Teacher = Callable[[Course, list[Pupil]], Taught]
SMALL_NETS = (
    "Width 64 instead of 720, so that two cores are enough; initial weights of 0.067, GPT-2's 0.02 rescaled by "
    "sqrt(720/64): with 0.02 a net of this width does not leave the plateau even at k = 2."
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

    def architecture(self, layers: int | None = None, heads: int | None = None) -> Architecture:
        return Architecture(
            self.layers if layers is None else layers, self.heads if heads is None else heads, self.width, self.hidden, self.dropout, self.weights,
            self.compute, self.spread,
        )  # fmt: skip

    def course(
        self, bits: int, thoughts: int, repeated: bool = False, layers: int | None = None, heads: int | None = None
    ):
        """thoughts = k with the chain, 0 without."""
        task = Sequences(bits, thoughts, self.format, self.held_out)
        architecture = self.architecture(layers, heads)
        return Course(task, architecture, self.batch, self.every, repeated, self.clip or None, self.probed)


@dataclasses.dataclass(frozen=True)
class OnePass(Net):
    """Sample complexity: sequences seen at the first evaluation with every target of every held-out one right."""

    bits: int = 20  # n
    chained: tuple[int, ...] = (1, 2, 3, 4)  # k with the chain
    bare: tuple[int, ...] = (1, 2, 3, 4)  # k without
    budget: int = 1_000_000  # sequences; the rate decays to zero over it
    threshold: float = 1.0

    def pupils(self, sparsity: int) -> list[Pupil]:
        steps = max(1, self.budget // self.batch)
        return [
            Pupil(seed, sparsity, rate, steps, threshold=self.threshold)
            for seed in range(self.seeds)
            for rate in self.rates
        ]


def one_pass(
    size: OnePass, teacher: Teacher = teach, layers: int | None = None, heads: int | None = None
) -> list[dict[str, Any]]:
    """One row per member: with or without the chain, k, seed, rate, samples, solved."""
    rows: list[dict[str, Any]] = []
    for chain, sizes in ((True, size.chained), (False, size.bare)):
        if sizes:  # the secret is data: one ensemble for every k
            pupils = [pupil for sparsity in sizes for pupil in size.pupils(sparsity)]
            course = size.course(size.bits, max(sizes) if chain else 0, layers=layers, heads=heads)
            rows += _rows(teacher(course, pupils), chain=chain)
    return rows


def _rows(taught: Taught, **labels: Any) -> list[dict[str, Any]]:
    return [
        labels
        | {
            "sparsity": pupil.sparsity,
            "seed": pupil.seed,
            "rate": pupil.rate,
            "samples": int(samples),
            "solved": bool(solved),
        }
        for pupil, samples, solved in zip(taught.pupils, taught.samples, taught.solved, strict=True)
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
class Shown(Net):
    """One training that is looked at: attention maps, entropy and accuracy along the way."""

    bits: int = 20
    sparsity: int = 8
    budget: int = 200_000
    secret: tuple[int, ...] = ()  # positions from 0; empty: drawn
    stops: bool = True

    def pupils(self) -> list[Pupil]:
        steps, secret = max(1, self.budget // self.batch), self.secret or None
        return [
            Pupil(seed, self.sparsity, rate, steps, stops=self.stops, secret=secret)
            for seed in range(self.seeds)
            for rate in self.rates
        ]

    def taught(self, chain: bool = True, teacher: Teacher = teach) -> Taught:
        return teacher(self.course(self.bits, self.sparsity if chain else 0), self.pupils())


@dataclasses.dataclass(frozen=True)
class MultiPass(Net):
    """The same number of presentations from training sets of different sizes, without the chain."""

    rates: tuple[float, ...] = (1e-3,)
    every: int = 40
    bits: int = 16
    sparsity: int = 4
    sizes: tuple[int, ...] = (4000, 60_000)  # N
    presentations: int = 500_000
    stops: bool = True

    def pupils(self, size: int, rate: float | None = None) -> list[Pupil]:
        steps = max(1, self.presentations // self.batch)
        rates = self.rates if rate is None else (rate,)
        return [
            Pupil(seed, self.sparsity, each, steps, size, stops=self.stops)
            for seed in range(self.seeds)
            for each in rates
        ]

    def taught(
        self, teacher: Teacher = teach, chain: bool = False, layers: int | None = None, heads: int | None = None
    ) -> Taught:
        """All sizes in one ensemble: N is data."""
        course = self.course(self.bits, self.sparsity if chain else 0, True, layers, heads)
        return teacher(course, [pupil for size in self.sizes for pupil in self.pupils(size)])


@functools.lru_cache(maxsize=2)
def measured(size: OnePass) -> tuple[dict[str, Any], ...]:
    """The experiment; claims that look at the same ensembles share it."""
    return tuple(one_pass(size))


@functools.lru_cache(maxsize=4)
def shown_training(size: Shown, chain: bool = True) -> Taught:
    return size.taught(chain)
