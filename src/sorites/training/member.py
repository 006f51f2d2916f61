"""One member of an ensemble as a pytree, and one training step. The engine adds a leading member axis."""

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
from .stage import Run, Stage
from .structure import cached_by_structure


class Member(eqx.Module):
    key: Key[Array, ""]  # step s draws from fold_in(key, first_step + s)
    test: Key[Array, ""]  # held-out chains
    secret: Any
    model: AbstractModel
    teacher: AbstractModel | None  # itself, as it was when it last entered a stage that freezes
    state: Any  # of the optimizer
    step: Int[Array, ""]
    stage_start: Int[Array, ""]  # the step at which the stage began
    first_step: Int[Array, ""] | None  # steps of an earlier training that this one continues
    samples_drawn: UInt32[Array, ""]  # chains consumed, also in that earlier training
    solved_at: Int[Array, ""]  # first evaluated step at which the goal was reached; -1: never
    left: Bool[Array, ""]  # has reached the stage's `until` or its last step
    diverged: Bool[Array, ""]


def init_member(run: Run, seed: Int[Array, ""]) -> Member:
    """Draw the member of that seed, before its first stage."""
    secret, model, train, test = jax.random.split(jax.random.key(seed), 4)
    zero, start = jnp.zeros((), jnp.int32), run.start
    return Member(
        key=train,
        test=test,
        secret=run.task.draw(secret) if start is None else start.secret,
        model=run.model.for_member(model),
        teacher=None,
        state=None,
        step=zero,
        stage_start=zero,
        first_step=None if start is None else jnp.asarray(start.steps),
        samples_drawn=zero.astype(jnp.uint32) if start is None else jnp.asarray(start.samples),
        solved_at=zero - 1,
        left=zero > 0,
        diverged=zero > 0,
    )


def start_stage(stage: Stage, member: Member) -> Member:
    """Prepare the optimizer's state, and the teacher where the stage has one."""
    state, teacher = member.state, member.teacher
    if stage.reset or state is None:
        state = stage.optimizer.transformation().init(eqx.filter(member.model, member.model.trainable()))
    if stage.freeze:  # a copy, because the program reuses the memory of its arguments
        teacher = jax.tree.map(lambda leaf: jnp.copy(leaf) if eqx.is_array(leaf) else leaf, member.model)
    entered = member.step + 0  # its own buffer
    return dataclasses.replace(member, state=state, teacher=teacher, stage_start=entered, left=jnp.zeros((), bool))


@cached_by_structure
def member_shapes(run: Run) -> Member:
    """Return the shapes of a member in its first stage."""

    def first(seed):
        return start_stage(run.stages[0], init_member(run, seed))

    return eqx.filter_eval_shape(first, jax.ShapeDtypeStruct((), np.int32))


def make_pool(stage: Stage, member: Member) -> Any:
    """Make the source's pool of chains: again in every chunk, so that sequential members hold one pool at a time."""
    key = jax.random.fold_in(member.test, 1)
    return stage.source.prepare(stage.task, member.secret, key, member.teacher)


def train_step(stage: Stage, member: Member, pool: Any) -> tuple[Member, Float[Array, ""]]:
    """Train on one batch; return the member and the loss before the update."""
    number = member.step if member.first_step is None else member.first_step + member.step
    key = jax.random.fold_in(member.key, number)
    draw = Draw(member.secret, pool, member.samples_drawn, key, member.teacher)
    if stage.reuse == 1:
        loss_function = stage.loss_function(member.secret)
        loss, gradient = stage.source.gradient(loss_function, member.model, stage.task, draw)
        model, state = apply_gradient(stage, member.model, member.state, gradient)
    else:
        model, state, loss = _train_again(stage, member, draw)
    drawn = member.samples_drawn + jnp.asarray(stage.source.samples, jnp.uint32)
    return dataclasses.replace(member, model=model, state=state, step=member.step + 1, samples_drawn=drawn), loss


def apply_gradient(stage: Stage, model: AbstractModel, state: Any, gradient: Any) -> tuple[AbstractModel, Any]:
    """Apply the optimizer's update; a float32 rate does not widen weights or moments of another type."""
    updates, after = stage.optimizer.transformation().update(gradient, state, eqx.filter(model, model.trainable()))

    def move(weight, change):
        return weight if change is None else (weight + change).astype(weight.dtype)

    model = jax.tree.map(move, model, updates, is_leaf=lambda leaf: leaf is None)
    return model, jax.tree.map(lambda new, old: new.astype(old.dtype), after, state)


def _train_again(stage: Stage, member: Member, draw: Draw) -> tuple[AbstractModel, Any, Float[Array, ""]]:
    """Write chains once and train `reuse` times on them."""
    make, choose = jax.random.split(draw.key)
    chains = stage.source.chains(stage.task, draw, make)
    batches = [term.collect(member.model, stage.task, member.secret, chains, choose) for term in stage.supervisions]

    def surrogate(part, still):
        model = eqx.combine(part, still).for_gradient()
        return functools.reduce(
            operator.add,
            [term.surrogate(model, batch) for term, batch in zip(stage.supervisions, batches, strict=True)],
        )

    static = eqx.filter(member.model, eqx.is_array, inverse=True)

    def update(carry, _):
        arrays, state = carry
        model = eqx.combine(arrays, static)
        loss, gradient = jax.value_and_grad(surrogate)(*eqx.partition(model, model.trainable()))
        model, state = apply_gradient(stage, model, state, gradient)
        return (eqx.filter(model, eqx.is_array), state), loss

    start = (eqx.filter(member.model, eqx.is_array), member.state)
    (arrays, state), losses = jax.lax.scan(update, start, None, length=stage.reuse)
    return eqx.combine(arrays, static), state, losses[0]
