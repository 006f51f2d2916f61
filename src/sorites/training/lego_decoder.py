"""Training LEGO's decoder: whole ensembles in one compiled program.

The action, the number of its tokens, fixed or fresh data, the rate and the residual are arrays of a member, so members
that differ in them run side by side.
"""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, Key

from ..errors import require
from ..models.decoder import Decoder, DecoderSpec, decoder, next_clause_loss, rollout
from ..tasks.actions import Action
from ..tasks.lego import Vocabulary, draw_sentence, encode

FRESH = 2**31 - 1  # sentences to choose from: never the same one twice


class Lesson(eqx.Module):
    """What one member is taught: arrays only."""

    table: Int[Array, "action value"]  # padded to the vocabulary's room
    actions: Int[Array, ""]
    values: Int[Array, ""]
    pool: Int[Array, ""]  # number of different sentences; FRESH for no limit
    rate: Float[Array, ""]
    decay: Float[Array, ""]  # share of the rate that is gone at the last step, linearly
    key: Key[Array, ""]


def room_for(actions: Sequence[Action], variables: int) -> Vocabulary:
    """A vocabulary large enough for all of them."""
    return Vocabulary(variables, max(a.actions for a in actions), max(a.values for a in actions))


def lesson(
    action: Action, vocabulary: Vocabulary, seed: int, rate: float = 1e-4, pool: int | None = None, decay: float = 0.0
) -> Lesson:
    require(pool is None or pool > 0, f"a fixed set has one sentence or more: pool={pool}; use 1 or more, or None")
    require(
        action.actions <= vocabulary.actions and action.values <= vocabulary.values,
        f"the vocabulary has room for the action: action={action.name}; enlarge it",
    )
    table = np.zeros((vocabulary.actions, vocabulary.values), np.int32)
    table[: action.actions, : action.values] = action.table
    require(rate > 0, f"a step goes downhill: rate={rate}; use a positive rate")
    counts = (jnp.asarray(action.actions), jnp.asarray(action.values), jnp.asarray(pool or FRESH))
    rates = (jnp.asarray(rate, jnp.float32), jnp.asarray(decay, jnp.float32))
    return Lesson(jnp.asarray(table), *counts, *rates, jax.random.key(seed))


class Member(eqx.Module):
    model: Decoder
    lesson: Lesson
    state: optax.OptState
    step: Int[Array, ""]


class Labelled(NamedTuple):
    """A set of self-made sentences, those to be used first."""

    clauses: Int[Array, "count clause slot"]
    kept: Int[Array, ""]  # how many are used
    right: Float[Array, ""]  # share of the used ones with every value true


_ADAM = optax.scale_by_adam(b1=0.9, b2=0.999, eps=1e-8)


def member(spec: DecoderSpec, taught: Lesson, residual: float | None = None) -> Member:
    """A fresh decoder; `residual` overrides the spec's."""
    model = decoder(spec, jax.random.fold_in(taught.key, 0))
    if residual is not None:
        model = eqx.tree_at(lambda model: model.residual, model, jnp.asarray(float(residual)))
    return Member(model, taught, _ADAM.init(eqx.filter(model, eqx.is_inexact_array)), jnp.zeros((), jnp.int32))


def stacked(members: Sequence[Member]) -> Member:
    """One member with a leading axis."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *members)


def sentences(taught: Lesson, vocabulary: Vocabulary, index: Int[Array, " batch"], length: int):
    """The clauses of sentences number `index` of the member's set, answers 0..L."""

    def one(index):
        key = jax.random.fold_in(jax.random.fold_in(taught.key, 1), index)
        drawn = draw_sentence(key, length, vocabulary.variables, taught.table, taught.actions, taught.values)
        return encode(drawn, vocabulary, length + 1)

    return jax.vmap(one)(index)


def _descend(member: Member, length: int, batch: int, total, stored) -> tuple[Member, Float[Array, ""]]:
    vocabulary, taught = member.model.spec.vocabulary, member.lesson
    key = jax.random.fold_in(jax.random.fold_in(taught.key, 2), member.step)
    if stored is None:
        clauses = sentences(taught, vocabulary, jax.random.randint(key, (batch,), 0, taught.pool), length)
    else:
        clauses = stored.clauses[jax.random.randint(key, (batch,), 0, stored.kept)]
    weights, still = eqx.partition(member.model, eqx.is_inexact_array)
    loss, slope = jax.value_and_grad(lambda w: next_clause_loss(eqx.combine(w, still), clauses).mean())(weights)
    change, state = _ADAM.update(slope, member.state)
    rate = taught.rate * (1 - taught.decay * member.step / total)
    moved = jax.tree.map(lambda weight, step: weight - rate * step, weights, change)
    moved = eqx.tree_at(lambda model: model.residual, moved, weights.residual)  # a choice, not a weight
    return Member(eqx.combine(moved, still), taught, state, member.step + 1), loss


