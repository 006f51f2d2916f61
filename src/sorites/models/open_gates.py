"""The gated transformer with trainable gates: every layer may write every thought.

    v^(l)_m = g^(l)_m phi(z^(l)_m) + (1 - g^(l)_m) v^(l-1)_m,   g = sigmoid(gate)

The paper prescribes g from the tree (Eq. 2) and names trainable gates as future work (App. A).
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..tasks import AbstractTask, Chain, Layout
from .base import AbstractModel, in_chain_coordinates, masked_softmax, own_layout_only, padded_signs, zeros
from .links import AbstractLink, link_named
from .masks import lower_levels
from .prediction import SignMeans


class OpenGates(AbstractModel):
    """One full weight matrix and one gate per thought and layer; the mask is the paper's."""

    weights: Float[Array, "layer thought position"]
    gates: Float[Array, "layer thought"]
    layout: Layout = eqx.field(static=True)
    link: AbstractLink = eqx.field(static=True)

    sees_itself: ClassVar[bool] = True  # a gate that is not open copies what is shown

    def refuses(self, layout, alphabet):
        return own_layout_only(self, layout, alphabet)

    def depth_of(self, level):
        return level

    def predict(self, chain: Chain, depth: int | None = None, key=None) -> SignMeans:
        feed = padded_signs(chain)
        inputs, thoughts = feed[: self.layout.inputs], feed[self.layout.inputs :]
        depth = self.layout.depth if depth is None else depth
        scores = self.full_attention()[:depth]
        for layer in range(depth):
            block = self.link(scores[layer] @ jnp.concatenate([inputs, thoughts]))
            gate = jax.nn.sigmoid(self.gates[layer])
            thoughts = gate * block + (1 - gate) * thoughts
        return SignMeans(thoughts[:, None])

    def attend(self, chains: Chain | None = None):
        return in_chain_coordinates(self.attention(), self.layout)

    def full_attention(self) -> Float[Array, "layer thought position"]:
        mask = jnp.asarray(lower_levels(self.layout)[self.layout.inputs :])
        return jax.vmap(masked_softmax, in_axes=(0, None))(self.weights, mask)

    def attention(self) -> tuple[Float[Array, "_query _source"], ...]:
        """Of each layer, the rows of its own level: what the prescribed gates would let through."""
        ends, inputs, full = self.layout.ends, self.layout.inputs, self.full_attention()
        return tuple(
            full[level, ends[level] - inputs : ends[level + 1] - inputs, : ends[level]]
            for level in range(self.layout.depth)
        )


def open_gates(task: AbstractTask, link: str | AbstractLink = "cosine", gate: float = 0.0) -> OpenGates:
    """Zero weights, and every gate at sigmoid(gate): half open by default, so that nothing is prescribed."""
    layout = task.layout
    weights = zeros((layout.depth, layout.thoughts, layout.positions))
    gates = jnp.full((layout.depth, layout.thoughts), gate)
    return OpenGates(weights=weights, gates=gates, layout=layout, link=link_named(link))
