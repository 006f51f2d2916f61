"""A stage: what is taught, how the weights move, for how long, and what is measured. A run: stages, and a goal."""

import dataclasses
import functools
import operator
from collections.abc import Iterable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, UInt32

from ..errors import require
from ..fields import as_tuple, numbers, require_all, require_kind, require_whole, whole_numbers
from ..models import AbstractModel
from ..probes import AbstractProbe, ChildMass, Loss, Outcome
from ..supervision import AbstractSource, Supervision
from ..supervision.policy import Clipped
from ..tasks import AbstractTask, Chain
from .optimizers import AbstractOptimizer


class Evaluation(eqx.Module):
    """Held-out chains, fixed per member, probed on entry to a stage and every `every` steps. `numbered` takes the
    task's held-out inputs, which no numbered source ever shows. A run whose first stage is probed after every step is
    taken to be short: on a CPU it is compiled sooner, and trains slower."""

    every: int = eqx.field(static=True, default=25)
    count: int = eqx.field(static=True, default=2000)
    probes: tuple[AbstractProbe, ...] = eqx.field(converter=as_tuple, default=(Loss(), Outcome(), ChildMass()))
    numbered: bool = eqx.field(static=True, default=False)

    def __check_init__(self):
        require_whole(every=self.every, count=self.count)
        require_all("probes", self.probes, AbstractProbe, "Outcome()")
        require(self.every >= 1, f"evaluations are at least a step apart: every={self.every}; use 1 or more")
        require(self.count >= 1, f"an evaluation needs chains: count={self.count}; use 1 or more")

    def chains(self, task: AbstractTask, secret, key: Key[Array, ""]) -> Chain:
        if not self.numbered:
            return task.sample(secret, key, self.count)
        require(
            self.count <= task.held_out,
            f"held-out inputs are {task.held_out} here: count={self.count}; use fewer",
        )
        return task.numbered(secret, jnp.arange(self.count, dtype=jnp.uint32), held_out=True)


class Until(eqx.Module):
    """A metric and the value that it must reach; of a metric over levels, on all of them."""

    metric: str = eqx.field(static=True)
    reaches: Float[Array | np.ndarray, ""] = eqx.field(converter=numbers, default=1.0)  # pyright: ignore
    falls: bool = eqx.field(static=True, default=False)  # to that value, where a loss is meant

    def __check_init__(self):
        require_kind("metric", self.metric, str, "'padded.answer'")

    def __call__(self, found: dict[str, Array]) -> Bool[Array, ""]:
        value = found[self.metric]
        return jnp.all(value <= self.reaches) if self.falls else jnp.all(value >= self.reaches)


def _require_until(name: str, value) -> None:
    require(
        value is None or isinstance(value, Until),
        f"`{name}` is a metric to reach: {name}={str(value)[:60]}; use Until, as in Until('padded.answer')",
    )


def _steps(value) -> Array | np.ndarray:
    return whole_numbers("steps", value)


def _samples(value) -> Array | np.ndarray:
    return value if isinstance(value, jax.Array) else np.asarray(value, np.uint32)


PARTS: dict[str, tuple[type, str]] = {  # with an example
    "task": (AbstractTask, "Parity(bits=8, sparsity=4)"),
    "source": (AbstractSource, "Sampled(64)"),
    "optimizer": (AbstractOptimizer, "Adam(0.1)"),
    "evaluation": (Evaluation, "Evaluation(every=25)"),
}


class Stage(eqx.Module):
    """A part of a run: one task, what is taught, and how the weights move. Arrays are data; all else is compiled in.

    Args:
        task: makes the chains.
        supervisions: the loss is the sum of their objectives.
        source: where the gradient comes from.
        optimizer: how a gradient moves the weights.
        steps: batches.
        evaluation: when and on what the probes measure.
        until: a member that reaches it leaves the stage.
        reset: forget the optimizer's state on entry.
        freeze: copy the model on entry; the copy is the teacher of `Rewritten`.
        reuse: updates on one batch, with the objective `Clipped`.
    """

    task: AbstractTask
    supervisions: tuple[Supervision, ...] = eqx.field(converter=as_tuple)  # the objective is their sum
    source: AbstractSource
    optimizer: AbstractOptimizer
    steps: Int[Array | np.ndarray, ""] = eqx.field(converter=_steps)  # batches
    evaluation: Evaluation = Evaluation()
    until: Until | None = None  # where a member leaves the stage
    reset: bool = eqx.field(static=True, default=True)  # forget the optimizer's state on entry
    freeze: bool = eqx.field(static=True, default=False)  # become one's own teacher on entry
    reuse: int = eqx.field(static=True, default=1)  # updates on one batch, for clipped ratios

    def __check_init__(self):
        for name, (kind, example) in PARTS.items():
            require_kind(name, getattr(self, name), kind, example)
        require_all("supervisions", self.supervisions, Supervision, "teacher_forcing(task.layout)")
        require_whole(reuse=self.reuse)
        _require_until("until", self.until)
        if isinstance(self.steps, np.ndarray):
            every = self.evaluation.every
            require(
                bool((self.steps >= 1).all() and (self.steps % every == 0).all()),
                f"a stage is whole evaluations long: steps={self.steps.tolist()}, every={every}; use a multiple of it",
            )
        require(self.reuse >= 1, f"a batch is used at least once: reuse={self.reuse}; use 1 or more")
        require(
            self.reuse == 1 or all(isinstance(term.objective, Clipped) for term in self.supervisions),
            f"reuse={self.reuse} needs importance ratios: use objective=Clipped(...) or reuse=1",
        )

    def loss_function(self, secret):
        """The sum of what is taught, as a function of model and chains."""

        def loss(model, chains, key):
            terms = [term(model, self.task, secret, chains, key) for term in self.supervisions]
            return functools.reduce(operator.add, terms)

        return loss


