"""GPT-2 on chains: any task whose tokens are signs or classes, sentences of several slots written out token by token.

The sequence is inputs, a start token where there is one (the constant 0 of wen's format), thoughts but the last token;
a token of a thought is predicted at the place before it. A thought that is not shown holds a pad of its own.
"""

import dataclasses
import functools
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from ..errors import require
from ..fast import KERNELS, choose
from ..fast.kernels import REVERSE_ONLY
from ..fields import require_kind, require_whole
from ..tasks import AbstractTask, Alphabet, Chain, Layout
from ..tasks.base import compiled
from .base import AbstractModel, Defaults, Maps, zeros
from .network import TYPES, Architecture, Network, embed, network, sum_type, working_type
from .prediction import AbstractPrediction, ClassLogits, SignLogits

PAD = 1_000_037  # folds the key of the pad; split(key, n)[i] is fold_in(key, i), so no small number will do
SHORT = 4  # tokens up to which reading again costs less than keeping keys and values


class GPT(AbstractModel):
    net: Network
    pad: Float[Array, " width"]  # what a hidden thought embeds to
    alphabet: Alphabet = eqx.field(static=True)
    start: bool = eqx.field(static=True, default=True)
    kernels: str = eqx.field(static=True, default="auto")  # see `fast.choose`

    causal: ClassVar[bool] = True
    defaults: ClassVar[Defaults] = Defaults(2e-3, 128, 600, 25, "adam", "cross-entropy")

    def refuses(self, layout: Layout, alphabet: Alphabet) -> str | None:
        if alphabet != self.alphabet:
            return (
                f"a GPT reads its own alphabet: {self.alphabet}, the task has {alphabet}; make the model from the task"
            )
        need, room = layout.positions * layout.slots - 1 + self.start, len(self.net.positions)
        if need > room:
            return f"a GPT has learned positions: {need} are needed, {room} are there; make it with room={need} or more"
        return None

    def init(self, key: Key[Array, ""]) -> "GPT":
        net = self.net
        made = network(net.architecture, len(net.positions), key, len(net.tokens))
        pad = net.architecture.spread * jax.random.normal(jax.random.fold_in(key, PAD), self.pad.shape)
        return dataclasses.replace(self, net=made, pad=pad.astype(self.pad.dtype))

    def for_gradient(self) -> "GPT":
        return self if self.kernels == "reference" else dataclasses.replace(self, kernels=REVERSE_ONLY)

    def _sequence(self, chains: Chain) -> tuple[Array, Array | None]:
        """Token numbers and what is hidden, "batch position" (or "position"): everything but the last token."""
        layout, slots = chains.layout, chains.layout.slots
        numbers = self.alphabet.numbers(chains.tokens)
        numbers = numbers.reshape(-1, *numbers.shape[2:])
        hidden = None if chains.shown is None else jnp.repeat(~chains.shown, slots, axis=0)
        if self.start:
            zero, end = jnp.zeros_like(numbers[:1]), layout.inputs * slots
            numbers = jnp.concatenate([numbers[:end], zero, numbers[end:]])
            hidden = None if hidden is None else jnp.concatenate([hidden[:end], zero > 0, hidden[end:]])
        return numbers[:-1].T, None if hidden is None else hidden[:-1].T

    def first_asked(self, layout: Layout) -> int:
        """The place in the sequence from which the first token of a thought is predicted."""
        return layout.inputs * layout.slots - 1 + self.start

    def _prediction(self, logits: Float[Array, "*batch query vocab"], slots: int) -> AbstractPrediction:
        logits = logits.astype(sum_type(logits))
        if self.alphabet.signs:
            margin = logits[..., 0] - logits[..., 1]  # bit 0 is +1
            return SignLogits(margin.T.reshape(-1, slots, *margin.shape[:-1]))
        rows = logits.reshape(*logits.shape[:-2], -1, slots, logits.shape[-1])
        return ClassLogits(rows)

    def predict(self, chain: Chain, depth: int | None = None, key=None) -> AbstractPrediction:
        numbers, hidden = self._sequence(chain)
        logits, _ = self.net.continued(embed(self.net, self.pad, numbers, hidden), key)
        return self._prediction(logits[self.first_asked(chain.layout) :], chain.layout.slots)

    def predict_batch(self, chains: Chain, depth: int | None = None, key=None) -> AbstractPrediction:
        logits = choose(self.kernels).logits
        if logits is None or (self.net.architecture.dropout and key is not None):
            return super().predict_batch(chains, depth, key)
        return self._prediction(
            logits(self.net, self.pad, *self._sequence(chains), self.first_asked(chains.layout)), chains.layout.slots
        )

    @compiled
    def maps(self, chains: Chain) -> tuple[Float[Array, "batch head query source"], ...]:
        """Every layer's attention between all places of the sequence, inputs and start token included."""
        return jax.vmap(self.net.continued)(embed(self.net, self.pad, *self._sequence(chains)))[1]

    def attend(self, chains: Chain) -> Maps:
        """A thought of several slots looks where its slots look on average."""
        layout, maps = chains.layout, self.maps(chains)
        end = layout.inputs * layout.slots

        def in_chain(attention: Array) -> Array:  # batch head query source -> head thought position batch
            rows = attention[:, :, -layout.thoughts * layout.slots :]
            rows = jnp.concatenate(
                [rows[..., :end], rows[..., end + self.start :], jnp.zeros_like(rows[..., :1])], axis=-1
            )
            rows = rows.reshape(*rows.shape[:2], layout.thoughts, layout.slots, layout.positions, layout.slots)
            return jnp.moveaxis(rows.mean(axis=3).sum(axis=-1), 0, -1)

        return tuple(map(in_chain, maps))

    def rounds(self, layout: Layout):
        return tuple((thought, thought + 1) for thought in range(layout.thoughts))  # each is read by the next

    def generate(self, chains: Chain, key: Key[Array, ""], how: str):
        layout = chains.layout
        if how == "soft" or (layout.slots == 1 and layout.thoughts <= SHORT):
            return self._written(chains, key, how)[0]
        return self._cached(chains, key, how)

    def _cached(self, chains: Chain, key: Key[Array, ""], how: str):
        """One token at a time; the prompt is read once, keys and values are kept."""
        net, layout = self.net, chains.layout
        heads, compute = net.architecture.heads, working_type(net.architecture)
        numbers, _ = self._sequence(chains)
        (batch, length), prompt = numbers.shape, self.first_asked(layout) + 1
        x, caches = embed(net, self.pad, numbers[:, :prompt], None), []

        def parts_of(block, x):
            split = block.project(block.first(x), compute).reshape(batch, x.shape[1], 3, heads, -1)
            return (jnp.moveaxis(split[:, :, part], 1, 2) for part in range(3))

        def attended(block, x, query, keys, values, seen):
            scores = query @ keys.mT / np.sqrt(query.shape[-1]).astype(x.dtype)
            attention = jax.nn.softmax(scores.astype(sum_type(x)), axis=-1, where=seen[None, None]).astype(x.dtype)
            x = x + block.out(jnp.moveaxis(attention @ values, 1, 2).reshape(x.shape), compute)
            return x + block.feed_forward(x, compute)

        for block in net.blocks:
            query, keys, values = parts_of(block, x)
            x = attended(block, x, query, keys, values, np.tril(np.ones((prompt, prompt), bool)))
            room = ((0, 0), (0, 0), (0, length - prompt), (0, 0))
            caches.append((jnp.pad(keys, room), jnp.pad(values, room)))

        def chosen(x, number):  # the token after x, as a row over the batch
            prediction = self._prediction(net.final(x[:, -1:]) @ net.tokens.T, 1)
            return prediction.choose(how, jax.random.fold_in(key, number))[0, 0].astype(chains.tokens.dtype)

        def step(carry, number):
            token, caches = carry
            place = prompt + number
            row = self.alphabet.numbers(token)
            x = (net.tokens[row] + net.positions[place][None])[:, None]
            kept = []
            for block, (keys, values) in zip(net.blocks, caches, strict=True):
                query, here, value = parts_of(block, x)
                keys = jax.lax.dynamic_update_slice_in_dim(keys, here, place, 2)
                values = jax.lax.dynamic_update_slice_in_dim(values, value, place, 2)
                x = attended(block, x, query, keys, values, (jnp.arange(length) <= place)[None])
                kept.append((keys, values))
            return (chosen(x, number + 1), tuple(kept)), token

        first = chosen(x, 0)
        (last, _), tokens = jax.lax.scan(step, (first, tuple(caches)), jnp.arange(length - prompt))
        thoughts = jnp.concatenate([tokens, last[None]]).reshape(layout.thoughts, layout.slots, batch)
        return jnp.concatenate([chains.tokens[: layout.inputs], thoughts])


