"""LEGO's experimental decoder: one layer, several heads, no positions; one clause of five tokens is one position.

The paper states layer, heads, the five-token clause and the next-clause loss; every choice it leaves open is a field of
`DecoderSpec`. Axes: `clause` runs over the predicates, then the answers; `query` over the answers alone, for only
they predict.
"""

import dataclasses
import math
from typing import Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from ..errors import require
from ..tasks.lego import SLOTS, Vocabulary

Positions = Literal["none", "learned", "rope", "alibi"]
PREDICATE, ANSWER, EVERY = (0, 1, 2), (3, 4), (0, 1, 2, 3, 4)  # the slots that are not blank


@dataclasses.dataclass(frozen=True)
class DecoderSpec:
    vocabulary: Vocabulary
    token_width: int = 64  # of each slot's embedding; five of them side by side are projected to `width`
    width: int = 256
    heads: int = 2
    hidden: int = 1024  # of the feed-forward network
    residual: float = 0.0  # how much of the stream passes around attention and feed-forward: 0 none, 1 as usual
    normalised: bool = False  # root mean square, before attention, feed-forward and readout
    positions: Positions = "none"
    longest: int = 400  # clauses, for learned positions
    taught: tuple[int, ...] = (0, 1, 2, 3, 4)  # slots read out; the first three of an answer are always blank

    def __post_init__(self):
        kinds = ("none", "learned", "rope", "alibi")
        require(self.positions in kinds, f"positions are {', '.join(kinds)}: positions={self.positions!r}; use one")
        require(
            self.heads >= 1 and self.width % self.heads == 0,
            f"heads divide the width: width={self.width}, heads={self.heads}; use a multiple",
        )
        require(
            self.positions != "rope" or self.width // self.heads % 2 == 0,
            f"rotation needs an even head: width={self.width}, heads={self.heads}; use another width",
        )
        require(
            set(self.taught) <= set(range(SLOTS)) and {3, 4} <= set(self.taught),
            f"variable (3) and value (4) are taught: taught={self.taught}; add them",
        )


