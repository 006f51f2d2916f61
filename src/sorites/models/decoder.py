"""LEGO's experimental decoder: one layer, several heads, no positions; one clause of five tokens is one position.

The paper states layer, heads, the five-token clause and the next-clause loss; every choice it leaves open is a field of
`DecoderSpec`. Axes: `clause` runs over the predicates, then the answers; `query` over the answers alone, for only
they predict. Outside, a chain has its batch last; inside, first.
"""

import dataclasses
import math
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from ..errors import require
from ..fast import KERNELS, choose, draws
from ..tasks import AbstractTask, Alphabet, Chain, Layout, Lego
from ..tasks.lego import SLOTS, Vocabulary
from .base import AbstractModel, Defaults, zeros
from .prediction import ClassLogits, SlotLogits

Positions = Literal["none", "learned", "rope", "alibi"]
PREDICATE, ANSWER, EVERY = (0, 1, 2), (3, 4), (0, 1, 2, 3, 4)  # the slots that are not blank


@dataclasses.dataclass(frozen=True)
class DecoderSpec:
    vocabulary: Vocabulary
    token_width: int = 64  # of each slot's embedding; five of them side by side are projected to `width`
    width: int = 256
    heads: int = 2
    hidden: int = 1024  # of the feed-forward network
    normalised: bool = False  # root mean square, before attention, feed-forward and readout
    positions: Positions = "none"
    longest: int = 400  # clauses, for learned positions
    slots: tuple[int, ...] = (0, 1, 2, 3, 4)  # read out; the first three of an answer are always blank
    kernels: str = "auto"  # see `fast.choose`

    def __post_init__(self):
        require(self.kernels in KERNELS, f"unknown kernels: kernels={self.kernels!r}; use 'auto' or 'reference'")
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
            set(self.slots) <= set(range(SLOTS)) and {3, 4} <= set(self.slots),
            f"variable (3) and value (4) are read out: slots={self.slots}; add them",
        )


