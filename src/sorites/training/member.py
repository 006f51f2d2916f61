"""One training as a pytree: the engine adds a leading axis and has an ensemble."""

import dataclasses
import functools
import operator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, UInt32

from ..models import AbstractModel
from ..supervision import Draw
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


def evaluate(stage: Stage, member: Member) -> dict[str, Array]:
    """Every probe on the member's held-out chains."""
    chains = stage.evaluation.chains(stage.task, member.secret, member.test)
    found: dict[str, Array] = {}
    for probe in stage.evaluation.probes:
        found |= probe(member.model, stage.task, member.secret, chains, stage.taught)
    return {name: jnp.asarray(value, jnp.float32) for name, value in found.items()}


def enter(stage: Stage, member: Member) -> Member:
    """Begin a stage: prepare the rule, and the teacher where there is to be one."""
    state, teacher = member.state, member.teacher
    if stage.reset or state is None:
        state = stage.rule.transformation().init(eqx.filter(member.model, member.model.trainable()))
    if stage.freeze:  # a copy: the program reuses the memory of what it is given
        teacher = jax.tree.map(lambda leaf: jnp.copy(leaf) if eqx.is_array(leaf) else leaf, member.model)
    entered = member.step + 0  # a buffer of its own
    return dataclasses.replace(member, state=state, teacher=teacher, entered=entered, left=jnp.zeros((), bool))


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


def look(stage: Stage, goal: Until | None, member: Member) -> tuple[Member, dict[str, Array]]:
    """Evaluate without a step, as on entry to a stage."""
    found = evaluate(stage, member) | {"training.loss": jnp.full((), jnp.nan, jnp.float32)}
    judged = _judge(stage, goal, member, found)
    stopped = member.diverged  # of an earlier stage: it measures nothing more
    return judged, jax.tree.map(lambda value: jnp.where(stopped, jnp.nan, value), found)


def segment(stage: Stage, goal: Until | None, member: Member, pool: Any) -> tuple[Member, dict[str, Array]]:
    """The steps between two evaluations, and the evaluation; a member that is done stands still."""
    static = eqx.filter(member, eqx.is_array, inverse=True)

    def walk(carry, _):
        arrays, total = carry
        after, loss = step(stage, eqx.combine(arrays, static), pool)
        return (eqx.filter(after, eqx.is_array), total + loss.astype(jnp.float32)), None

    def work(arrays):
        start = (arrays, jnp.zeros((), jnp.float32))
        (arrays, total), _ = jax.lax.scan(walk, start, None, length=stage.evaluation.every)
        after = eqx.combine(arrays, static)
        found = evaluate(stage, after) | {"training.loss": total / stage.evaluation.every}
        return eqx.filter(_judge(stage, goal, after, found), eqx.is_array), found

    def rest(arrays):
        shapes = eqx.filter_eval_shape(work, arrays)[1]
        return arrays, jax.tree.map(lambda leaf: jnp.full(leaf.shape, jnp.nan, leaf.dtype), shapes)

    arrays, found = jax.lax.cond(member.left | member.diverged, rest, work, eqx.filter(member, eqx.is_array))
    return eqx.combine(arrays, static), found


def _judge(stage: Stage, goal: Until | None, member: Member, found: dict[str, Array]) -> Member:
    """Mark the member solved, ready to leave the stage, or diverged."""
    weights = jax.tree.leaves(eqx.filter(member.model, eqx.is_inexact_array))
    diverged = ~jnp.all(jnp.stack([jnp.all(jnp.isfinite(weight)) for weight in weights]))
    reached = np.False_ if goal is None else goal(found)
    solved = jnp.where((member.solved_at < 0) & reached & ~diverged, member.step, member.solved_at)
    left = member.step - member.entered >= stage.steps
    left = left if stage.until is None else left | stage.until(found)
    return dataclasses.replace(member, solved_at=solved, left=left, diverged=member.diverged | diverged)
