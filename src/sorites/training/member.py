"""One training as a pytree: the engine adds a leading axis and has an ensemble."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, Key

from ..models import AbstractModel
from .stage import Run, Stage


class Member(eqx.Module):
    key: Key[Array, ""]  # step s draws from fold_in(key, s)
    test: Key[Array, ""]  # held-out chains
    secret: object
    model: AbstractModel
    state: object  # of the rule
    step: Int[Array, ""]
    solved_at: Int[Array, ""]  # first evaluated step with every held-out answer right; -1: never
    left: Bool[Array, ""]  # has reached the stage's `until`
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
        state=None,
        step=zero,
        solved_at=zero - 1,
        left=zero > 0,
        diverged=zero > 0,
    )


def evaluate(stage: Stage, member: Member) -> dict[str, Array]:
    """Every probe on the member's held-out chains."""
    chains = stage.task.sample(member.secret, member.test, stage.evaluation.count)
    found: dict[str, Array] = {}
    for probe in stage.evaluation.probes:
        found |= probe(member.model, stage.task, member.secret, chains, stage.taught)
    return {name: jnp.asarray(value, jnp.float32) for name, value in found.items()}


def enter(stage: Stage, member: Member) -> Member:
    """Begin a stage: prepare the rule."""
    params = eqx.filter(member.model, eqx.is_inexact_array)
    state = stage.rule.transformation().init(params) if stage.reset or member.state is None else member.state
    return eqx.tree_at(
        lambda m: (m.state, m.left), member, (state, jnp.zeros((), bool)), is_leaf=lambda leaf: leaf is None
    )


def pool(stage: Stage, member: Member):
    """The source's own chains: made anew for every chunk, so that members who run one after another hold one pool."""
    return stage.source.prepare(stage.task, member.secret, jax.random.fold_in(member.test, 1))


def step(stage: Stage, member: Member, pool) -> Member:
    """One gradient step."""
    key = jax.random.fold_in(member.key, member.step)
    gradient = stage.source(stage.objective(member.secret), member.model, stage.task, member.secret, pool, key)
    params = eqx.filter(member.model, eqx.is_inexact_array)
    updates, state = stage.rule.transformation().update(gradient, member.state, params)  # pyright: ignore
    return eqx.tree_at(
        lambda m: (m.model, m.state, m.step),
        member,
        (eqx.apply_updates(member.model, updates), state, member.step + 1),
        is_leaf=lambda leaf: leaf is None,
    )


IDLE, LOOK, WALK = range(3)  # kinds of segment: past the end; evaluate on entry; steps, then evaluate


def segment(stage: Stage, member: Member, pool, kind: Int[Array, ""]) -> tuple[Member, dict[str, Array]]:
    """The steps between two evaluations, and the evaluation; a member that is done stands still.

    `kind` is the same for all members, so what it excludes costs nothing even where members run together.
    """
    static = eqx.filter(member, eqx.is_array, inverse=True)

    def walk(arrays):
        def body(arrays, _):
            return eqx.filter(step(stage, eqx.combine(arrays, static), pool), eqx.is_array), None

        return jax.lax.scan(body, arrays, None, length=stage.evaluation.every)[0]

    def work(arrays):
        moved = eqx.combine(jax.lax.cond(kind == WALK, walk, lambda arrays: arrays, arrays), static)
        found = evaluate(stage, moved)
        return eqx.filter(_judge(stage, moved, found), eqx.is_array), found

    def rest(arrays):
        found = eqx.filter_eval_shape(evaluate, stage, member)
        return arrays, jax.tree.map(lambda f: jnp.full(f.shape, jnp.nan, f.dtype), found)

    def unless_done(arrays):
        return jax.lax.cond(member.left | member.diverged, rest, work, arrays)

    arrays, found = jax.lax.cond(kind == IDLE, rest, unless_done, eqx.filter(member, eqx.is_array))
    return eqx.combine(arrays, static), found


def _judge(stage: Stage, member: Member, found: dict[str, Array]) -> Member:
    """Mark the member solved, ready to leave the stage, or diverged."""
    weights = jax.tree.leaves(eqx.filter(member.model, eqx.is_inexact_array))
    diverged = ~jnp.all(jnp.stack([jnp.all(jnp.isfinite(weight)) for weight in weights]))
    accuracy = found.get("accuracy", jnp.zeros(()))
    solved = jnp.where((member.solved_at < 0) & (accuracy >= 1), member.step, member.solved_at)
    left = jnp.zeros((), bool) if stage.until is None else accuracy >= stage.until
    return eqx.tree_at(lambda m: (m.solved_at, m.left, m.diverged), member, (solved, left, diverged))
