"""What the atlas compares: a GPT that internalises, a decoder under reward, and the cells."""

import dataclasses
import functools

import numpy as np

from ...errors import require
from ...models import MODELS
from ...models.decoder import decoder
from ...models.gpt import gpt
from ...probes import Loss, Outcome
from ...supervision import (
    CrossEntropy,
    ExpectedReward,
    Rewritten,
    Sampled,
    Supervision,
    direct,
    outcome_reward,
    process_reward,
    teacher_forcing,
)
from ...tasks import AbstractTask, Boolean, Lego
from ...training import Adam, Evaluation, Run, Stage, Until, linear_icot, log_icot
from ...training.cells import COUNTED, LEARNED, SUPERVISIONS, Sizes, cell, run_named
from .trials import Arm

SHUFFLED = "shuffled labels"
LOSS = CrossEntropy()
WAYS = ("absent", "padded", "icot", "log-icot", "forced, then log-icot")
TEACHINGS = ("teacher-forcing", "self-training", "process-reward", "outcome-reward")
STARTS = ("from scratch", "after forcing")
PAIRS = (
    *(f"parity/{name}" for name in ("gated", "reader", "open-gates", "positional", "perceptron", "gpt")),
    "composition/gpt",
    "lego/decoder",
)


@dataclasses.dataclass(frozen=True)
class Internalising:
    """A GPT on parity, judged by its answer from padded thoughts in one pass; every arm has the same rates and the same
    budget, shared equally among its stages, which are left early where they are learned."""

    bits: int = 16
    sparsity: int = 8
    layers: int = 3
    heads: int = 4
    width: int = 64
    batch: int = 128
    steps: int = 6000  # of all stages together
    every: int = 25
    rates: tuple[float, ...] = (3e-4, 1e-3, 3e-3)
    tuning: int = 3
    seeds: int = 16

    ways: tuple[str, ...] = WAYS

    def __post_init__(self):
        for name in self.ways:
            require(name in WAYS, f"a way is one of {'; '.join(WAYS)}: ways={name!r}; use one of these")

    def arms(self) -> list[Arm]:
        return [Arm((name,), functools.partial(self.run, name), rates=self.rates) for name in self.ways]

    def run(self, name: str, rate: float) -> Run:
        flat = name == "absent"
        task = Boolean(self.bits, self.sparsity, "parity", "flat" if flat else "tree")  # pyright: ignore
        layout = task.layout
        forced = [teacher_forcing(layout, LOSS)]
        terms: dict[str, list[Supervision]] = {
            "absent": [direct(layout, LOSS)],
            "padded": [direct(layout, LOSS)],
            "icot": linear_icot(layout, LOSS),
            "log-icot": log_icot(layout, LOSS),
            "forced, then log-icot": [*forced, *log_icot(layout, LOSS)[1:]],
        }
        taught = terms[name]
        shares = [self.steps // len(taught)] * len(taught)
        if name.startswith("forced"):  # half of the budget for the chain as it is
            shares = [self.steps // 2, *[self.steps // 2 // (len(taught) - 1)] * (len(taught) - 1)]
        goal = Until("padded.answer")
        model = gpt(task, self.layers, self.heads, self.width)
        checks = Evaluation(self.every, 512, (Loss(), Outcome("padded")))
        return Run(model, _staged(task, taught, shares, self, rate, checks, goal), goal)


@dataclasses.dataclass(frozen=True)
class Rewarded:
    """LEGO's decoder under four teachings, from scratch and after a short teacher forcing, in equal budgets; judged by
    the answer after its own greedy clauses."""

    action: str = "C3"
    length: int = 3
    variables: int = 8
    width: int = 64
    hidden: int = 128
    batch: int = 128
    steps: int = 2000
    forced: int = 50  # of teacher forcing first
    every: int = 25
    rates: tuple[float, ...] = (3e-4, 1e-3, 3e-3)
    tuning: int = 3
    seeds: int = 16

    teachings: tuple[str, ...] = TEACHINGS

    def __post_init__(self):
        for name in self.teachings:
            require(name in TEACHINGS, f"a teaching is one of {', '.join(TEACHINGS)}: teachings={name!r}; use one")

    def arms(self) -> list[Arm]:
        return [
            Arm((teaching, start), functools.partial(self.run, teaching, start), rates=self.rates)
            for teaching in self.teachings
            for start in STARTS
        ]

    def run(self, teaching: str, start: str, rate: float) -> Run:
        task = Lego(self.action, self.length, self.variables)
        layout, goal = task.layout, Until("rolled.answer")
        forced = teacher_forcing(layout, LOSS)
        term = {
            "teacher-forcing": forced,
            "self-training": forced,
            "process-reward": process_reward(layout, ExpectedReward()),
            "outcome-reward": outcome_reward(layout),
        }[teaching]
        checks = Evaluation(self.every, 512, (Loss(), Outcome("rolled")))
        after = start == "after forcing"
        taught, shares = ([forced, term], [self.forced, self.steps - self.forced]) if after else ([term], [self.steps])
        stages = _staged(task, taught, shares, self, rate, checks, goal, learned=False)
        if teaching == "self-training":
            own = Rewritten(Sampled(self.batch))
            stages[-1] = dataclasses.replace(stages[-1], source=own, freeze=True)
        return Run(decoder(task, width=self.width, hidden=self.hidden), stages, goal)


def _staged(
    task: AbstractTask,
    taught: list[Supervision],
    shares: list[int],
    size: "Internalising | Rewarded",
    rate: float,
    checks: Evaluation,
    goal: Until,
    learned: bool = True,
) -> list[Stage]:
    """Stages of whole evaluations; the last is left at the goal, the others where they are learned."""
    early = Until("own.loss", LEARNED, falls=True) if learned else None  # pyright: ignore
    stages = []
    for place, (term, share) in enumerate(zip(taught, shares, strict=True), start=1):
        steps = max(size.every, share // size.every * size.every)
        until = goal if place == len(taught) else early
        stages.append(Stage(task, (term,), Sampled(size.batch), Adam(rate), steps, checks, until))  # pyright: ignore
    return stages


@dataclasses.dataclass(frozen=True)
class Matrix:
    """Cells of task x model x supervision, and as a control teacher forcing on shuffled labels; the answer alone
    (direct) is the control without curriculum, in which padded thoughts are pause tokens. Rates are the model's own
    times `factors`; every cell has the same budget of steps, shared equally among its stages."""

    pairs: tuple[str, ...] = PAIRS  # task/model
    supervisions: tuple[str, ...] = (*SUPERVISIONS, SHUFFLED)
    bits: int = 8
    sparsity: int = 4
    factors: tuple[float, ...] = (0.3, 1.0, 3.0)
    steps: int = 0  # of all stages together; 0: three times the model's own
    layers: int = 1  # of a GPT
    tuning: int = 2
    seeds: int = 16

    def __post_init__(self):
        for name in self.pairs:
            task, _, model = name.partition("/")
            good = task in COUNTED and model in MODELS
            require(
                good, f"a pair is task/model, as in `sorites list cells`: pairs={name!r}; write for example parity/gpt"
            )
        for name in self.supervisions:
            known = (*SUPERVISIONS, SHUFFLED)
            require(name in known, f"a supervision is one of {', '.join(known)}: supervisions={name!r}; use one")

    def arms(self) -> list[Arm]:
        pairs = [pair.split("/") for pair in self.pairs]
        return [self.arm(task, model, each) for task, model in pairs for each in self.supervisions]

    def arm(self, task: str, model: str, supervision: str) -> Arm:
        found = cell(task, model, "teacher-forcing" if supervision == SHUFFLED else supervision)
        if found.run is None:
            return Arm((task, model, supervision), None, found.why)
        rates = tuple(float(factor * found.run.model.defaults.rate) for factor in self.factors)
        return Arm((task, model, supervision), functools.partial(self.run, task, model, supervision), found.why, rates)

    def run(self, task: str, model: str, supervision: str, rate: float) -> Run:
        name, changes = COUNTED[task]
        sizes = Sizes(**{"bits": self.bits, "sparsity": self.sparsity, **changes})
        shuffled = supervision == SHUFFLED
        taught = "teacher-forcing" if shuffled else supervision
        run = run_named(name, model, taught, sizes, rate=rate)
        own, count = run.model.defaults, len(run.stages)
        each = (self.steps or 3 * own.steps) // count // own.every * own.every
        run = run_named(name, model, taught, sizes, rate=rate, steps=max(each, own.every))
        if model == "gpt":
            net = gpt(run.task, self.layers, room=len(run.model.net.positions))  # pyright: ignore
            run = Run(net, run.stages, run.goal)
        if not shuffled:
            return run
        vocab = run.task.alphabet.vocab
        flips = np.float32(1 - 1 / vocab)  # every label as likely as any other
        terms = tuple(dataclasses.replace(term, flips=flips) for term in run.stages[0].supervisions)
        return Run(run.model, [dataclasses.replace(run.stages[0], supervisions=terms)], run.goal)


SMALL_BUDGET = {"steps": 50, "every": 25, "tuning": 1, "seeds": 2, "rates": (1e-3, 3e-3)}
SIZES = {
    "gpt-icot": {
        "tiny": Internalising(6, 4, 1, 2, 16, 16, ways=("padded", "log-icot"), **SMALL_BUDGET),  # pyright: ignore
        "quick": Internalising(8, 4, 2, 4, 32, 128, 2400, tuning=2, seeds=16),
        "paper": Internalising(),
    },
    "lego-rl": {
        "tiny": Rewarded(width=16, hidden=32, batch=16, forced=25, teachings=("self-training",), **SMALL_BUDGET),  # pyright: ignore
        "quick": Rewarded(steps=600, tuning=2, seeds=16),
        "paper": Rewarded(length=5, variables=12, width=128, hidden=512, steps=8000, forced=200, seeds=64),
    },
    "cells": {
        "tiny": Matrix(("parity/gated", "parity/decoder"), ("teacher-forcing", SHUFFLED), 6, 4, (1.0, 3.0), 25, tuning=1, seeds=2),
        "quick": Matrix(),
        "paper": Matrix(
            ("parity/gated", "parity/open-gates", "parity/positional", "parity/gpt"),
            ("direct", "teacher-forcing", "log-icot", "process-reward", "outcome-reward"), 16, 8, steps=6000, layers=3, tuning=4, seeds=64,
        ),
    },
}  # fmt: skip
