"""Algorithms 1 and 2 of LEGO on the exact reductions: gradient descent on the features (stage 1), then on the four
numbers of attention, from enumerated two-step sentences or from sentences that a frozen earlier self has labelled."""

import abc
import itertools
from typing import Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from ..fast.compiler import fast_compile, optimized
from ..models.features import Features, one_step_loss
from ..models.routing import Routing, losses, rollout
from ..tasks.actions import Action
from ..tasks.lego import chained


class FeatureHistory(NamedTuple):
    step: Int[np.ndarray, " record"]
    loss: Float[Array, " record"]
    features: Features  # with a leading record axis; the last is the end


@optimized
def _descend_features(features: Features, table, rate, records: int, every: int):
    def step(features, _):
        loss, slope = jax.value_and_grad(
            lambda moving: one_step_loss(eqx.tree_at(_trained, features, moving), table)
        )(_trained(features))  # fmt: skip
        moved = jax.tree.map(lambda value, change: value - rate * change, _trained(features), slope)
        return eqx.tree_at(_trained, features, moved), loss

    def record(features, _):
        features, losses = jax.lax.scan(step, features, length=every)
        return features, (_trained(features), losses[-1])

    _, (moved, losses) = jax.lax.scan(record, features, length=records)
    return moved, losses


def _trained(features: Features):
    return features.actions, features.values


def train_features(features: Features, action: Action, rate: float, steps: int, every: int) -> FeatureHistory:
    """Stage 1: full-batch descent on Loss^1 of the value token, attention fixed at one half each."""
    records = max(1, steps // every)
    table = jnp.asarray(action.table)
    moved, losses = _descend_features(features, table, jnp.asarray(rate), records, every)
    spread = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (records, *leaf.shape)), features)
    return FeatureHistory(np.arange(1, records + 1) * every, losses, eqx.tree_at(_trained, spread, moved))


class Labelled(NamedTuple):
    actions: Int[Array, "batch length"]
    values: Int[Array, "batch chain"]  # labels, as far as they are needed
    weights: Float[Array, " batch"]  # 0 drops a sentence
    right: Float[Array, ""]  # share of labels that are true


class AbstractSentences(eqx.Module):
    @abc.abstractmethod
    def __call__(self, step: Int[Array, ""]) -> Labelled: ...


class TwoSteps(AbstractSentences):
    """All two-step sentences; only those that start at 0 where renaming values changes nothing (ideal features)."""

    batch: Labelled

    def __call__(self, step: Int[Array, ""]) -> Labelled:
        return self.batch


class FreshSentences(AbstractSentences):
    """Sentences drawn anew for every step, truly labelled: where there are too many to enumerate."""

    table: Int[Array, "action value"]
    key: Key[Array, ""]
    length: int = eqx.field(static=True)
    count: int = eqx.field(static=True)

    def __call__(self, step: Int[Array, ""]) -> Labelled:
        moves, starts = jax.random.split(jax.random.fold_in(self.key, step))
        choices, states = self.table.shape
        actions = jax.random.randint(moves, (self.count, self.length), 0, choices)
        values = chained(self.table, actions, jax.random.randint(starts, (self.count,), 0, states))
        return Labelled(actions, values, jnp.ones(self.count), jnp.ones(()))


def two_steps(action: Action, starts: int | None = None) -> TwoSteps:
    moves = np.array(list(itertools.product(range(action.actions), repeat=2)))
    starts = action.values if starts is None else starts
    actions = jnp.asarray(np.tile(moves, (starts, 1)))
    values = chained(jnp.asarray(action.table), actions, jnp.asarray(np.repeat(np.arange(starts), len(moves))))
    return TwoSteps(Labelled(actions, values, jnp.ones(len(actions)), jnp.ones(())))


class SelfLabelled(AbstractSentences):
    """Fresh sentences whose first `answers` labels a frozen earlier self writes greedily (Def. 5.1).

    `noise` replaces that share of labels by uniform values; `confidence` drops sentences in which the annotator gave
    one of its labels less probability than that.
    """

    features: Features
    annotator: Routing
    table: Int[Array, "action value"]
    key: Key[Array, ""]
    noise: Float[Array, ""]
    confidence: Float[Array, ""]
    length: int = eqx.field(static=True)
    count: int = eqx.field(static=True)
    answers: int = eqx.field(static=True, default=2)

    def __call__(self, step: Int[Array, ""]) -> Labelled:
        moves, starts, noisy, other = jax.random.split(jax.random.fold_in(self.key, step), 4)
        choices, states = self.table.shape
        actions = jax.random.randint(moves, (self.count, self.length), 0, choices)
        start = jax.random.randint(starts, (self.count,), 0, states)
        written = rollout(self.features, self.annotator, actions, start, self.answers)
        wrong = jax.random.uniform(noisy, written.shape) < self.noise
        labels = jnp.where(wrong, jax.random.randint(other, written.shape, 0, states), written)
        values = jnp.concatenate([start[:, None], labels], axis=1)
        truth = chained(self.table, actions[:, : self.answers], start)
        return Labelled(actions, values, self._kept(actions, values), (labels == truth[:, 1:]).mean())

    def _kept(self, actions, values) -> Float[Array, " batch"]:
        """1 where the annotator was confident of every label; where none is asked for, nobody asks."""

        def confident():
            loss = sum(losses(self.features, self.annotator, actions, values, step) >= -jnp.log(self.confidence)
                       for step in range(1, self.answers + 1))  # fmt: skip
            return (jnp.asarray(loss) == 0).astype(jnp.float32)

        return jax.lax.cond(self.confidence > 0, confident, lambda: jnp.ones(len(actions), jnp.float32))


