"""Every task with every model under every supervision, by name: what trains, and the sentence that refuses the rest.

A cell is a `Run` at the model's own defaults. Rates, batches and steps may be given; otherwise the model's are used.
"""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import SpecError, require
from ..models import MODELS, AbstractModel, policy_for
from ..models.gpt import gpt
from ..probes import ChildMass, Loss, OnTask, Outcome
from ..supervision import (
    OBJECTIVES,
    AbstractObjective,
    ExpectedReward,
    OwnPrefix,
    Rewritten,
    Sampled,
    Supervision,
    TrueLabels,
    outcome_reward,
    process_reward,
    self_generated,
)
from ..tasks import GATES, AbstractTask, Boolean, Composition, Layout, Lego
from .check import refuses
from .curricula import CURRICULA
from .optimizers import OPTIMIZERS
from .stage import Evaluation, Run, Stage, Until

PARITIES = ("parity", "xor")
LEARNED = 0.01  # loss at which a stage of a curriculum is left


def own_soft(layout: Layout, objective: AbstractObjective | None = None) -> list[Supervision]:
    """The model's own soft thoughts, differentiated, and true labels."""
    where = np.full((layout.thoughts, layout.slots), 1 / layout.thoughts)
    return [Supervision(OwnPrefix("soft"), TrueLabels(), where, objective or OBJECTIVES["squared"])]


