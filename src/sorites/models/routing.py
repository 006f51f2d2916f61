"""Attention of LEGO's theory in four numbers.

The population gradient does not change when variables are renamed, so from Q = 0 each trained block stays
`own` on the diagonal and `other` off it, and attention depends only on how many clauses there are. Exact: see
tests/models/test_clause.py.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from .clause import Clause
from .features import Features
from .prediction import first_largest


class Masses(NamedTuple):
    """Attention of the query ans,l-1 on single clauses."""

    predicate: Float[Array, "*step"]  # pred,l
    other_predicate: Float[Array, "*step"]  # each of the L-1 others
    answer: Float[Array, "*step"]  # itself, ans,l-1
    other_answer: Float[Array, "*step"]  # each of the l-1 others
    error: Float[Array, "*step"]  # epsilon_attn (19), summed over the others: 1 - predicate - answer would round to 0

    @property
    def gap(self) -> Float[Array, "*step"]:
        """Delta (20), signed: positive where the predicate gets more."""
        return self.predicate - self.answer


class Routing(eqx.Module):
    predicate: Float[Array, ""]  # [Q43]_{s,s}
    other_predicate: Float[Array, ""]  # [Q43]_{s,s'}
    answer: Float[Array, ""]  # [Q44]_{s,s}
    other_answer: Float[Array, ""]  # [Q44]_{s,s'}

    def masses(self, length: int | Int[Array, ""], step: Int[Array, "*step"]) -> Masses:
        """For predicting answer `step` (1-based) of a sentence with `length` predicates."""
        scores = jnp.stack([self.predicate, self.other_predicate, self.answer, self.other_answer])
        one = jnp.ones_like(step)
        counts = jnp.stack([one, length * one - 1, one, step - 1]).astype(scores.dtype)
        weights = jnp.exp(scores - scores.max())[(...,) + (None,) * step.ndim] * jnp.ones_like(counts)
        shares = weights / (weights * counts).sum(axis=0, keepdims=True)
        return Masses(*shares, error=(shares * counts)[jnp.array([1, 3])].sum(axis=0))


def uniform() -> Routing:
    """Q = 0."""
    zero = jnp.zeros(())
    return Routing(zero, zero, zero, zero)


def mixed(
    features: Features,
    masses: Masses,
    actions: Int[Array, "batch length"],
    values: Int[Array, "batch known"],
    step: int,
) -> Float[Array, "value neuron batch"]:
    """Attention-weighted features for predicting answer `step` from y_0..y_{step-1}."""
    moves = features.actions[:, :, actions.T]
    states = features.values[:, :, values[:, :step].T]
    own_move, own_state = moves[:, :, step - 1], states[:, :, step - 1]
    return (
        masses.predicate * own_move
        + masses.other_predicate * (moves.sum(axis=2) - own_move)
        + masses.answer * own_state
        + masses.other_answer * (states.sum(axis=2) - own_state)
    )


def losses(
    features: Features,
    routing: Routing,
    actions: Int[Array, "batch length"],
    values: Int[Array, "batch chain"],
    step: int,
) -> Float[Array, " batch"]:
    """Loss^{L,step} of the value token of each sentence."""
    masses = routing.masses(actions.shape[-1], jnp.asarray(step))
    return features.loss(mixed(features, masses, actions, values, step), values[:, step])


def loss(features: Features, routing: Routing, actions, values, step: int) -> Float[Array, ""]:
    """Its mean over sentences."""
    return losses(features, routing, actions, values, step).mean()


def rollout(
    features: Features,
    routing: Routing,
    actions: Int[Array, "batch longest"],
    start: Int[Array, " batch"],
    steps: int,
    length: Int[Array, ""] | None = None,
) -> Int[Array, "batch steps"]:
    """Greedy values y_1..y_steps, each read from its own predecessors; running sums, so O(1) per step.

    Only the first `length` predicates are there: one compiled program serves every length.
    """
    longest, choices = actions.shape[-1], features.actions.shape[2]
    length = jnp.asarray(longest) if length is None else length
    masses = routing.masses(length, jnp.arange(1, steps + 1))
    there = (jnp.arange(longest) < length).astype(features.actions.dtype)
    counts = jax.vmap(lambda row: jnp.zeros(choices, there.dtype).at[row].add(there), out_axes=1)(actions)
    whole = jnp.tensordot(features.actions, counts, 1, precision="highest")

    def advance(carry, inputs):
        value, earlier = carry
        mass, action = inputs
        own_move, own_state = features.actions[:, :, action], features.values[:, :, value]
        pulled = (
            mass.predicate * own_move
            + mass.other_predicate * (whole - own_move)
            + mass.answer * own_state
            + mass.other_answer * earlier
        )
        following = first_largest(features.logits(pulled).T).astype(value.dtype)
        return (following, earlier + own_state), following

    first = (start, jnp.zeros_like(whole))
    _, written = jax.lax.scan(advance, first, (masses, actions[:, :steps].T))
    return written.T


def literal_scores(routing: Routing, model: Clause) -> Clause:
    """The literal transformer with these four numbers in the blocks Q_{4,3} and Q_{4,4}."""
    count = model.vocabulary.variables
    eye, rest = jnp.eye(count), 1 - jnp.eye(count)
    scores = model.scores
    scores = scores.at[3, :count, 2, :count].set(routing.predicate * eye + routing.other_predicate * rest)
    scores = scores.at[3, :count, 3, :count].set(routing.answer * eye + routing.other_answer * rest)
    return eqx.tree_at(lambda model: model.scores, model, scores)
