"""A chain is inputs, thoughts and an answer: the one object that tasks make and models read."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Num


class Chain(eqx.Module):
    """Tokens at every position, and which of them are shown.

    A position that is not shown is padded: it embeds to zero plus its position. `shown` is data, so a
    curriculum that hides more thoughts does not recompile. Boolean tasks store signs; soft thoughts are
    floats in [-1, 1].
    """

    tokens: Num[Array, "*batch position slot"]
    shown: Bool[Array, "*batch position"]

    def with_shown(self, shown: Bool[Array, " position"]) -> "Chain":
        """The same tokens with other positions padded."""
        return Chain(self.tokens, jnp.broadcast_to(shown, self.tokens.shape[:-1]))
