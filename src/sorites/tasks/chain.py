"""A chain is inputs, thoughts and an answer: the one object that tasks make and models read."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Num


class Chain(eqx.Module):
    """Tokens at every position, and which of them are shown. The batch, where there is one, is the last axis:
    one position over the whole batch is a vector, as in the papers, and contiguous.

    A position that is not shown is padded: it embeds to zero plus its position. `shown` is data, so a
    curriculum that hides more thoughts does not recompile. Boolean tasks store signs; soft thoughts are
    floats in [-1, 1].
    """

    tokens: Num[Array, "position slot *batch"]
    shown: Bool[Array, " position *batch"]

    def with_shown(self, shown: Bool[Array, " position"]) -> "Chain":
        """The same tokens with other positions padded."""
        batch = self.tokens.shape[2:]
        return Chain(self.tokens, jnp.broadcast_to(jnp.expand_dims(shown, range(1, 1 + len(batch))), self.shown.shape))
