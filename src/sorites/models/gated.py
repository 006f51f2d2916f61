"""The gated L-layer transformer of Log-ICoT, reduced to the weights that can ever receive a gradient.

Under the gates of Eq. (2), layer l writes exactly the thoughts of level l and copies every other position,
so with v^(0) the padded chain (levels counted from the inputs, level 0)

    v^(l)_m = phi( sum_j softmax_j(w^(l)_m) v^(l-1)_j )   for m on level l, j on levels below l
    v^(l)_m = v^(l-1)_m                                    elsewhere.

`models.block` is the literal twin with embeddings of size T + B(L+1).
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..tasks import AbstractTask, Chain, Layout
from .base import AbstractModel, in_chain_coordinates, own_layout_only, padded_signs, zeros
from .links import AbstractLink, link_named
from .prediction import SignMeans

Live = tuple[Float[Array, "_node _source"], ...]  # per layer: (thoughts of the level) x (lower positions)


def live_shapes(layout: Layout) -> list[tuple[int, int]]:
    """Per layer: how many thoughts it writes, and how many positions each may read."""
    return [(end - start, start) for start, end in zip(layout.ends, layout.ends[1:], strict=False)]


def climb(
    attention: Live,
    inputs: Float[Array, " input *batch"],
    link: AbstractLink,
    reads: Callable[[int, Float[Array, " node *batch"]], Float[Array, " node *batch"]],
) -> list[Float[Array, " node *batch"]]:
    """The phi-output of every layer; `reads(level, output)` is what later layers read in its place.

    No layer changes the inputs, so the attention of all layers to them is one matrix product.
    """
    width = inputs.shape[0]
    from_inputs = jnp.concatenate([scores[:, :width] for scores in attention]) @ inputs
    outputs, known, start = [], [], 0
    for level, scores in enumerate(attention, start=1):
        z = from_inputs[start : start + scores.shape[0]]
        if known:
            z = z + scores[:, width:] @ jnp.concatenate(known)
        outputs.append(link(z))
        known.append(reads(level, outputs[-1]))
        start += scores.shape[0]
    return outputs


class Gated(AbstractModel):
    """The paper's model: a thought's value is always recomputed, so shown thoughts are never read (LI-20)."""

    weights: Live
    layout: Layout = eqx.field(static=True)
    link: AbstractLink = eqx.field(static=True)

    def refuses(self, layout, alphabet):
        return own_layout_only(self, layout, alphabet)

    def depth_of(self, level):
        return level

    def predict(self, chain: Chain, depth: int | None = None, key=None) -> SignMeans:
        """One chain or a batch: every layer is one matrix product."""
        feed, depth = padded_signs(chain), self.layout.depth if depth is None else depth
        outputs = climb(self.attention()[:depth], feed[: self.layout.inputs], self.link, lambda level, output: output)
        values = jnp.concatenate([*outputs, feed[self.layout.ends[depth] :]])  # the stage readout Psi_depth
        return SignMeans(values[:, None])

    def predict_batch(self, chains: Chain, depth: int | None = None, key=None) -> SignMeans:
        return self.predict(chains, depth)

    def attend(self, chains: Chain | None = None):
        return in_chain_coordinates(self.attention(), self.layout)

    def attention(self) -> Live:
        return tuple(jax.nn.softmax(weight, axis=-1) for weight in self.weights)


def gated(task: AbstractTask, link: str | AbstractLink = "cosine") -> Gated:
    """Zero weights: uniform attention, as Algorithm 1 starts."""
    weights = tuple(zeros(shape) for shape in live_shapes(task.layout))
    return Gated(weights=weights, layout=task.layout, link=link_named(link))