class Decoder(eqx.Module):
    tokens: Float[Array, "slot token dim"]
    into: Float[Array, "slot dim width"]
    places: Float[Array, "longest width"]  # learned positions; empty without
    query: Float[Array, "width width"]
    key: Float[Array, "width width"]
    value: Float[Array, "width width"]
    out: Float[Array, "width width"]
    up: Float[Array, "width hidden"]
    up_bias: Float[Array, " hidden"]
    down: Float[Array, "hidden width"]
    readout: Float[Array, "width taught token"]
    residual: Float[Array, ""]  # a number, so that one program serves both
    spec: DecoderSpec = eqx.field(static=True)

    def table(self) -> Float[Array, "slot token width"]:
        """Projected embeddings; the blank is zero."""
        table = jnp.einsum("std,sdw->stw", self.tokens, self.into)
        return table.at[:, self.spec.vocabulary.blank].set(0)

    def embed(
        self,
        table: Float[Array, "slot token width"],
        clauses: Int[Array, "*batch clause slot"],
        places: Int[Array, " clause"],
        slots: tuple[int, ...] = EVERY,
    ) -> Float[Array, "*batch clause width"]:
        """The sum over slots of projected embeddings; slots left out must be blank."""
        stream = sum(table[slot][clauses[..., slot]] for slot in slots)
        if self.spec.positions == "learned":
            stream = stream + jnp.expand_dims(self.places[places], tuple(range(clauses.ndim - 2)))
        return self._scaled(jnp.asarray(stream))

    def _scaled(self, stream: Float[Array, "*batch width"]) -> Float[Array, "*batch width"]:
        if not self.spec.normalised:
            return stream
        return stream * jax.lax.rsqrt(jnp.mean(stream**2, axis=-1, keepdims=True) + 1e-6)

    def _heads(self, stream, weight, places, rotate: bool = True):
        parts = (stream @ weight).reshape(*stream.shape[:-1], self.spec.heads, -1)
        parts = jnp.swapaxes(parts, -2, -3)  # heads before clauses: attention then needs no transposed copy
        return _rotated(parts, places) if rotate and self.spec.positions == "rope" else parts

    def keys_values(self, stream: Float[Array, "*batch clause width"], places: Int[Array, " clause"]):
        return self._heads(stream, self.key, places), self._heads(stream, self.value, places, rotate=False)

    def attend(
        self,
        stream: Float[Array, "*batch query width"],
        keys: Float[Array, "*batch head clause part"],
        values: Float[Array, "*batch head clause part"],
        seen: Bool[Array, "query clause"],
        places: tuple[Int[Array, " query"], Int[Array, " clause"]],
    ) -> tuple[Float[Array, "*batch query taught token"], Float[Array, "*batch head query clause"]]:
        """Logits of the next clause, and the attention that made them."""
        queries = self._heads(stream, self.query, places[0])
        scores = jnp.einsum("...hqp,...hkp->...hqk", queries, keys) / math.sqrt(keys.shape[-1])
        if self.spec.positions == "alibi":
            slopes = 2.0 ** (-8.0 * (jnp.arange(self.spec.heads) + 1) / self.spec.heads)
            distance = (places[0][:, None] - places[1][None]).astype(scores.dtype)
            bias = -slopes[:, None, None] * distance[None]
            scores = scores + jnp.expand_dims(bias, tuple(range(scores.ndim - 3)))
        hidden = jnp.expand_dims(seen, tuple(range(scores.ndim - 2)))
        attention = jax.nn.softmax(jnp.where(hidden, scores, -1e30), axis=-1)
        pulled = jnp.swapaxes(jnp.einsum("...hqk,...hkp->...hqp", attention, values), -2, -3)
        stream = self.residual * stream + pulled.reshape(stream.shape) @ self.out
        bias = jnp.expand_dims(self.up_bias, tuple(range(stream.ndim - 1)))
        inner = jax.nn.relu(self._scaled(stream) @ self.up + bias)
        stream = self.residual * stream + inner @ self.down
        return jnp.tensordot(self._scaled(stream), self.readout, 1), attention

    def __call__(
        self, clauses: Int[Array, "*batch clause slot"], whole: bool = False
    ) -> tuple[Float[Array, "*batch query taught token"], Float[Array, "*batch head query clause"]]:
        """Predictions at the answers, the second half of the clauses (teacher forcing).

        `whole` reads every slot of an answer; true answers have only two that are not blank.
        """
        count = clauses.shape[-2]
        places, half = jnp.arange(count), count // 2
        table = self.table()
        predicates = self.embed(table, clauses[..., :half, :], places[:half], PREDICATE)
        answers = self.embed(table, clauses[..., half:, :], places[half:], EVERY if whole else ANSWER)
        keys, values = self.keys_values(jnp.concatenate([predicates, answers], axis=-2), places)
        seen = places[None] <= places[half:, None]
        return self.attend(answers, keys, values, seen, (places[half:], places))


def _rotated(parts: Float[Array, "*batch head clause part"], places: Int[Array, " clause"]):
    """Rotary positions."""
    half = parts.shape[-1] // 2
    angle = places[:, None].astype(parts.dtype) * 10_000.0 ** (-jnp.arange(half)[None] / half)
    lead = tuple(range(parts.ndim - 3))
    turn, lift = (jnp.expand_dims(f(angle)[None], lead) for f in (jnp.cos, jnp.sin))
    first, second = parts[..., :half], parts[..., half:]
    return jnp.concatenate([first * turn - second * lift, first * lift + second * turn], axis=-1)


