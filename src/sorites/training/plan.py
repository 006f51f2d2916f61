"""What one compiled program trains: stages that differ in nothing but what is taught share it, for their evaluations
are the same, and compiling those takes longer than compiling the steps. So do runs inside `sharing`."""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..probes import Loss
from ..supervision import Supervision
from .stage import Run, Stage, Until


class Plan(eqx.Module):
    """A stage as its program sees it: everything that may be taught in it, and which of it is."""

    stage: Stage  # without what is taught
    teachings: tuple[tuple[Supervision, ...], ...]
    goal: Until | None


_SHARING: ContextVar[tuple[Run, ...]] = ContextVar("sharing", default=())


@contextmanager
def sharing(runs: Iterable[Run]) -> Iterator[None]:
    """These runs are trained in the block, one after another, with as many members each: where they differ in nothing
    but what is taught, and no probe but `Loss` asks for that, one program is compiled for all. What a member does stays
    the same up to rounding. Of few that are still to be trained, others being stored, it compiles more than they need.
    """
    token = _SHARING.set(tuple(runs))
    try:
        yield
    finally:
        _SHARING.reset(token)


def partners_of(run: Run) -> list[Run]:
    """The runs of the block that a program of this one may serve as well, itself among them; outside of one nobody."""
    runs = _SHARING.get()
    known = [structure_of((each.model, each.goal)) for each in runs]
    own = structure_of((run.model, run.goal))
    return [each for each, structure in zip(runs, known, strict=True) if structure == own]


def plans(run: Run, partners: Iterable[Run] = ()) -> list[tuple[Plan, int]]:
    """For every stage its plan, and the number of what it teaches; partners: runs that share its programs."""
    taught = [pair for each in chain(partners, [run]) for pair in _taught(each)]
    found = []
    for (key, _), stage in zip(_taught(run), run.stages, strict=True):
        shared = [theirs for other, theirs in taught if other == key]
        distinct = {structure_of(each): each for each in shared} | {structure_of(stage.taught): stage.taught}
        number = list(distinct).index(structure_of(stage.taught))
        found.append((Plan(_untaught(stage), tuple(distinct.values()), run.goal), number))
    return found


def _untaught(stage: Stage) -> Stage:
    return dataclasses.replace(stage, taught=(), reset=True, freeze=False)


def _taught(run: Run) -> list[tuple[tuple, tuple[Supervision, ...]]]:
    """A key for every stage, and what it teaches: those with equal keys share a program."""
    teachers = np.cumsum([stage.freeze for stage in run.stages]) > 0
    found = []
    for place, (stage, teacher) in enumerate(zip(run.stages, teachers, strict=True)):
        own = None if _shares(stage) else (place, structure_of(stage.taught))
        found.append(((structure_of(_untaught(stage)), bool(teacher), own), stage.taught))
    return found


def alone(plan: Plan, number: int) -> Plan:
    """The plan of one stage: a smaller ensemble compiles only what it still needs."""
    return dataclasses.replace(plan, teachings=(plan.teachings[number],))


def _shares(stage: Stage) -> bool:
    """Whether what it measures has one shape whatever is taught."""
    return all(isinstance(probe, Loss) or not probe.asks_what_is_taught for probe in stage.evaluation.probes)


def structure_of(tree: Any) -> tuple:
    """What a program depends on: everything but the numbers in its arrays."""
    leaves, structure = jax.tree.flatten(tree)
    return structure, *((np.shape(leaf), jnp.result_type(leaf)) for leaf in leaves)


def once_a_structure(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Asked once for every structure of what it is asked about, under JAX's settings of the moment: what is found by
    tracing depends on no number."""
    known: dict[tuple, Any] = {}

    @functools.wraps(answer)
    def asked(*about: Any) -> Any:
        settings = tuple(jax.config.values[name] for name in ("jax_enable_x64", "jax_default_prng_impl"))
        key = settings, structure_of(about)
        if key not in known:
            known[key] = answer(*about)
        return known[key]

    return asked
