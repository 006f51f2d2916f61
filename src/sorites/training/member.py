"""One training as a pytree: the engine adds a leading axis and has an ensemble."""

import dataclasses
import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, UInt32

from ..models import AbstractModel
from ..supervision import Draw
from .plan import Plan, once_a_structure
from .stage import Run, Stage, Until


class Member(eqx.Module):
    key: Key[Array, ""]  # step s draws from fold_in(key, s)
    test: Key[Array, ""]  # held-out chains
    secret: Any
    model: AbstractModel
    teacher: AbstractModel | None  # itself, as it was when it last entered a stage that freezes
    state: Any  # of the rule
    step: Int[Array, ""]
    entered: Int[Array, ""]  # the step at which the stage began
    drawn: UInt32[Array, ""]  # chains consumed
    solved_at: Int[Array, ""]  # first evaluated step at which the goal was reached; -1: never
    left: Bool[Array, ""]  # has reached the stage's `until` or its last step
    diverged: Bool[Array, ""]


def born(run: Run, seed: Int[Array, ""]) -> Member:
    """The member of that seed before any stage."""
    secret, model, train, test = jax.random.split(jax.random.key(seed), 4)
    zero = jnp.zeros((), jnp.int32)
    return Member(
        key=train,
        test=test,
        secret=run.task.draw(secret),
        model=run.model.fresh(model),
        teacher=None,
        state=None,
        step=zero,
        entered=zero,
        drawn=zero.astype(jnp.uint32),
        solved_at=zero - 1,
        left=zero > 0,
        diverged=zero > 0,
    )


def evaluate(plan: Plan, number: Int[Array, ""], member: Member) -> dict[str, Array]:
    """Every probe on the member's held-out chains, while that number of what the plan teaches is taught."""
    stage, found = plan.stage, {}
    chains = stage.evaluation.chains(stage.task, member.secret, member.test)
    for probe in stage.evaluation.probes:

        def measure(taught, probe=probe):
            measured = probe(member.model, stage.task, member.secret, chains, taught)
            return {name: jnp.asarray(value, jnp.float32) for name, value in measured.items()}

        found |= _chosen(measure, plan.teachings, number) if probe.asks_what_is_taught else measure(plan.teachings[0])
    return found


def _chosen(function: Callable, among: Sequence, number: Int[Array, ""]) -> Any:
    """The function of one of these."""
    if len(among) == 1:
        return function(among[0])
    return jax.lax.switch(number, [functools.partial(function, each) for each in among])


def enter(stage: Stage, member: Member) -> Member:
    """Begin a stage: prepare the rule, and the teacher where there is to be one."""
    state, teacher = member.state, member.teacher
    if stage.reset or state is None:
        state = stage.rule.transformation().init(eqx.filter(member.model, member.model.trainable()))
    if stage.freeze:  # a copy: the program reuses the memory of what it is given
        teacher = jax.tree.map(lambda leaf: jnp.copy(leaf) if eqx.is_array(leaf) else leaf, member.model)
    entered = member.step + 0  # a buffer of its own
    return dataclasses.replace(member, state=state, teacher=teacher, entered=entered, left=jnp.zeros((), bool))


@once_a_structure
def newborn(run: Run) -> Member:
    """The shapes of a member in its first stage."""
    return eqx.filter_eval_shape(lambda seed: enter(run.stages[0], born(run, seed)), jax.ShapeDtypeStruct((), np.int32))


def pool(stage: Stage, member: Member) -> Any:
    """The source's own chains: made anew for every chunk, so that members who run one after another hold one pool."""
    key = jax.random.fold_in(member.test, 1)
    return stage.source.prepare(stage.task, member.secret, key, member.teacher)


def step(stage: Stage, member: Member, pool: Any) -> tuple[Member, Float[Array, ""]]:
    """One batch and its update (or its several), and the training loss before the first."""
    key = jax.random.fold_in(member.key, member.step)
    draw = Draw(member.secret, pool, member.drawn, key, member.teacher)
    if stage.reuse == 1:
        objective = stage.objective(member.secret)
        loss, gradient = stage.source.gradient(objective, member.model, stage.task, draw)
        model, state = moved(stage, member.model, member.state, gradient)
    else:
        model, state, loss = _reused(stage, member, draw)
    drawn = member.drawn + jnp.asarray(stage.source.samples, jnp.uint32)
    return dataclasses.replace(member, model=model, state=state, step=member.step + 1, drawn=drawn), loss


def moved(stage: Stage, model: AbstractModel, state: Any, gradient: Any) -> tuple[AbstractModel, Any]:
    """The rule's update; a float32 rate must not widen weights or moments of another type."""
    updates, after = stage.rule.transformation().update(gradient, state, eqx.filter(model, model.trainable()))

    def move(weight, change):
        return weight if change is None else (weight + change).astype(weight.dtype)

    model = jax.tree.map(move, model, updates, is_leaf=lambda leaf: leaf is None)
    return model, jax.tree.map(lambda new, old: new.astype(old.dtype), after, state)