class RoutingHistory(NamedTuple):
    routing: Routing  # with a leading step axis; record t is before step t+1, the last is the end
    loss: Float[Array, " step"]
    right: Float[Array, " step"]  # share of true labels

    @property
    def end(self) -> Routing:
        return jax.tree.map(lambda leaf: leaf[-1], self.routing)


def _sloped(features, routing, batch: Labelled, terms: tuple[int, ...], variables):
    """The loss, the gradient of a row of Q, and its norm. A row has one own and |X|-1 other entries per block; each
    other entry gets an equal share."""
    count = variables - 1.0

    def total(routing):
        weights = batch.weights / jnp.maximum(batch.weights.sum(), 1)
        return sum((weights * losses(features, routing, batch.actions, batch.values, step)).sum() for step in terms)

    loss, slope = jax.value_and_grad(total)(routing)
    shares = Routing(slope.predicate, slope.other_predicate / count, slope.answer, slope.other_answer / count)
    square = shares.predicate**2 + shares.answer**2
    square = square + count * (shares.other_predicate**2 + shares.other_answer**2)
    return loss, shares, jnp.sqrt(jnp.maximum(square, jnp.finfo(square.dtype).tiny))


@fast_compile
def _descend_routing(features, routing, source, terms: tuple[int, ...], numbers, rule: str, steps: int):
    variables, rate, slowing, until = numbers

    def step(routing, number):
        batch = source(number)
        loss, shares, norm = _sloped(features, routing, batch, terms, variables)
        # plain: a variable is the query in one sentence of |X|
        scale = rate / variables if rule == "plain" else rate / (1 + number / slowing) / norm
        scale = jnp.where(loss > until, scale, 0.0)
        moved = jax.tree.map(lambda value, change: value - scale * change, routing, shares)
        return moved, (routing, loss, batch.right)

    end, (path, losses, right) = jax.lax.scan(step, routing, jnp.arange(steps))
    path = jax.tree.map(lambda values, last: jnp.append(values, last), path, end)
    return RoutingHistory(path, losses, right)


def train_routing(
    features: Features,
    routing: Routing,
    source: AbstractSentences,
    terms: tuple[int, ...],
    variables: int,
    steps: int,
    rate: float = 0.1,
    slowing: float = 100.0,
    until: float = 0.0,
    rule: Literal["plain", "normalised"] = "normalised",
) -> RoutingHistory:
    """Descent on Q for the summed losses of the answers in `terms`, in the four numbers that Q has.

    `plain` is the literal step of size `rate`; `normalised` divides each row's gradient by its norm and takes
    rate / (1 + t / slowing). No step is taken while the loss is at most `until`.
    """
    numbers = [jnp.asarray(float(number)) for number in (variables, rate, slowing, until)]
    return _descend_routing(features, routing, source, terms, numbers, rule, steps)


@fast_compile
def plain_time(
    features: Features, history: RoutingHistory, batch: Labelled, terms: tuple[int, ...], variables: int
) -> Float[Array, " step"]:
    """eta T: how long plain descent by small steps takes along a path of small steps, up to each of its records.

    A plain step moves a row of Q by eta / |X| times its gradient, so a piece of the path takes its length times |X|
    over the gradient's norm."""
    norms = jax.lax.map(
        lambda here: _sloped(features, here, batch, terms, jnp.asarray(float(variables)))[2], history.routing
    )
    moved = jax.tree.map(jnp.diff, history.routing)
    others = moved.other_predicate**2 + moved.other_answer**2
    lengths = jnp.sqrt(moved.predicate**2 + moved.answer**2 + (variables - 1.0) * others)
    pieces = variables * lengths * (1 / norms[:-1] + 1 / norms[1:]) / 2
    return jnp.concatenate([jnp.zeros(1), jnp.cumsum(pieces)])


class Grown(NamedTuple):
    length: int  # L that the stage trained on
    history: RoutingHistory


def self_train(
    features: Features,
    routing: Routing,
    action: Action,
    variables: int,
    stages: int,
    steps: int,
    count: int,
    key: Key[Array, ""],
    rate: float = 0.1,
    slowing: float = 100.0,
    until: float = 0.0,
    noise: float = 0.0,
    confidence: float = 0.0,
) -> list[Grown]:
    """Algorithm 2 from stage 2 on: lengths 4, 8, 16, ..., each labelled by the stage before."""
    done, table = [], jnp.asarray(action.table)
    for number in range(2, stages + 2):
        source = SelfLabelled(
            features, routing, table, jax.random.fold_in(key, number), jnp.asarray(noise), jnp.asarray(confidence),
            2**number, count,
        )  # fmt: skip
        history = train_routing(features, routing, source, (2,), variables, steps, rate, slowing, until)
        routing = history.end
        done.append(Grown(2**number, history))
    return done