@eqx.filter_jit
def advance(
    members: Member,
    steps: int,
    length: int,
    batch: int,
    total: Int[Array, ""],
    stored: Labelled | None = None,
    together: bool = True,
) -> tuple[Member, Float[Array, " member"]]:
    """`steps` Adam steps of every member, and the mean loss over them; `stored` sentences replace drawn ones.

    Members run side by side (`together`, for accelerators) or one after another.
    """

    def run(member_and_data):
        member, data = member_and_data
        member, losses = jax.lax.scan(
            lambda member, _: _descend(member, length, batch, total, data), member, length=steps
        )  # fmt: skip
        return member, losses.mean()

    if together:
        return jax.vmap(run)((members, stored))
    return jax.lax.map(run, (members, stored))


class Scores(NamedTuple):
    values: Float[np.ndarray, "member length"]  # share of sentences with every value right, greedy and free-running
    clauses: Float[np.ndarray, "member length"]  # share with every clause right
    predicate: Float[np.ndarray, "member length step"]  # attention on the predicate to be used
    answer: Float[np.ndarray, "member length step"]  # attention on the query itself
    steps: Float[np.ndarray, "member length step"]  # share of values right given that all before were


@eqx.filter_jit
def _evaluated(members: Member, lengths: Int[Array, " length"], longest: int, count: int, together: bool):
    def one(member: Member):
        words = member.model.spec.vocabulary
        index = FRESH - 1 - jnp.arange(count)

        def at(length):
            key = jax.random.fold_in(member.lesson.key, 3)  # another set than the one trained on
            asked = eqx.tree_at(lambda taught: taught.key, member.lesson, key)
            clauses = sentences(asked, words, index, longest)
            found = rollout(member.model, clauses[:, :longest], clauses[:, longest], length)
            truth, beyond = clauses[:, longest + 1 :], jnp.arange(longest) >= length
            right = (found.clauses == truth) | beyond[None, :, None]
            good = jnp.cumprod(right[:, :, 4], axis=1).mean(axis=0)
            rates = good / jnp.maximum(jnp.concatenate([jnp.ones(1), good[:-1]]), 1e-9)
            return right[:, :, 4].all(1).mean(), right.all((1, 2)).mean(), found.predicate, found.answer, rates

        return jax.lax.map(at, lengths)

    return jax.vmap(one)(members) if together else jax.lax.map(one, members)


def evaluate(members: Member, lengths: Sequence[int], count: int, together: bool = True) -> Scores:
    """Free-running accuracy and attention at each length."""
    variables = members.model.spec.vocabulary.variables
    require(
        max(lengths) < variables,
        f"variables are drawn without replacement, so |X| >= L+1: variables={variables}, length={max(lengths)}; "
        "use more variables or shorter sentences",
    )
    found = _evaluated(members, jnp.asarray(lengths), max(lengths), count, together)
    return Scores(*map(np.asarray, found))


def labelled(member: Member, length: int, count: int, noise: float = 0.0, confidence: float = 0.0) -> Labelled:
    """Sentences of another length whose answers the member writes itself.

    `noise` replaces that share of values at random; sentences with a value of less than `confidence` are dropped.
    """
    return _labelled(member, length, count, jnp.asarray([noise, confidence]))


@eqx.filter_jit
def _labelled(member: Member, length: int, count: int, shares: Float[Array, " two"]) -> Labelled:
    words, taught = member.model.spec.vocabulary, member.lesson
    key = jax.random.fold_in(taught.key, 100 + length)
    clauses = sentences(eqx.tree_at(lambda taught: taught.key, taught, key), words, jnp.arange(count), length)
    found = rollout(member.model, clauses[:, :length], clauses[:, length], jnp.asarray(length))
    changed, other = (jax.random.fold_in(key, number) for number in (1, 2))
    values = found.clauses[:, :, 4]
    random = words.first_value + jax.random.randint(other, values.shape, 0, taught.values)
    values = jnp.where(jax.random.uniform(changed, values.shape) < shares[0], random.astype(values.dtype), values)
    right = (values == clauses[:, length + 1 :, 4]).all(axis=1)
    used = found.confidence >= shares[1]
    own = clauses.at[:, length + 1 :].set(found.clauses.at[:, :, 4].set(values))
    kept = jnp.maximum(used.sum(), 1)
    return Labelled(own[jnp.argsort(~used)], kept, (right & used).sum() / kept)
