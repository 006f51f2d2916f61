"""The gated transformer without the level mask of Def. 1: what a layer writes may read any position."""

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ...errors import require
from ...models import AbstractLink, AbstractModel, SignMeans, link_named
from ...models.base import masked_softmax, own_layout_only, padded_signs
from ...tasks import AbstractTask, Chain, Layout

MASKS = ("none", "causal")


class Unmasked(AbstractModel):
    """A layer's thoughts read all positions as they stand before it (none), or those before their own (causal): shown tokens
    of its own level and above, zeros where they are padded."""

    weights: tuple[Float[Array, "_node position"], ...]
    layout: Layout = eqx.field(static=True)
    link: AbstractLink = eqx.field(static=True)
    mask: str = eqx.field(static=True)
    sees_itself: ClassVar[bool] = True

    def refuses(self, layout, alphabet):
        return own_layout_only(self, layout, alphabet)

    def depth_of(self, level):
        return level

    def allowed(self, level: int) -> Bool[np.ndarray, "node position"]:
        start, end = self.layout.ends[level - 1], self.layout.ends[level]
        positions = np.arange(self.layout.positions)
        rows = np.arange(start, end)[:, None]
        return positions[None] < rows if self.mask == "causal" else np.ones((end - start, len(positions)), bool)

    def predict(self, chain: Chain, depth: int | None = None, key=None) -> SignMeans:
        values, layout = padded_signs(chain), self.layout
        for level in range(1, (layout.depth if depth is None else depth) + 1):
            scores = masked_softmax(self.weights[level - 1], jnp.asarray(self.allowed(level)))
            written = self.link(scores @ values)
            values = values.at[layout.ends[level - 1] : layout.ends[level]].set(written)
        return SignMeans(values[layout.inputs :, None])

    def predict_batch(self, chains: Chain, depth: int | None = None, key=None) -> SignMeans:
        return self.predict(chains, depth)


def unmasked(task: AbstractTask, mask: str = "none", link: str | AbstractLink = "cosine") -> Unmasked:
    """Zero weights, as Algorithm 1 starts."""
    require(mask in MASKS, f"a mask is levels, {' or '.join(MASKS)}: mask={mask!r}; use one of these")
    layout = task.layout
    shapes = [(end - start, layout.positions) for start, end in zip(layout.ends, layout.ends[1:], strict=False)]
    return Unmasked(tuple(jnp.zeros(shape) for shape in shapes), layout, link_named(link), mask)


def relatives(task, secret) -> np.ndarray:
    """int[thought, 2]: the sibling and the parent of every thought but the root, whose product it is too."""
    children = np.asarray(task.children(secret))
    inputs, thoughts = task.layout.inputs, task.layout.thoughts
    found = np.zeros((thoughts - 1, 2), int)
    for parent, pair in enumerate(children):
        for own, other in (pair, pair[::-1]):
            if own >= inputs:
                found[own - inputs] = other, inputs + parent
    return found
