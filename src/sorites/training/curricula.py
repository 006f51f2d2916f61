"""Curricula: the order in which thoughts are taken away."""

from collections.abc import Callable
from typing import Any

from ..errors import require
from ..fields import as_tuple, require_all
from ..supervision import AbstractObjective, AbstractSource, Supervision, direct, teacher_forcing, without
from ..supervision.supervision import require_layout
from ..tasks import AbstractTask, Layout
from .optimizers import AbstractOptimizer
from .stage import Evaluation, Stage


def log_icot(layout: Layout, objective: AbstractObjective | None = None) -> list[Supervision]:
    """Log-ICoT: one level of thoughts is padded per stage; log2 k stages on a tree."""
    require_layout(layout)
    return [without(layout, end - layout.inputs, objective) for end in layout.ends[:-1]]


def linear_icot(layout: Layout, objective: AbstractObjective | None = None) -> list[Supervision]:
    """Standard ICoT: one thought is padded per stage; k - 1 stages."""
    require_layout(layout)
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
    supervisions = as_tuple(curriculum)
    require_all("curriculum", supervisions, Supervision, "teacher_forcing(task.layout)")
    optimizer = list(optimizer) if isinstance(optimizer, tuple) else optimizer
    optimizers = optimizer if isinstance(optimizer, list) else [optimizer] * len(supervisions)
    require(
        len(optimizers) == len(supervisions),
        f"got {len(optimizers)} optimizers for {len(supervisions)} stages; allowed are one, or one for each stage; use "
        "for example Adam(0.1)",
    )
    evaluation = Evaluation() if evaluation is None else evaluation
    return [
        Stage(task, (supervision,), source, each, steps, evaluation, **rest)
        for supervision, each in zip(supervisions, optimizers, strict=True)
    ]
