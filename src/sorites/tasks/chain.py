"""A chain is inputs, thoughts and an answer: the one object that tasks make and models read."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Num

from .layout import Layout


class Chain(eqx.Module):
    """Tokens at every position, and which of them are shown. The batch, where there is one, is the last axis:
    one position over the whole batch is a vector, as in the papers, and contiguous.

    A position that is not shown is padded. `shown` is data, so a curriculum that hides more thoughts does not
    recompile; None shows all, and a model knows it before compilation. Boolean tasks store signs; soft thoughts are
    floats in [-1, 1]. `weight` counts some chains less than others: 0 leaves one out.
    """

    tokens: Num[Array, "position slot *batch"]
    layout: Layout = eqx.field(static=True)
    shown: Bool[Array, " position *batch"] | None = None
    weight: Float[Array, "*batch"] | None = None
    own: bool = eqx.field(static=True, default=False)  # thoughts that a model wrote: anything its alphabet allows

    def with_shown(self, shown: Bool[Array, " position"] | None) -> "Chain":
        """The same tokens with other positions padded."""
        if shown is not None:
            batch = self.tokens.shape[2:]
            wide = (self.tokens.shape[0], *batch)
            shown = jnp.broadcast_to(jnp.expand_dims(shown, range(1, 1 + len(batch))), wide)
        return Chain(self.tokens, self.layout, shown, self.weight, self.own)

    def with_tokens(self, tokens: Num[Array, "position slot *batch"]) -> "Chain":
        """The tokens that a model wrote instead, all of them shown."""
        return Chain(tokens, self.layout, None, self.weight, own=True)
