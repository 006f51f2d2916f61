"""Curricula: the order in which thoughts are taken away."""

from collections.abc import Callable
from typing import Any

from ..supervision import AbstractSignal, AbstractSource, Supervision, direct, teacher_forcing, without
from ..tasks import AbstractTask, Layout
from .rules import AbstractRule
from .stage import Evaluation, Stage


def log_icot(layout: Layout, signal: AbstractSignal | None = None) -> list[Supervision]:
    """Log-ICoT: one level of thoughts is padded per stage; log2 k stages on a tree."""
    return [without(layout, end - layout.inputs, signal) for end in layout.ends[:-1]]


def linear_icot(layout: Layout, signal: AbstractSignal | None = None) -> list[Supervision]:
    """Standard ICoT: one thought is padded per stage; k - 1 stages."""
    return [without(layout, removed, signal) for removed in range(layout.thoughts)]


def no_curriculum(layout: Layout, signal: AbstractSignal | None = None) -> list[Supervision]:
    """The last stage of Log-ICoT from the start: the answer alone, every thought padded."""
    return [direct(layout, signal)]


def full_chain(layout: Layout, signal: AbstractSignal | None = None) -> list[Supervision]:
    """Teacher forcing throughout: every thought shown and taught."""
    return [teacher_forcing(layout, signal)]


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
    rule: AbstractRule | list[AbstractRule],
    steps: int,
    evaluation: Evaluation | None = None,
    **rest: Any,
) -> list[Stage]:
    """One stage per supervision; `rule` may be one per stage."""
    rules = rule if isinstance(rule, list) else [rule] * len(curriculum)
    evaluation = Evaluation() if evaluation is None else evaluation
    return [
        Stage(task, (taught,), source, each, steps, evaluation, **rest)
        for taught, each in zip(curriculum, rules, strict=True)
    ]
