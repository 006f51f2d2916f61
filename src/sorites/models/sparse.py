"""wen's simplified block as a model of the engine: one attention layer and one ReLU layer over frozen embeddings.

T(b) = h' ReLU(W [x; X softmax(C + X'AX)])                                                    (Definition 6)

The sequence is inputs, a start token (the constant 0) and the thoughts but the last; a thought is predicted at the
place before it. A and W learn, embeddings and head do not. A padded or soft thought is the mixture of its two tokens.
`models/sparse_block.py` holds the block of the theory, with gradients in token coordinates.
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from ..errors import require
from ..tasks import AbstractTask, Chain, Layout
from .base import AbstractModel, Defaults, Maps, own_layout_only, padded_signs
from .prediction import SignMeans
from .sparse_block import LiteralBlock, embeddings, initial_head, initial_pattern


class Sparse(AbstractModel):
    table: Float[Array, "token width"]  # e_{i,b} at row 2i + b
    attention: Float[Array, "width width"]  # A
    weights: Float[Array, "neuron 2*width"]  # W
    head: Float[Array, " neuron"]  # h
    layout: Layout = eqx.field(static=True)

    causal: ClassVar[bool] = True
    probabilistic: ClassVar[bool] = False  # any number
    defaults: ClassVar[Defaults] = Defaults(rate=0.03, batch=500, steps=1000, every=50, objective="hinge")

    def refuses(self, layout, alphabet):
        return own_layout_only(self, layout, alphabet)

    def trainable(self):
        still = jax.tree.map(lambda _: False, self)
        return eqx.tree_at(lambda model: (model.attention, model.weights), still, (True, True))

    def init(self, key: Key[Array, ""]) -> "Sparse":
        """Assumption 1: A and the weights of what is attended to are zero, those of the query's own token are drawn."""
        first, second = jax.random.split(key)
        width, neurons = self.table.shape[1], len(self.head) // 2
        table = embeddings(first, self.layout.positions, width)
        pattern = initial_pattern(second, neurons, self.layout.inputs, self.layout.thoughts)
        weights = jnp.concatenate([pattern @ table, jnp.zeros((2 * neurons, width))], axis=1)
        return Sparse(table, self.attention, weights, self.head, self.layout)

    def _mixture(self, chain: Chain) -> Float[Array, "position bit *batch"]:
        """How much of either token each place holds."""
        signs = padded_signs(chain)[:-1]
        signs = jnp.concatenate([signs[: self.layout.inputs], jnp.ones_like(signs[:1]), signs[self.layout.inputs :]])
        return jnp.stack([1 + signs, 1 - signs], axis=1) / 2  # bit 0 is +1

    def predict(self, chain: Chain, depth: int | None = None, key=None) -> SignMeans:
        """Literally, one sequence."""
        x = jnp.einsum("tb,tbd->dt", self._mixture(chain), self.table.reshape(-1, 2, self.table.shape[1]))
        prediction, _ = LiteralBlock(self.table, self.attention, self.weights, self.head).of(x)
        return SignMeans(prediction[self.layout.inputs :, None])

    def predict_batch(self, chains: Chain, depth: int | None = None, key=None) -> SignMeans:
        """The same from tables over tokens, at the places that are asked: the width is met once a batch."""
        mixture, first = jnp.moveaxis(self._mixture(chains), -1, 0), self.layout.inputs
        spread, asked = self._spread(mixture), mixture[:, first:]
        own, seen = (part @ self.table.T for part in jnp.split(self.weights, 2, axis=1))  # neuron token
        own = own.reshape(len(own), -1, 2)[:, first:]
        before = jnp.einsum("bqc,rqc->bqr", asked, own) + spread.reshape(*spread.shape[:2], -1) @ seen.T
        return SignMeans((jax.nn.relu(before) @ self.head).T[:, None])

    def _spread(self, mixture: Float[Array, "batch position bit"]) -> Float[Array, "batch query position bit"]:
        """Attention of the places that are asked on every token."""
        length, first = mixture.shape[1], self.layout.inputs
        table = (self.table @ self.attention @ self.table.T).reshape(length, 2, length, 2)[:, :, first:]
        scores = jnp.einsum("bja,jaqc,bqc->bqj", mixture, table, mixture[:, first:])
        causal = np.tril(np.ones((length, length), bool))[first:][None]
        return jax.nn.softmax(scores, axis=-1, where=causal)[..., None] * mixture[:, None]

    def attend(self, chains: Chain) -> Maps:
        share = self._spread(jnp.moveaxis(self._mixture(chains), -1, 0)).sum(axis=-1)  # batch query position
        end = self.layout.inputs
        rows = jnp.concatenate([share[..., :end], share[..., end + 1 :], jnp.zeros_like(share[..., :1])], axis=-1)
        return (jnp.moveaxis(rows, 0, -1)[None],)

    def rounds(self, layout: Layout):
        return tuple((thought, thought + 1) for thought in range(layout.thoughts))  # each is read by the next


def sparse(task: AbstractTask, width: int = 256, neurons: int = 64) -> Sparse:
    """wen's simplified block: embeddings of that width, and twice as many neurons. `init` draws its weights."""
    require(
        width >= 1 and neurons >= 1, f"a block has a width and neurons: {width=}, {neurons=}; use 1 or more of both"
    )
    table, attention = jnp.zeros((2 * task.layout.positions, width)), jnp.zeros((width, width))
    return Sparse(table, attention, jnp.zeros((2 * neurons, 2 * width)), initial_head(neurons), task.layout)
