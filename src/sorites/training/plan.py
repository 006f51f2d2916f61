"""What one compiled program trains: stages of a run that differ only in what they teach share a program."""

import dataclasses

import equinox as eqx
import numpy as np

from ..probes import Loss
from ..supervision import Supervision
from .stage import Run, Stage, Until
from .structure import structure_of


class Plan(eqx.Module):
    """A stage as its program sees it, with every supervision that the program can teach."""

    stage: Stage  # without what is taught
    teachings: tuple[tuple[Supervision, ...], ...]
    goal: Until | None


def plans(run: Run) -> list[tuple[Plan, int]]:
    """Group the stages of a run into compiled programs.

    Args:
        run: the run.

    Returns:
        For each stage its plan, and the index of what it teaches in `plan.teachings`. Stages with equal plans share a
        program. They must differ only in supervision, in numbers, and in `reset`.
    """
    keys, found = _program_keys(run), []
    for key, stage in zip(keys, run.stages, strict=True):
        shared = [other.supervisions for other, theirs in zip(run.stages, keys, strict=True) if theirs == key]
        distinct = {structure_of(supervisions): supervisions for supervisions in shared} | {
            structure_of(stage.supervisions): stage.supervisions
        }
        number = list(distinct).index(structure_of(stage.supervisions))
        found.append((Plan(_without_supervision(stage), tuple(distinct.values()), run.goal), number))
    return found


def only(plan: Plan, number: int) -> Plan:
    """Return the plan with one of its teachings: a smaller ensemble compiles only what it still needs."""
    return dataclasses.replace(plan, teachings=(plan.teachings[number],))


def _program_keys(run: Run) -> list[tuple]:
    """Return a key for each stage; stages with equal keys share a program."""
    teachers = np.cumsum([stage.freeze for stage in run.stages]) > 0
    return [
        (structure_of(_without_supervision(stage)), bool(teacher), None if _shares(stage) else number)
        for number, (stage, teacher) in enumerate(zip(run.stages, teachers, strict=True))
    ]


def _without_supervision(stage: Stage) -> Stage:
    return dataclasses.replace(stage, supervisions=(), reset=True, freeze=False)


def _shares(stage: Stage) -> bool:
    """Whether its probes measure arrays of one shape under every supervision."""
    return all(isinstance(probe, Loss) or not probe.needs_supervision for probe in stage.evaluation.probes)
