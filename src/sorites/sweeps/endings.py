"""Which members end before their budget does, by a rule that is stated first.

A look is a training that is cut: the run with fewer steps, an exact prefix of the whole one, stored as what it is. Who
goes on is trained again from its first step, so nothing in the store is ever half of what its spec says; looks whose
budgets grow by `factor` cost at most 1 / (1 - 1 / factor) of going on where one stood. Whoever is ended is
right-censored at its look, like a member whose budget ends.
"""

import abc
import dataclasses

import numpy as np

from ..errors import require
from ..training import History, Run


class AbstractEnding(abc.ABC):
    """Looks at the members of one program, at growing budgets."""

    @abc.abstractmethod
    def looks(self, steps: int) -> list[int]:
        """The budgets, in steps and growing, at which it looks before the whole one."""

    @abc.abstractmethod
    def ended(self, values: np.ndarray, falls: bool) -> np.ndarray:
        """Who ends, of the members that have neither solved nor diverged: by the last value of the goal's metric, the
        worst level of several, NaN where nothing was measured. falls: smaller is better."""

    @property
    def name(self) -> str:
        return type(self).__name__.lower()


@dataclasses.dataclass(frozen=True)
class Halving(AbstractEnding):
    """Successive halving: at `first` steps, and whenever the budget has grown by `factor`, the best 1/factor of the
    members still unsolved go on; of equal ones those that stand first in the plan."""

    first: int
    factor: int = 2

    def __post_init__(self):
        require(self.first >= 1, f"a look is after a step or more: first={self.first}; use 1 or more")
        require(self.factor >= 2, f"halving keeps a half or less: factor={self.factor}; use 2 or more")

    def looks(self, steps: int) -> list[int]:
        found, look = [], self.first
        while look < steps:
            found.append(look)
            look *= self.factor
        return found

    def ended(self, values: np.ndarray, falls: bool) -> np.ndarray:
        order = np.argsort(values if falls else -values, kind="stable")  # NaN last
        ended = np.ones(len(values), bool)
        ended[order[: -(-len(values) // self.factor)]] = False
        return ended


@dataclasses.dataclass(frozen=True)
class Futility(AbstractEnding):
    """A bound: who has not reached `value` of the goal's metric after `steps` ends there."""

    steps: int
    value: float

    def __post_init__(self):
        require(self.steps >= 1, f"a look is after a step or more: steps={self.steps}; use 1 or more")

    def looks(self, steps: int) -> list[int]:
        return [self.steps] if self.steps < steps else []

    def ended(self, values: np.ndarray, falls: bool) -> np.ndarray:
        return ~(values <= self.value if falls else values >= self.value)


def goal_values(run: Run, history: History) -> np.ndarray:
    """The goal's metric as every member last measured it; of several levels the worst."""
    require(run.goal is not None, "an ending looks at the goal: this run has none; give it one")
    assert run.goal is not None
    values = history.last(run.goal.metric).reshape(len(history.seeds), -1).astype(float)
    return values.max(axis=1) if run.goal.falls else values.min(axis=1)


def budget(run: Run) -> int:
    """Steps of the whole run."""
    return sum(int(np.max(stage.steps)) for stage in run.stages)


def cut(run: Run, steps: int) -> Run:
    """The same training, ended after so many steps (whole evaluations): for every member a prefix of the whole."""
    stages, left = [], steps
    for stage in run.stages:
        every = stage.evaluation.every
        here = min(int(np.max(stage.steps)), -(-left // every) * every)
        stages.append(dataclasses.replace(stage, steps=here))  # pyright: ignore
        left -= here
        if left <= 0:
            break
    return Run(run.model, stages, run.goal)
