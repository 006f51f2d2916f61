"""A stage: what is taught, how the weights move, for how long, and what is measured."""

import functools
import operator
from collections.abc import Iterable

import equinox as eqx

from ..errors import require
from ..models import AbstractModel
from ..probes import AbstractProbe, Answer, ChildMass, Loss
from ..supervision import AbstractSource, Supervision
from ..tasks import AbstractTask
from .rules import AbstractRule


class Evaluation(eqx.Module):
    """Held-out chains, fixed per member, probed on entry to a stage and every `every` steps."""

    every: int = eqx.field(static=True, default=25)
    count: int = eqx.field(static=True, default=2000)
    probes: tuple[AbstractProbe, ...] = (Loss(), Answer(), ChildMass())

    def __check_init__(self):
        require(self.every >= 1, f"evaluations are at least a step apart: every={self.every}; use 1 or more")
        require(self.count >= 1, f"an evaluation needs chains: count={self.count}; use 1 or more")


class Stage(eqx.Module):
    """Arrays in it are data, everything else is the compile key."""

    task: AbstractTask
    taught: tuple[Supervision, ...]  # the objective is their sum
    source: AbstractSource
    rule: AbstractRule
    steps: int = eqx.field(static=True)
    evaluation: Evaluation = Evaluation()
    reset: bool = eqx.field(static=True, default=True)  # forget the rule's state on entry
    until: float | None = eqx.field(static=True, default=None)  # accuracy at which a member leaves the stage

    def __check_init__(self):
        require(
            self.steps >= 1 and self.steps % self.evaluation.every == 0,
            f"a stage is whole evaluations long: steps={self.steps}, every={self.evaluation.every}; "
            f"use a multiple of {self.evaluation.every}",
        )

    def objective(self, secret):
        """The sum of what is taught, as a function of model and chains."""

        def loss(model, chains, key):
            terms = [term(model, self.task, secret, chains, key) for term in self.taught]
            return functools.reduce(operator.add, terms)

        return loss


class Run(eqx.Module):
    """One training, up to its seed: the model as it starts, and the stages it goes through."""

    model: AbstractModel
    stages: tuple[Stage, ...]

    def __init__(self, model: AbstractModel, stages: Iterable[Stage]):
        self.model, self.stages = model, tuple(stages)
        require(len(self.stages) > 0, "a run needs at least one stage: stages=(); give it one")

    @property
    def task(self) -> AbstractTask:
        """The task that draws the member's secret."""
        return self.stages[0].task
