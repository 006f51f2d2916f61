"""The product with a weight: value and both gradients are those of `@`, alone and for members side by side."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.models.product import product


@pytest.mark.parametrize("batch", [(), (7,), (3, 4)])
def test_the_same_as_the_plain_product(batch):
    keys = jax.random.split(jax.random.key(0), 3)
    stream, weight = jax.random.normal(keys[0], (*batch, 5)), jax.random.normal(keys[1], (5, 6))
    wanted = jax.random.normal(keys[2], (*batch, 6))
    value, back = jax.vjp(product, stream, weight)
    plain, plainly = jax.vjp(jnp.matmul, stream, weight)
    np.testing.assert_array_equal(value, plain)
    for found, right in zip(back(wanted), plainly(wanted), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-6)  # another order of the same float32 sum


def test_members_side_by_side():
    streams, weights = jnp.ones((2, 3, 4)), jnp.stack([jnp.eye(4), 2 * jnp.eye(4)])
    slope = jax.vmap(jax.grad(lambda weight, stream: product(stream, weight).sum()))(weights, streams)
    np.testing.assert_array_equal(slope, jnp.full((2, 4, 4), 3.0))