def decoder(spec: DecoderSpec, key: Key[Array, ""]) -> Decoder:
    """Gaussian weights of variance one over the fan-in; unit-variance token embeddings over the token width."""
    keys = iter(jax.random.split(key, 9))
    size, width = spec.vocabulary.size, spec.width

    def normal(*shape, fan):
        return jax.random.normal(next(keys), shape) / math.sqrt(fan)

    rows = spec.longest if spec.positions == "learned" else 0
    return Decoder(
        tokens=normal(SLOTS, size, spec.token_width, fan=1.0),
        into=normal(SLOTS, spec.token_width, width, fan=SLOTS * spec.token_width),
        places=0.02 * normal(rows, width, fan=1.0),
        query=normal(width, width, fan=width),
        key=normal(width, width, fan=width),
        value=normal(width, width, fan=width),
        out=jnp.eye(width),
        up=normal(width, spec.hidden, fan=width / 2),
        up_bias=jnp.zeros(spec.hidden),
        down=normal(spec.hidden, width, fan=spec.hidden),
        readout=normal(width, len(spec.taught), size, fan=width),
        residual=jnp.asarray(float(spec.residual)),
        spec=spec,
    )


def next_clause_loss(model: Decoder, clauses: Int[Array, "*batch clause slot"]) -> Float[Array, "*batch"]:
    """Sum over the answers 1..L and over the taught slots of -log p (6a); `clauses` ends with answer L."""
    logits, _ = model(clauses[..., :-1, :])
    length = (clauses.shape[-2] - 1) // 2
    targets = clauses[..., length + 1 :, list(model.spec.taught)]
    right = jnp.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
    return (jax.nn.logsumexp(logits, axis=-1) - right).sum(axis=(-1, -2))


class Rollout(NamedTuple):
    clauses: Int[Array, "batch step slot"]  # answers 1..L as written; meaningless beyond the length
    predicate: Float[Array, " step"]  # mean attention on the predicate to be used
    answer: Float[Array, " step"]  # mean attention on the query itself
    confidence: Float[Array, " batch"]  # least probability of a written value


def rollout(
    model: Decoder,
    predicates: Int[Array, "batch longest slot"],
    given: Int[Array, "batch slot"],
    length: Int[Array, ""],
) -> Rollout:
    """Greedy answers, each clause fed back, keys and values cached; one program for every length up to the longest."""
    count, longest, _ = predicates.shape
    steps, spec = jnp.arange(longest), model.spec
    places = jnp.concatenate([steps, length + steps])
    table = model.table()
    keys, values = model.keys_values(model.embed(table, predicates, steps, PREDICATE), steps)
    room = jnp.zeros_like(keys)
    blank = jnp.full((count, SLOTS), spec.vocabulary.blank, given.dtype)

    def write(step, carry):
        clause, keys, values, written, masses, confidence = carry
        place = (length + step)[None]
        stream = model.embed(table, clause[:, None], place)
        key, value = model.keys_values(stream, place)
        keys = jax.lax.dynamic_update_slice_in_dim(keys, key, longest + step, 2)
        values = jax.lax.dynamic_update_slice_in_dim(values, value, longest + step, 2)
        seen = jnp.concatenate([steps < length, steps <= step])[None]
        logits, attention = model.attend(stream, keys, values, seen, (place, places))
        words = jnp.argmax(logits[:, 0], axis=-1).astype(clause.dtype)
        chances = jax.nn.softmax(logits[:, 0, spec.taught.index(4)]).max(axis=-1)
        clause = blank.at[:, list(spec.taught)].set(words)
        mean = attention[:, :, 0].mean(axis=(0, 1))
        masses = masses.at[:, step].set(jnp.stack([mean[step], mean[longest + step]]))
        return clause, keys, values, written.at[:, step].set(clause), masses, jnp.minimum(confidence, chances)

    start = (
        given,
        jnp.concatenate([keys, room], axis=2),
        jnp.concatenate([values, room], axis=2),
        jnp.zeros_like(predicates),
        jnp.zeros((2, longest), keys.dtype),
        jnp.ones(count, keys.dtype),
    )
    _, _, _, written, masses, confidence = jax.lax.fori_loop(0, length, write, start)
    return Rollout(written, masses[0], masses[1], confidence)
