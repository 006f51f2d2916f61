"""A gated transformer that does read the thoughts it is shown.

The prediction at a thought is always the block's phi-output before the gate, from the layer of its level.
The gate only decides what later layers read: the shown thought, or the phi-output once it is padded.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..tasks import AbstractTask, Chain, Layout
from .base import AbstractModel, in_chain_coordinates, own_layout_only, padded_signs, zeros
from .gated import Live, climb, live_shapes
from .links import AbstractLink, link_named
from .prediction import SignMeans


class Reader(AbstractModel):
    """Same live weights as `Gated`; shown thoughts enter the computation."""

    weights: Live
    layout: Layout = eqx.field(static=True)
    link: AbstractLink = eqx.field(static=True)

    def refuses(self, layout, alphabet):
        return own_layout_only(self, layout, alphabet)

    def depth_of(self, level):
        return level

    def predict(self, chain: Chain, depth: int | None = None, key=None) -> SignMeans:
        """One chain or a batch."""
        signs, shown = padded_signs(chain), chain.shown
        ends, depth = self.layout.ends, self.layout.depth if depth is None else depth

        def reads(level: int, output: Array) -> Array:
            here = slice(ends[level - 1], ends[level])
            return signs[here] if shown is None else jnp.where(shown[here], signs[here], output)

        outputs = climb(self.attention()[:depth], signs[: ends[0]], self.link, reads)
        return SignMeans(jnp.concatenate([*outputs, signs[ends[depth] :]])[:, None])

    def predict_batch(self, chains: Chain, depth: int | None = None, key=None) -> SignMeans:
        return self.predict(chains, depth)

    def attend(self, chains: Chain | None = None):
        return in_chain_coordinates(self.attention(), self.layout)

    def attention(self) -> Live:
        return tuple(jax.nn.softmax(weight, axis=-1) for weight in self.weights)


def reader(task: AbstractTask, link: str | AbstractLink = "cosine") -> Reader:
    """Zero weights: uniform attention."""
    weights = tuple(zeros(shape) for shape in live_shapes(task.layout))
    return Reader(weights=weights, layout=task.layout, link=link_named(link))
