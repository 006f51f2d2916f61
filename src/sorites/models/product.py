"""A product with a weight whose gradient needs no transposed copy.

JAX writes the gradient of `stream @ weight` as a product that XLA then transposes; on a CPU that copies what comes back
and takes a slower kernel. Written the other way round it is the same sum.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


@jax.custom_vjp
def product(stream: Float[Array, "*batch inner"], weight: Float[Array, "inner outer"]) -> Float[Array, "*batch outer"]:
    return stream @ weight


def _forward(stream, weight):
    return stream @ weight, (stream, weight)


def _backward(kept, wanted):
    stream, weight = kept
    rows = tuple(range(stream.ndim - 1))
    return wanted @ weight.T, jnp.tensordot(stream, wanted, (rows, rows))


product.defvjp(_forward, _backward)
