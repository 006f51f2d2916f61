"""A gated transformer that does read the thoughts it is shown.

The prediction at a thought is always the block's phi-output before the gate, from the layer of its level.
The gate only decides what later layers read: the shown thought, or the phi-output once it is padded.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ..tasks import AbstractTask, Chain, Layout
from .base import AbstractModel, Prediction, padded_signs
from .gated import Live, climb, live_shapes
from .links import AbstractLink, link_named


class Reader(AbstractModel):
    """Same live weights as `Gated`; shown thoughts enter the computation."""

    weights: Live
    layout: Layout = eqx.field(static=True)
    link: AbstractLink = eqx.field(static=True)

    def embed(self, chain: Chain) -> tuple[Float[Array, " position"], Bool[Array, " position"]]:
        return padded_signs(chain), chain.shown

    def read(self, feed, depth: int | None = None) -> Prediction:
        signs, shown = feed
        ends, depth = self.layout.ends, self.layout.depth if depth is None else depth
        attention = self.attention()[:depth]

        def reads(level: int, output: Array) -> Array:
            here = slice(ends[level - 1], ends[level])
            return jnp.where(shown[here], signs[here], output)

        outputs = climb(attention, signs[: ends[0]], self.link, reads)
        values = jnp.concatenate([*outputs, signs[ends[depth] :]])
        return Prediction(values[:, None, None], attention)

    def read_batch(self, chains: Chain, depth: int | None = None):
        return self.read((padded_signs(chains), chains.shown), depth).scores

    def attention(self) -> Live:
        return tuple(jax.nn.softmax(weight, axis=-1) for weight in self.weights)


def reader(task: AbstractTask, link: str | AbstractLink = "cosine") -> Reader:
    """Zero weights: uniform attention."""
    weights = tuple(jnp.zeros(shape) for shape in live_shapes(task.layout))
    return Reader(weights=weights, layout=task.layout, link=link_named(link))
