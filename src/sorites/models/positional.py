"""The one-layer transformer of kim-suzuki and rl-sft: attention by position, then a link.

    z_m = sum_j softmax_j(w_m) x_j over the mask,   prediction = phi(z_m)

It reads the thoughts before m as they stand, so it generates level by level.
"""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Num

from ..errors import SpecError
from ..tasks import AbstractTask, Chain, Layout
from .base import AbstractModel, Prediction, masked_softmax, padded_signs
from .links import AbstractLink
from .masks import MASKS, Mask
from .policies import any_link_named


class Positional(AbstractModel):
    """One weight per (thought, position); `mask` is a module-level function of the layout."""

    weights: Float[Array, "thought position"]
    layout: Layout = eqx.field(static=True)
    link: AbstractLink = eqx.field(static=True)
    mask: Callable[[Layout], Mask] = eqx.field(static=True)

    def embed(self, chain: Chain) -> Float[Array, " position"]:
        return padded_signs(chain)

    def read(self, feed: Float[Array, " position"], depth: int | None = None) -> Prediction:
        scores = self.full_attention()
        return Prediction(self.link(scores @ feed)[:, None, None], (scores,))

    def read_batch(self, chains: Chain, depth: int | None = None) -> Float[Array, "thought slot class batch"]:
        return self.link(self.full_attention() @ padded_signs(chains))[:, None, None]

    def read_level(
        self, attention: Float[Array, "thought position"], tokens: Num[Array, "known batch"], level: int
    ) -> Float[Array, "here batch"]:
        """Scores of one level's thoughts over a batch; only the positions that its mask allows are read."""
        inputs, start, end = self.layout.inputs, self.layout.ends[level - 1], self.layout.ends[level]
        read = np.flatnonzero(self.mask(self.layout)[start:end].any(axis=0))
        rows = attention[start - inputs : end - inputs, read[0] : read[-1] + 1]
        return self.link(rows @ tokens[read[0] : read[-1] + 1].astype(rows.dtype))

    def full_attention(self) -> Float[Array, "thought position"]:
        return masked_softmax(self.weights, jnp.asarray(self.mask(self.layout)[self.layout.inputs :]))

    def attention(self) -> tuple[Float[Array, "_query _source"], ...]:
        return (self.full_attention(),)


def positional(
    task: AbstractTask,
    link: str | AbstractLink = "cosine",
    mask: str | Callable[[Layout], Mask] = "lower-levels",
) -> Positional:
    """Zero weights: uniform attention over the mask."""
    if isinstance(mask, str) and mask not in MASKS:
        raise SpecError(f"a mask is one of {', '.join(MASKS)}: mask={mask!r}; use one of these or a function")
    rule = MASKS[mask] if isinstance(mask, str) else mask
    weights = jnp.zeros((task.layout.thoughts, task.layout.positions))
    return Positional(weights=weights, layout=task.layout, link=any_link_named(link), mask=rule)