def gpt(
    task: AbstractTask,
    layers: int = 1,
    heads: int = 4,
    width: int = 64,
    hidden: int | None = None,
    dropout: float = 0.0,
    weights: str = "float32",
    compute: str = "float32",
    spread: float | None = None,
    start: bool | None = None,
    room: int | None = None,
    kernels: str = "auto",
) -> GPT:
    """A GPT for a task; its weights are drawn per member by `init`.

    hidden: 4 x width by default. spread: of the initial weights, GPT-2's 0.02 rescaled from its width by default.
    start: a token between inputs and thoughts, by default for signs. room: places, by default as many as the task
    needs. kernels: "auto" for fast forms, "reference" for the plain network under `jax.vmap`.
    """
    require(kernels in KERNELS, f"unknown kernels: kernels={kernels!r}; use 'auto' or 'reference'")
    require_kind("task", task, AbstractTask, "Parity(bits=8, sparsity=4)")
    require_whole(width=width)
    require(width >= 1, f"a GPT has a width: width={width}; use 1 or more")
    layout, alphabet = task.layout, task.alphabet
    architecture = Architecture(
        layers,
        heads,
        width,
        hidden or 4 * width,
        dropout,
        weights,
        compute,
        0.02 * (720 / width) ** 0.5 if spread is None else spread,
    )
    start = alphabet.signs if start is None else start
    need = layout.positions * layout.slots - 1 + start
    require(room is None or room >= need, f"a GPT has a place for every token: room={room}; use {need} or more")
    shape = _shapes(architecture, room or need, alphabet.vocab)
    net = jax.tree.map(lambda leaf: zeros(leaf.shape, leaf.dtype) if hasattr(leaf, "shape") else leaf, shape)
    net = dataclasses.replace(net, architecture=architecture)  # whose numbers may be of other types than equal ones
    return GPT(net, zeros(width, TYPES[weights]), alphabet, start, kernels)


@functools.cache
def _shapes(architecture: Architecture, places: int, vocab: int) -> Network:
    """Of its weights: an ensemble of a hundred runs asks for the same ones as often."""
    return eqx.filter_eval_shape(lambda: network(architecture, places, jax.random.key(0), vocab))