SUPERVISIONS: dict[str, tuple[Callable[..., list[Supervision]], str]] = {  # and the reading that it is judged by
    "direct": (CURRICULA["direct"], "padded"),
    "teacher-forcing": (CURRICULA["teacher-forcing"], "rolled"),
    "icot": (CURRICULA["icot"], "padded"),
    "log-icot": (CURRICULA["log-icot"], "padded"),
    "own-soft": (own_soft, "soft"),
    "own-greedy": (lambda layout, objective: [self_generated(layout, objective)], "rolled"),
    "process-reward": (lambda layout, objective: [process_reward(layout, ExpectedReward())], "rolled"),
    "outcome-reward": (lambda layout, objective: [outcome_reward(layout)], "rolled"),
    "self-training": (CURRICULA["teacher-forcing"], "rolled"),
}


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What tasks are made of; each takes what it needs."""

    bits: int = 8
    sparsity: int = 4
    decomposition: str = "tree"
    length: int = 3
    action: str = "C3"
    variables: int = 0  # of LEGO; 0: room for sentences of twice the length


TASKS = {
    **{name: f"the {name} of secret bits; decomposition tree, serial or flat" for name in GATES},
    "lego": "state tracking under a group action, named C6, D4, S5, A5/itself, Q8, C2xC3 and the like",
    "composition": "the product of elements of a group, or under any operation table, with its partial results",
}


def task_named(name: str, sizes: Sizes | None = None) -> AbstractTask:
    """A task of these sizes."""
    sizes = sizes or Sizes()
    require(name in TASKS, f"a task is one of {', '.join(TASKS)}: task={name!r}; use one of these")
    if name == "lego":
        return Lego(sizes.action, sizes.length, sizes.variables or 2 * sizes.length + 2)
    if name == "composition":
        return Composition(sizes.action, sizes.length)
    return Boolean(sizes.bits, sizes.sparsity, name, sizes.decomposition)  # pyright: ignore


def model_named(
    name: str,
    task: AbstractTask,
    longest: AbstractTask | None = None,
    layers: int | None = None,
    width: int | None = None,
) -> AbstractModel:
    """A model for a task: links that can express the gate, room for the longest chain, and otherwise its defaults.

    Args:
        name: a name in `MODELS`.
        task: makes the chains.
        longest: the task with the longest chain that the model will read; by default `task`.
        layers: of a model that has them.
        width: of a model that has one.

    Returns:
        The model before its weights are drawn.

    Raises:
        SpecError: where there is no such model, or it has no layers or width to choose.
    """
    require(name in MODELS, f"a model is one of {', '.join(MODELS)}: model={name!r}; use one of these")
    sizes: dict[str, Any] = {size: value for size, value in (("layers", layers), ("width", width)) if value is not None}
    for size, value in sizes.items():
        having = [each for each, make in MODELS.items() if size in inspect.signature(make).parameters]
        require(name in having, f"got {size}={value} for the model {name!r}; allowed for {', '.join(having)}; "
                "leave it out, or choose one of these models")  # fmt: skip
    if name == "gpt":
        return gpt(task, room=len(gpt(longest or task).net.positions), **sizes)
    linked = name in ("gated", "reader", "open-gates", "positional")
    if linked and isinstance(task, Boolean) and task.gate.name not in PARITIES:
        return MODELS[name](task, link=policy_for(task.gate.name))  # pyright: ignore
    return MODELS[name](task, **sizes)  # pyright: ignore


def run_named(
    task: str,
    model: str,
    supervision: str,
    sizes: Sizes | None = None,
    rate: float | None = None,
    batch: int | None = None,
    steps: int | None = None,
    every: int | None = None,
    goal: Until | None = None,
    count: int = 512,
    layers: int | None = None,
    width: int | None = None,
) -> Run:
    """A cell as a Run; stages of a curriculum are left when they are learned, the last one when the goal is reached."""
    known = ", ".join(SUPERVISIONS)
    require(supervision in SUPERVISIONS, f"a supervision is one of {known}: supervision={supervision!r}; use one")
    made = task_named(task, sizes)
    longer = made.at(2 * made.length) if isinstance(made, Lego) and supervision == "self-training" else made
    net = model_named(model, made, longer, layers, width)
    preset = net.defaults
    every, batch, steps = every or preset.every, batch or preset.batch, steps or preset.steps
    plan, reading = SUPERVISIONS[supervision]
    probes = [Loss(), Outcome(reading)]
    if type(net).attend is not AbstractModel.attend:
        probes.append(ChildMass())
    if longer is not made:
        probes.append(OnTask(longer, (Outcome(reading),), "long"))
    aim = f"{reading}.answer" + ("@long" if longer is not made else "")
    goal = goal or Until(aim)
    evaluation = Evaluation(every, count, tuple(probes))
    optimizer, objective = (
        OPTIMIZERS[preset.optimizer](preset.rate if rate is None else rate),
        OBJECTIVES[preset.objective],
    )
    supervisions = plan(made.layout, objective)
    stages = [
        Stage(made, (term,), Sampled(batch), optimizer, steps, evaluation, _leaves(goal, last=term is supervisions[-1]))  # pyright: ignore
        for term in supervisions
    ]
    if supervision == "self-training":
        own = Rewritten(Sampled(batch))
        [term] = plan(longer.layout, objective)
        stages[0] = dataclasses.replace(stages[0], until=Until(f"{reading}.chain"))
        stages.append(Stage(longer, (term,), own, optimizer, steps, evaluation, goal, reset=False, freeze=True))  # pyright: ignore
    return Run(net, stages, goal)


def _leaves(goal: Until, last: bool) -> Until:
    return goal if last else Until("own.loss", LEARNED, falls=True)  # pyright: ignore


COUNTED = {  # the tasks that the table of cells counts
    "parity": ("parity", {}),
    "parity, serial": ("parity", {"decomposition": "serial"}),
    "parity, flat": ("parity", {"decomposition": "flat"}),
    "and": ("and", {}),
    "or": ("or", {}),
    "lego": ("lego", {}),
    "composition": ("composition", {"action": "C5"}),
}


@dataclasses.dataclass(frozen=True)
class Cell:
    """One task, model and supervision: a run, or the sentence that refuses it."""

    task: str
    model: str
    supervision: str
    run: Run | None
    why: str

    @property
    def state(self) -> str:
        return "refused" if self.run is None else "trains"


@functools.cache
def cell(task: str, model: str, supervision: str, **choices) -> Cell:
    """The cell of a counted task; what is refused is found by tracing, which takes a while."""
    name, changes = COUNTED[task]
    try:
        run = run_named(name, model, supervision, Sizes(**changes), **choices)
    except SpecError as refusal:
        return Cell(task, model, supervision, None, str(refusal))
    for stage in run.stages:
        if refusal := refuses(run, stage):
            return Cell(task, model, supervision, None, refusal)
    note = ""
    if model == "gpt" and supervision.endswith("icot"):
        note = "a GPT reads all its layers in every stage"
    return Cell(task, model, supervision, run, note)


def cells(**choices) -> Iterator[Cell]:
    """Every cell, task by task."""
    for task in COUNTED:
        for model in MODELS:
            for supervision in SUPERVISIONS:
                yield cell(task, model, supervision, **choices)
