"""Does the gradient tell children from the rest? The signal that every theorem here turns into weights."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int


class Separation(eqx.Module):
    """Descent direction on the children of a thought and on its other sources."""

    child: Float[Array, "node child"]
    other: Float[Array, "node source"]  # zero in the children's places
    children: Int[Array, "node child"]

    @property
    def margin(self) -> Float[Array, ""]:
        """Smallest push on a child minus the largest push elsewhere: positive means one step separates."""
        elsewhere = jnp.put_along_axis(self.other, self.children, -jnp.inf, axis=1, inplace=False)
        return self.child.min() - elsewhere.max()


def separation(gradient: Float[Array, "node source"], children: Int[Array, "node child"]) -> Separation:
    """Split a layer's gradient by the children of the thoughts it writes."""
    child = -jnp.take_along_axis(gradient, children, axis=1)
    rest = jnp.put_along_axis(-gradient, children, 0.0, axis=1, inplace=False)
    return Separation(child, rest, children)
