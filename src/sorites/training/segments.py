"""What one call of the compiled program does to one member: several segments, each `every` steps and an evaluation."""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from .member import Member, make_pool, train_step
from .plan import Plan
from .signatures import require_returned
from .stage import Stage, Until


class Call(NamedTuple):
    """The arguments of a call, as numbers, so that one program serves every call."""

    teaching: Int[Array, ""] | int  # which of the plan's teachings
    entry: Bool[Array, ""] | bool  # evaluate only: the evaluation on entry to a stage
    segments: Int[Array, ""] | int  # how many, at most `room`


def evaluate(plan: Plan, teaching: Int[Array, ""], member: Member) -> dict[str, Array]:
    """Measure every probe on the member's held-out chains."""
    stage, found = plan.stage, {}
    chains = stage.evaluation.chains(stage.task, member.secret, member.test)
    for probe in stage.evaluation.probes:

        def measure(supervisions, probe=probe):
            measured = probe(member.model, stage.task, member.secret, chains, supervisions)
            require_returned(probe, "__call__", measured, dict)
            return {name: jnp.asarray(value, jnp.float32) for name, value in measured.items()}

        depends = probe.needs_supervision
        found |= _switch(measure, plan.teachings, teaching) if depends else measure(plan.teachings[0])
    return found


def _switch(function: Callable, arguments: Sequence, number: Int[Array, ""]) -> Any:
    """Apply the function to one of the arguments, chosen when the program runs."""
    if len(arguments) == 1:
        return function(arguments[0])
    return jax.lax.switch(number, [functools.partial(function, each) for each in arguments])


measure: Any = eqx.filter_jit(evaluate, inline=True)  # pyright: ignore  (traced once, also where only shapes are needed)


def run_segments(plan: Plan, call: Call, room: int, vmapped: bool, member: Member) -> tuple[Member, dict[str, Array]]:
    """Run `call.segments` segments.

    Args:
        plan: the stage and what is taught in it.
        call: how many segments, and of which teaching.
        room: for how many segments there is room in the measurements.
        vmapped: whether the member is one of many under a vmap.
        member: the member to train.

    Returns:
        The member, and its measurements with a leading axis of length `room`; NaN where nothing was measured.
    """
    static, pool = eqx.filter(member, eqx.is_array, inverse=True), _pool_for(plan.stage, call, member)
    shapes = eqx.filter_eval_shape(measure, plan, call.teaching, member)
    shapes |= {"training.loss": jax.ShapeDtypeStruct((), jnp.float32)}
    nothing = {name: jnp.full(leaf.shape, jnp.nan, leaf.dtype) for name, leaf in shapes.items()}
    records = {name: jnp.full((room, *leaf.shape), jnp.nan, leaf.dtype) for name, leaf in shapes.items()}

    def body(number, carry):
        arrays, records = carry
        arrays, found = _run_segment(plan, call, vmapped, eqx.combine(arrays, static), pool, nothing)
        return arrays, {name: every.at[number].set(found[name]) for name, every in records.items()}

    arrays, records = jax.lax.fori_loop(0, call.segments, body, (eqx.filter(member, eqx.is_array), records))
    return eqx.combine(arrays, static), records


def _pool_for(stage: Stage, call: Call, member: Member) -> Any:
    """Make the source's pool; the evaluation on entry does without."""
    shapes = eqx.filter_eval_shape(make_pool, stage, member)
    arrays, static = eqx.partition(shapes, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
    leaves = jax.tree.leaves(arrays)
    if not leaves or any(jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) for leaf in leaves):  # keys have no zeros
        return make_pool(stage, member)

    def empty():
        return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), arrays)

    made = jax.lax.cond(call.entry, empty, lambda: eqx.filter(make_pool(stage, member), eqx.is_array))
    return eqx.combine(made, static)


def _run_segment(plan: Plan, call: Call, vmapped: bool, member: Member, pool: Any, nothing: dict[str, Array]):
    """Run the steps between two evaluations, and the evaluation; a finished member stays as it is."""
    stage, (start, static) = plan.stage, eqx.partition(member, eqx.is_array)

    def no_steps(arrays):
        return arrays, jnp.full((), jnp.nan, jnp.float32)

    def steps(supervisions, arrays):
        here = dataclasses.replace(stage, supervisions=supervisions)

        def one(carry, _):
            arrays, total = carry
            after, loss = train_step(here, eqx.combine(arrays, static), pool)
            return (eqx.filter(after, eqx.is_array), total + loss.astype(jnp.float32)), None

        first = (arrays, jnp.zeros((), jnp.float32))
        (arrays, total), _ = jax.lax.scan(one, first, None, length=stage.evaluation.every)
        return arrays, total / stage.evaluation.every

    def work(arrays):
        branches = [no_steps, *(functools.partial(steps, supervisions) for supervisions in plan.teachings)]
        arrays, loss = jax.lax.switch(jnp.where(call.entry, 0, call.teaching + 1), branches, arrays)
        after = eqx.combine(arrays, static)
        found = measure(plan, call.teaching, after) | {"training.loss": loss}
        return eqx.filter(_mark(stage, plan.goal, after, found), eqx.is_array), found

    finished = member.left | member.diverged
    if not vmapped:
        return jax.lax.cond(finished, lambda arrays: (arrays, nothing), work, start)
    # Under vmap a cond computes both branches, and here every teaching as well: choose the result instead.
    return jax.tree.map(lambda old, new: jnp.where(finished, old, new), (start, nothing), work(start))


def _mark(stage: Stage, goal: Until | None, member: Member, found: dict[str, Array]) -> Member:
    """Mark the member as solved, as ready to leave the stage, or as diverged."""
    weights = jax.tree.leaves(eqx.filter(member.model, eqx.is_inexact_array))
    kind = jnp.result_type(*weights)
    every = jax.lax.optimization_barrier(jnp.concatenate([weight.ravel().astype(kind) for weight in weights]))
    diverged = ~jnp.all(jnp.isfinite(every))  # one reduction to compile; without the barrier one for each weight
    reached = np.False_ if goal is None else goal(found)
    solved = jnp.where((member.solved_at < 0) & reached & ~diverged, member.step, member.solved_at)
    left = member.step - member.stage_start >= stage.steps
    left = left if stage.until is None else left | stage.until(found)
    return dataclasses.replace(member, solved_at=solved, left=left, diverged=member.diverged | diverged)
