"""Early stopping in sweeps, by a rule that is fixed before the sweep.

Each round trains a shorter run, which is stored under its own id. Survivors are trained again from step 0. With budgets
that grow by `factor`, a sweep costs at most 1 / (1 - 1 / factor) of one that continues. A stopped member is
right-censored at its budget.
"""

import abc
import dataclasses

import numpy as np

from ..errors import require
from ..training import History, Run


class AbstractEnding(abc.ABC):
    """Stops members of one program at growing budgets."""

    @abc.abstractmethod
    def budgets(self, steps: int) -> list[int]:
        """Return the growing budgets, in steps, after which members are stopped; `steps` is the whole budget."""

    @abc.abstractmethod
    def ended(self, values: np.ndarray, falls: bool) -> np.ndarray:
        """Return which members are stopped.

        Args:
            values: the last value of the goal's metric for each member that is neither solved nor diverged; of several
                levels the worst, NaN where nothing was measured.
            falls: whether smaller is better.
        """

    @property
    def name(self) -> str:
        return type(self).__name__.lower()


@dataclasses.dataclass(frozen=True)
class Halving(AbstractEnding):
    """Successive halving: after `first` steps, and whenever the budget has grown by `factor`, the best 1/factor of the
    unsolved members continue. Ties are broken by their order in the plan."""

    first: int
    factor: int = 2

    def __post_init__(self):
        require(self.first >= 1, f"got first={self.first}; allowed are 1 step or more")
        require(self.factor >= 2, f"halving keeps a half or less: factor={self.factor}; use 2 or more")

    def budgets(self, steps: int) -> list[int]:
        found, budget = [], self.first
        while budget < steps:
            found.append(budget)
            budget *= self.factor
        return found

    def ended(self, values: np.ndarray, falls: bool) -> np.ndarray:
        order = np.argsort(values if falls else -values, kind="stable")  # NaN last
        ended = np.ones(len(values), bool)
        ended[order[: -(-len(values) // self.factor)]] = False
        return ended


@dataclasses.dataclass(frozen=True)
class Futility(AbstractEnding):
    """A bound: members that have not reached `value` of the goal's metric after `steps` are stopped."""

    steps: int
    value: float

    def __post_init__(self):
        require(self.steps >= 1, f"got steps={self.steps}; allowed are 1 step or more")

    def budgets(self, steps: int) -> list[int]:
        return [self.steps] if self.steps < steps else []

    def ended(self, values: np.ndarray, falls: bool) -> np.ndarray:
        return ~(values <= self.value if falls else values >= self.value)


def goal_values(run: Run, history: History) -> np.ndarray:
    """The goal's metric as every member last measured it; of several levels the worst."""
    require(
        run.goal is not None,
        "early stopping compares members by their goal: this run has none; use Run(..., goal=Until(...))",
    )
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
    return Run(run.model, stages, run.goal, run.start)