class Decoder(AbstractModel):
    tokens: Float[Array, "slot token dim"]
    into: Float[Array, "slot dim width"]
    position_embedding: Float[Array, "longest width"]  # learned positions; empty without
    query: Float[Array, "width width"]
    key: Float[Array, "width width"]
    value: Float[Array, "width width"]
    out: Float[Array, "width width"]
    up: Float[Array, "width hidden"]
    up_bias: Float[Array, " hidden"]
    down: Float[Array, "hidden width"]
    readout: Float[Array, "width spoken token"]
    residual: Float[Array, ""]  # how much of the stream passes around attention and feed-forward: 0 none, 1 as usual
    spec: DecoderSpec = eqx.field(static=True)

    defaults: ClassVar[Defaults] = Defaults(2e-3, 128, 600, 25, "adam", "cross-entropy")

    def refuses(self, layout: Layout, alphabet: Alphabet) -> str | None:
        if layout.slots != SLOTS or layout.inputs != layout.thoughts + 1:
            return (
                "the decoder reads LEGO's clauses of five tokens, and without positions it cannot tell inputs apart: "
                f"slots={layout.slots}, inputs={layout.inputs}; use the task lego, or a gpt"
            )
        if alphabet.vocab != self.spec.vocabulary.size:
            return (
                f"a decoder reads its own vocabulary: {self.spec.vocabulary.size} tokens, the task has "
                f"{alphabet.vocab}; make the model from the task"
            )
        if self.spec.positions == "learned" and 2 * layout.thoughts > self.spec.longest:
            return f"learned positions end at {self.spec.longest} clauses: {2 * layout.thoughts}; raise `longest`"
        return None

    def init(self, key: Key[Array, ""]) -> "Decoder":
        return eqx.tree_at(lambda model: model.residual, drawn(self.spec, key), self.residual)

    def trainable(self):
        return eqx.tree_at(lambda tree: tree.residual, super().trainable(), False)  # a choice, not a weight

    def _prediction(self, logits: Float[Array, "*batch query spoken token"]) -> ClassLogits | SlotLogits:
        """Slots that are not read out are blank for certain."""
        slots, prediction = self.spec.slots, ClassLogits(logits)
        return (
            prediction
            if slots == tuple(range(SLOTS))
            else SlotLogits(prediction, slots, SLOTS, self.spec.vocabulary.blank)
        )

    def _clauses(self, chains: Chain) -> Int[Array, "*batch clause slot"]:
        """All but the last answer; what is not shown is blank."""
        tokens = chains.tokens[:-1]
        if chains.shown is not None:
            tokens = jnp.where(chains.shown[:-1, None], tokens, self.spec.vocabulary.blank)
        return jnp.moveaxis(tokens, -1, 0) if tokens.ndim == 3 else tokens

    def predict(self, chain: Chain, depth: int | None = None, key=None) -> ClassLogits | SlotLogits:
        return self._prediction(self(self._clauses(chain), chain.own)[0])

    def predict_batch(self, chains: Chain, depth: int | None = None, key=None) -> ClassLogits | SlotLogits:
        return self.predict(chains)

    def attend(self, chains: Chain):
        _, attention = self(self._clauses(chains), chains.own)  # batch head query clause
        rows = jnp.concatenate([attention, jnp.zeros_like(attention[..., :1])], axis=-1)
        return (jnp.moveaxis(rows, 0, -1),)

    def rounds(self, layout: Layout):
        return tuple((thought, thought + 1) for thought in range(layout.thoughts))

    def generate(self, chains: Chain, key: Key[Array, ""], how: str):
        """One clause at a time, keys and values kept."""
        length, table = chains.layout.thoughts, self.table()
        clauses, positions = jnp.moveaxis(chains.tokens, -1, 0), jnp.arange(2 * length)
        keys, values = self.keys_values(
            self.embed(table, clauses[:, :length], positions[:length], PREDICATE), positions[:length]
        )
        room = ((0, 0), (0, 0), (0, length), (0, 0))

        def step(carry, number):
            clause, keys, values = carry
            place = length + number
            stream = self.embed(table, clause[:, None], place[None])
            here, value = self.keys_values(stream, place[None])
            keys = jax.lax.dynamic_update_slice_in_dim(keys, here, place, 2)
            values = jax.lax.dynamic_update_slice_in_dim(values, value, place, 2)
            logits, _ = self.attend_from(stream, keys, values, (positions <= place)[None], (place[None], positions))
            token = self._prediction(logits).choose(how, jax.random.fold_in(key, number))[0].astype(clauses.dtype)
            return (token.T, keys, values), token  # slot batch

        start = (clauses[:, length], jnp.pad(keys, room), jnp.pad(values, room))
        _, thoughts = jax.lax.scan(step, start, jnp.arange(length))
        return jnp.concatenate([chains.tokens[: length + 1], thoughts])

    def table(self) -> Float[Array, "slot token width"]:
        """Projected embeddings; the blank is zero."""
        table = jnp.einsum("std,sdw->stw", self.tokens, self.into)
        return table.at[:, self.spec.vocabulary.blank].set(0)

    def embed(
        self,
        table: Float[Array, "slot token width"],
        clauses: Int[Array, "*batch clause slot"],
        positions: Int[Array, " clause"],
        slots: tuple[int, ...] = EVERY,
    ) -> Float[Array, "*batch clause width"]:
        """The sum over slots of projected embeddings; slots left out must be blank."""
        stream = sum(table[slot][clauses[..., slot]] for slot in slots)
        if self.spec.positions == "learned":
            stream = stream + jnp.expand_dims(self.position_embedding[positions], tuple(range(clauses.ndim - 2)))
        return self._scaled(jnp.asarray(stream))

    def _scaled(self, stream: Float[Array, "*batch width"]) -> Float[Array, "*batch width"]:
        if not self.spec.normalised:
            return stream
        return stream * jax.lax.rsqrt(jnp.mean(stream**2, axis=-1, keepdims=True) + 1e-6)

    def _heads(self, stream, weight, positions, rotate: bool = True):
        parts = choose(self.spec.kernels).product(stream, weight).reshape(*stream.shape[:-1], self.spec.heads, -1)
        parts = jnp.swapaxes(parts, -2, -3)  # heads before clauses: attention then needs no transposed copy
        return _rotated(parts, positions) if rotate and self.spec.positions == "rope" else parts

    def keys_values(self, stream: Float[Array, "*batch clause width"], positions: Int[Array, " clause"]):
        return self._heads(stream, self.key, positions), self._heads(stream, self.value, positions, rotate=False)

    def attend_from(
        self,
        stream: Float[Array, "*batch query width"],
        keys: Float[Array, "*batch head clause part"],
        values: Float[Array, "*batch head clause part"],
        seen: Bool[Array, "query clause"],
        positions: tuple[Int[Array, " query"], Int[Array, " clause"]],
    ) -> tuple[Float[Array, "*batch query spoken token"], Float[Array, "*batch head query clause"]]:
        """Logits of the next clause, and the attention that made them."""
        forms = choose(self.spec.kernels)
        queries = self._heads(stream, self.query, positions[0])
        scores = forms.scores(queries, keys) / math.sqrt(keys.shape[-1])
        if self.spec.positions == "alibi":
            slopes = 2.0 ** (-8.0 * (jnp.arange(self.spec.heads) + 1) / self.spec.heads)
            distance = (positions[0][:, None] - positions[1][None]).astype(scores.dtype)
            bias = -slopes[:, None, None] * distance[None]
            scores = scores + jnp.expand_dims(bias, tuple(range(scores.ndim - 3)))
        hidden = jnp.expand_dims(seen, tuple(range(scores.ndim - 2)))
        attention = jax.nn.softmax(jnp.where(hidden, scores, -1e30), axis=-1)
        found = jnp.swapaxes(forms.mixture(attention, values), -2, -3)
        stream = self.residual * stream + forms.product(found.reshape(stream.shape), self.out)
        bias = jnp.expand_dims(self.up_bias, tuple(range(stream.ndim - 1)))
        inner = jax.nn.relu(forms.product(self._scaled(stream), self.up) + bias)
        stream = self.residual * stream + forms.product(inner, self.down)
        return jnp.tensordot(self._scaled(stream), self.readout, 1), attention

    def __call__(
        self, clauses: Int[Array, "*batch clause slot"], whole: bool = False
    ) -> tuple[Float[Array, "*batch query spoken token"], Float[Array, "*batch head query clause"]]:
        """Predictions at the answers, the second half of the clauses (teacher forcing).

        `whole` reads every slot of an answer; true answers have only two that are not blank.
        """
        count = clauses.shape[-2]
        positions, half = jnp.arange(count), count // 2
        table = self.table()
        predicates = self.embed(table, clauses[..., :half, :], positions[:half], PREDICATE)
        answers = self.embed(table, clauses[..., half:, :], positions[half:], EVERY if whole else ANSWER)
        keys, values = self.keys_values(jnp.concatenate([predicates, answers], axis=-2), positions)
        seen = positions[None] <= positions[half:, None]
        return self.attend_from(answers, keys, values, seen, (positions[half:], positions))