def _reused(stage: Stage, member: Member, draw: Draw) -> tuple[AbstractModel, Any, Float[Array, ""]]:
    """Own chains written once, and `reuse` updates on them."""
    make, choose = jax.random.split(draw.key)
    chains = stage.source.chains(stage.task, draw, make)
    batches = [term.collect(member.model, stage.task, member.secret, chains, choose) for term in stage.taught]

    def surrogate(part, still):
        model = eqx.combine(part, still)
        return functools.reduce(
            operator.add, [term.again(model, batch) for term, batch in zip(stage.taught, batches, strict=True)]
        )

    static = eqx.filter(member.model, eqx.is_array, inverse=True)

    def update(carry, _):
        arrays, state = carry
        model = eqx.combine(arrays, static)
        loss, gradient = jax.value_and_grad(surrogate)(*eqx.partition(model, model.trainable()))
        model, state = moved(stage, model, state, gradient)
        return (eqx.filter(model, eqx.is_array), state), loss

    start = (eqx.filter(member.model, eqx.is_array), member.state)
    (arrays, state), losses = jax.lax.scan(update, start, None, length=stage.reuse)
    return eqx.combine(arrays, static), state, losses[0]


class Now(NamedTuple):
    """What a call of the program is to do; numbers, so that one program does it all."""

    number: Int[Array, ""] | int  # of what is taught
    entering: Bool[Array, ""] | bool  # a look at whoever comes in, without a step
    segments: Int[Array, ""] | int  # at most as many as there is room for


measured: Any = eqx.filter_jit(evaluate, inline=True)  # pyright: ignore  (traced once, though asked for its shapes first)


def advance(plan: Plan, now: Now, room: int, together: bool, member: Member) -> tuple[Member, dict[str, Array]]:
    """So many segments one after another, and what was measured after each; `together`: with others, under a vmap."""
    static, chains = eqx.filter(member, eqx.is_array, inverse=True), _pool_of(plan.stage, now, member)
    shapes = eqx.filter_eval_shape(measured, plan, now.number, member)
    shapes |= {"training.loss": jax.ShapeDtypeStruct((), jnp.float32)}
    nothing = {name: jnp.full(leaf.shape, jnp.nan, leaf.dtype) for name, leaf in shapes.items()}
    records = {name: jnp.full((room, *leaf.shape), jnp.nan, leaf.dtype) for name, leaf in shapes.items()}

    def body(place, carry):
        arrays, records = carry
        arrays, found = _segment(plan, now, together, eqx.combine(arrays, static), chains, nothing)
        return arrays, {name: every.at[place].set(found[name]) for name, every in records.items()}

    arrays, records = jax.lax.fori_loop(0, now.segments, body, (eqx.filter(member, eqx.is_array), records))
    return eqx.combine(arrays, static), records


def _pool_of(stage: Stage, now: Now, member: Member) -> Any:
    """The pool, which a look without a step does without."""
    shapes = eqx.filter_eval_shape(pool, stage, member)
    arrays, static = eqx.partition(shapes, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
    leaves = jax.tree.leaves(arrays)
    if not leaves or any(jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) for leaf in leaves):  # nothing, or no zeros
        return pool(stage, member)

    def empty():
        return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), arrays)

    made = jax.lax.cond(now.entering, empty, lambda: eqx.filter(pool(stage, member), eqx.is_array))
    return eqx.combine(made, static)


def _segment(plan: Plan, now: Now, together: bool, member: Member, pool: Any, nothing: dict[str, Array]):
    """The steps between two evaluations, and the evaluation; a member that is done stands still."""
    stage, (start, static) = plan.stage, eqx.partition(member, eqx.is_array)

    def stand(arrays):
        return arrays, jnp.full((), jnp.nan, jnp.float32)

    def walk(taught, arrays):
        here = dataclasses.replace(stage, taught=taught)

        def one(carry, _):
            arrays, total = carry
            after, loss = step(here, eqx.combine(arrays, static), pool)
            return (eqx.filter(after, eqx.is_array), total + loss.astype(jnp.float32)), None

        first = (arrays, jnp.zeros((), jnp.float32))
        (arrays, total), _ = jax.lax.scan(one, first, None, length=stage.evaluation.every)
        return arrays, total / stage.evaluation.every

    def work(arrays):
        ways = [stand, *(functools.partial(walk, taught) for taught in plan.teachings)]
        arrays, loss = jax.lax.switch(jnp.where(now.entering, 0, now.number + 1), ways, arrays)
        after = eqx.combine(arrays, static)
        found = measured(plan, now.number, after) | {"training.loss": loss}
        return eqx.filter(_judge(stage, plan.goal, after, found), eqx.is_array), found

    done = member.left | member.diverged
    if not together:
        return jax.lax.cond(done, lambda arrays: (arrays, nothing), work, start)
    # A vmap works for everybody anyhow; of a cond it would also make everybody do all that the plan teaches.
    return jax.tree.map(lambda old, new: jnp.where(done, old, new), (start, nothing), work(start))


def _judge(stage: Stage, goal: Until | None, member: Member, found: dict[str, Array]) -> Member:
    """Mark the member solved, ready to leave the stage, or diverged."""
    weights = jax.tree.leaves(eqx.filter(member.model, eqx.is_inexact_array))
    kind = jnp.result_type(*weights)
    every = jax.lax.optimization_barrier(jnp.concatenate([weight.ravel().astype(kind) for weight in weights]))
    diverged = ~jnp.all(jnp.isfinite(every))  # one reduction to compile; without a barrier one of each weight
    reached = np.False_ if goal is None else goal(found)
    solved = jnp.where((member.solved_at < 0) & reached & ~diverged, member.step, member.solved_at)
    left = member.step - member.entered >= stage.steps
    left = left if stage.until is None else left | stage.until(found)
    return dataclasses.replace(member, solved_at=solved, left=left, diverged=member.diverged | diverged)
