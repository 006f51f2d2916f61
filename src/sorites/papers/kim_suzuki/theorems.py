"""The two positive theorems as trainings, every choice a field: one step with teacher forcing, log2 k steps alone."""

import dataclasses

import jax
import numpy as np

from ...errors import require
from ...models import link_named
from ...models.positional import positional
from ...probes import ChildMass, Loss, Outcome, Released
from ...supervision import (
    AbstractSource,
    FilteredPrefix,
    Noisy,
    Pooled,
    Squared,
    Strings,
    Supervision,
    TrueLabels,
    teacher_forcing,
)
from ...tasks import Boolean, Parity
from ...training import GD, Evaluation, Lab, Quantised, Run, Stage, Trained
from ..seed_checks import ORACLES


@dataclasses.dataclass(frozen=True)
class Theorem:
    """What both share. The rate is eta = eta0 d^(2 + epsilon/16) as printed, or K d^2/(2c) with a strength K of one's own:
    a child of thought m then moves by about K (d/(m-1))^2."""

    bits: int = 30  # d
    sparsity: int = 16  # k
    samples: int = 100_000  # n
    strength: float = 20.0  # K; 0 takes the printed rate
    epsilon: float = 0.0  # of the theorem; eta0 = 1
    noise: float = 0.0  # the oracle is wrong by at most this in every entry
    oracle: str = "random"  # how it is wrong
    link: str = "cosine"
    chains: int = 2000  # held out
    seeds: int = 10

    def task(self) -> Boolean:
        return Parity(self.bits, self.sparsity)

    def rate(self) -> float:
        """eta."""
        require(self.strength >= 0, f"a strength is not negative: strength={self.strength}; 0 takes the printed rate")
        if not self.strength:
            return self.bits ** (2 + self.epsilon / 16)
        return self.strength * self.bits**2 / (2 * link_named(self.link).curvature)

    def source(self) -> AbstractSource:
        require(
            self.oracle in ORACLES,
            f"an oracle errs in one of two ways, {' or '.join(ORACLES)}: oracle={self.oracle!r}; use one of these",
        )
        exact = Pooled(self.samples, self.samples)
        return Noisy(exact, self.noise, self.oracle == "adversarial") if self.noise else exact  # pyright: ignore


@dataclasses.dataclass(frozen=True)
class OneStep(Theorem):
    """Theorem 5: causal mask, true thoughts shown, one step of plain descent from W = 0."""

    def run(self) -> Run:
        task = self.task()
        evaluation = Evaluation(1, self.chains, (Loss(), Outcome("soft"), ChildMass()))
        stage = Stage(task, (teacher_forcing(task.layout),), self.source(), GD(self.rate()), 1, evaluation)  # pyright: ignore
        return Run(positional(task, self.link, "causal"), [stage])


@dataclasses.dataclass(frozen=True)
class LogSteps(Theorem):
    """Theorem 7: level mask, the model's own filtered chain, v = log2 k updates on the same samples, each rounded."""

    bits: int = 32
    sparsity: int = 8
    samples: int = 300_000
    strength: float = 13.5
    strings: int = 32  # n'
    threshold: float = 1.5  # eps0; the proof allows small ones, which do not work
    filtered: bool = True
    quantised: bool = True
    most: int = 64  # strings drawn, of which the first n' are used

    def run(self, seed: int = 0) -> Run:
        """One member: the strings are its own and stay the same over its updates."""
        require(
            1 <= self.strings <= self.most,
            f"a filter looks at 1 to {self.most} strings: strings={self.strings}; use such a number",
        )
        task = self.task()
        drawn = task.inputs(jax.random.key(2**20 + seed), self.most)
        consistent = Strings(np.asarray(drawn), self.threshold, self.strings)
        own = FilteredPrefix(consistent if self.filtered else None)
        taught = Supervision(own, TrueLabels(), np.ones((task.layout.thoughts, 1)), Squared())
        rule = Quantised(GD(self.rate())) if self.quantised else GD(self.rate())  # pyright: ignore
        evaluation = Evaluation(1, self.chains, (Loss(), Outcome("soft"), ChildMass(), Released(consistent)))
        stage = Stage(task, (taught,), self.source(), rule, task.layout.depth, evaluation)
        return Run(positional(task, self.link, "lower-levels"), [stage])

    def runs(self) -> list[Run]:
        return [self.run(seed) for seed in range(self.seeds)]


def trained(size: OneStep | LogSteps, lab: Lab) -> Trained:
    """The training over its seeds; claims that look at the same ensemble share it."""
    return lab.train(size.runs() if isinstance(size, LogSteps) else size.run(), range(size.seeds))