def _rotated(parts: Float[Array, "*batch head clause part"], positions: Int[Array, " clause"]):
    """Rotary positions."""
    half = parts.shape[-1] // 2
    angle = positions[:, None].astype(parts.dtype) * 10_000.0 ** (-jnp.arange(half)[None] / half)
    lead = tuple(range(parts.ndim - 3))
    turn, lift = (jnp.expand_dims(f(angle)[None], lead) for f in (jnp.cos, jnp.sin))
    first, second = parts[..., :half], parts[..., half:]
    return jnp.concatenate([first * turn - second * lift, first * lift + second * turn], axis=-1)


def drawn(spec: DecoderSpec, key: Key[Array, ""], residual: float = 0.0) -> Decoder:
    """Gaussian weights of variance one over the fan-in; unit-variance token embeddings over the token width."""
    size, width, rows = spec.vocabulary.size, spec.width, spec.longest if spec.positions == "learned" else 0
    square = ((width, width), width)
    wanted = {  # shape and fan-in
        "tokens": ((SLOTS, size, spec.token_width), 1.0),
        "into": ((SLOTS, spec.token_width, width), SLOTS * spec.token_width),
        "position_embedding": ((rows, width), 1.0),
        "query": square,
        "key": square,
        "value": square,
        "up": ((width, spec.hidden), width / 2),
        "down": ((spec.hidden, width), spec.hidden),
        "readout": ((width, len(spec.slots), size), width),
    }
    found = draws.normals(list(jax.random.split(key, len(wanted))), [shape for shape, _ in wanted.values()])
    drawn: dict[str, Any] = {
        name: each / math.sqrt(fan) for (name, (_, fan)), each in zip(wanted.items(), found, strict=True)
    }
    drawn["position_embedding"] = 0.02 * drawn["position_embedding"]
    return Decoder(
        **drawn,
        out=jnp.eye(width),
        up_bias=jnp.zeros(spec.hidden),
        residual=jnp.asarray(residual, jnp.float32),
        spec=spec,
    )


def decoder(
    task: AbstractTask,
    token_width: int = 16,
    width: int = 64,
    heads: int = 2,
    hidden: int = 128,
    residual: float = 1.0,
    normalised: bool = True,
    positions: Positions = "none",
    longest: int = 400,
    slots: tuple[int, ...] = EVERY,
    kernels: str = "auto",
) -> Decoder:
    """A decoder for LEGO sentences; its weights are drawn per member by `init`.

    kernels: "auto" for products with a fast gradient, "reference" for plain ones.
    """
    require(isinstance(task, Lego), f"the decoder reads LEGO's clauses: task={type(task).__name__}; use Lego, or a gpt")
    assert isinstance(task, Lego)
    words = task.vocabulary
    spec = DecoderSpec(words, token_width, width, heads, hidden, normalised, positions, longest, slots, kernels)
    shape = eqx.filter_eval_shape(lambda: drawn(spec, jax.random.key(0)))
    model = jax.tree.map(lambda leaf: zeros(leaf.shape, leaf.dtype) if hasattr(leaf, "shape") else leaf, shape)
    return eqx.tree_at(lambda model: model.residual, model, jnp.asarray(residual, jnp.float32))
