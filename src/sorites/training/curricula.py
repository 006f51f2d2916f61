"""Curricula: the order in which thoughts are taken away."""

from collections.abc import Callable
from typing import Any

from ..supervision import AbstractObjective, AbstractSource, Supervision, direct, teacher_forcing, without
from ..tasks import AbstractTask, Layout
from .optimizers import AbstractOptimizer
from .stage import Evaluation, Stage


def log_icot(layout: Layout, objective: AbstractObjective | None = None) -> list[Supervision]:
    """Log-ICoT: one level of thoughts is padded per stage; log2 k stages on a tree."""
    return [without(layout, end - layout.inputs, objective) for end in layout.ends[:-1]]


def linear_icot(layout: Layout, objective: AbstractObjective | None = None) -> list[Supervision]:
    """Standard ICoT: one thought is padded per stage; k - 1 stages."""
    return [without(layout, removed, objective) for removed in range(layout.thoughts)]


def no_curriculum(layout: Layout, objective: AbstractObjective | None = None) -> list[Supervision]:
    """The last stage of Log-ICoT from the start: the answer alone, every thought padded."""
    return [direct(layout, objective)]


def full_chain(layout: Layout, objective: AbstractObjective | None = None) -> list[Supervision]:
    """Teacher forcing throughout: every thought shown and taught."""
    return [teacher_forcing(layout, objective)]


CURRICULA: dict[str, Callable[..., list[Supervision]]] = {
    "log-icot": log_icot,
    "icot": linear_icot,
    "direct": no_curriculum,
    "teacher-forcing": full_chain,
}


def stages(
    task: AbstractTask,
    curriculum: list[Supervision],
    source: AbstractSource,
    optimizer: AbstractOptimizer | list[AbstractOptimizer],
    steps: int,
    evaluation: Evaluation | None = None,
    **rest: Any,
) -> list[Stage]:
    """One stage per supervision; `optimizer` may be one per stage."""
    optimizers = optimizer if isinstance(optimizer, list) else [optimizer] * len(curriculum)
    evaluation = Evaluation() if evaluation is None else evaluation
    return [
        Stage(task, (supervisions,), source, each, steps, evaluation, **rest)
        for supervisions, each in zip(curriculum, optimizers, strict=True)
    ]
