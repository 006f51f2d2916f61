"""What one compiled program trains: stages that differ in nothing but what is taught share it, for their evaluations
are the same, and compiling those takes longer than compiling the steps."""

import dataclasses
import functools
from collections.abc import Callable
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


def plans(run: Run) -> list[tuple[Plan, int]]:
    """For every stage its plan, and the number of what it teaches."""
    bare = [dataclasses.replace(stage, taught=(), reset=True, freeze=False) for stage in run.stages]
    teachers = np.cumsum([stage.freeze for stage in run.stages]) > 0
    keys = [
        (structure_of(each), bool(teacher), None if _shares(each) else place)
        for place, (each, teacher) in enumerate(zip(bare, teachers, strict=True))
    ]
    found = []
    for place, stage in enumerate(run.stages):
        alike = [other.taught for other, key in zip(run.stages, keys, strict=True) if key == keys[place]]
        distinct = {structure_of(taught): taught for taught in alike} | {structure_of(stage.taught): stage.taught}
        number = list(distinct).index(structure_of(stage.taught))
        found.append((Plan(bare[place], tuple(distinct.values()), run.goal), number))
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