class Start(eqx.Module):
    """Where a training continues an earlier one: the same secret, and new batches.

    Args:
        secret: of the task.
        steps: training steps taken before.
        samples: chains consumed before; a source that numbers its inputs takes the next ones.
    """

    secret: Any
    steps: Int[Array | np.ndarray, ""] = eqx.field(converter=_steps, default=0)
    samples: UInt32[Array | np.ndarray, ""] = eqx.field(converter=_samples, default=0)

    @classmethod
    def after(cls, secret: Any, before: "Start | None", steps: int, samples: int) -> "Start":
        """Return the start of a training that follows another one.

        Args:
            secret: of the member.
            before: where the other training started.
            steps: that it took.
            samples: chains that it consumed.
        """
        if before is None:
            return cls(secret, steps, samples)  # pyright: ignore
        return cls(secret, np.asarray(before.steps) + steps, np.asarray(before.samples) + np.uint32(samples))


class Run(eqx.Module):
    """One training, up to its seed.

    A member is solved when it first reaches the goal; by default when every answer of its first `Outcome` is right.
    The goal does not end the training: `until_goal` and a stage's `until` do.

    Args:
        model: what learns. Each member draws its own weights, unless the model is pretrained: a trained, loaded or
            imported model keeps the weights that it has.
        stages: what the members go through. Stages may differ in task if their secrets have one shape and the model
            reads them all.
        goal: a metric and the value that it must reach.
        start: the secret and the position in the data stream of an earlier training; by default each member draws its
            secret from its seed. `Trained.continue_with` and `Loaded.continue_with` fill it in.
    """

    model: AbstractModel
    stages: tuple[Stage, ...]
    goal: Until | None
    start: Start | None = None

    def __init__(
        self, model: AbstractModel, stages: Iterable[Stage], goal: Until | None = None, start: Start | None = None
    ):
        require_kind("model", model, AbstractModel, "gated(task)")
        self.start = start
        self.model, self.stages = model, tuple(stages) if isinstance(stages, Iterable) else stages  # pyright: ignore
        require_all("stages", self.stages, Stage, "Stage(task, supervisions, Sampled(64), Adam(0.1), 100)")
        require(len(self.stages) > 0, "a run needs at least one stage: stages=(); give it one")
        _require_until("goal", goal)
        outcomes = [probe for probe in self.stages[0].evaluation.probes if isinstance(probe, Outcome)]
        self.goal = Until(f"{outcomes[0].reading}.answer") if goal is None and outcomes else goal

    @property
    def task(self) -> AbstractTask:
        """The task that draws the member's secret."""
        return self.stages[0].task

    def until_goal(self) -> "Run":
        """The same run, whose members leave its last stage when they reach the goal.

        A solved member then costs no further steps. The new run has another id than this one.

        Returns:
            A run whose last stage has `until=goal`; this run itself if it has no goal, or if its last stage already
            has an `until`.

        Example:
            >>> import sorites as so
            >>> task = so.Parity(bits=8, sparsity=4)
            >>> stages = so.stages(task, [so.direct(task.layout)], so.Sampled(100), so.Adam(0.1), steps=100)
            >>> run = so.Run(so.gated(task), stages, goal=so.Until("padded.answer"))
            >>> run.stages[-1].until is None, run.until_goal().stages[-1].until.metric
            (True, 'padded.answer')
        """
        last = self.stages[-1]
        if self.goal is None or last.until is not None:
            return self
        return Run(self.model, (*self.stages[:-1], dataclasses.replace(last, until=self.goal)), self.goal, self.start)
