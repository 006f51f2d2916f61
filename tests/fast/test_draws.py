"""Numbers drawn the fast way are those of jax.random, to the last bit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.fast.draws import normals, uniform


@pytest.mark.parametrize("shape", [(), (5,), (3, 1, 7), (2, 1000)])
@pytest.mark.parametrize("low", [-1.0, 0.0])
def test_they_are_those_of_jax(shape, low):
    for seed in range(3):
        key = jax.random.key(seed)
        np.testing.assert_array_equal(uniform(key, shape, low), jax.random.uniform(key, shape, minval=low))


def test_many_keys_at_once_inside_a_loop_and_a_gradient():
    keys = jax.random.split(jax.random.key(3), 4)

    def drawn(draw):
        def loss(weight, key):
            return jax.lax.scan(lambda sum, k: (sum + (weight * draw(k)).sum(), None), 0.0, jax.random.split(key))[0]

        return jax.jit(jax.vmap(jax.grad(loss), in_axes=(None, 0)))(jnp.ones(6), keys)

    ours = drawn(lambda key: uniform(key, (6,), -1.0))
    np.testing.assert_array_equal(ours, drawn(lambda key: jax.random.uniform(key, (6,), minval=-1)))


def test_in_float64_and_with_other_generators_jax_draws():
    key = jax.random.key(0, impl="rbg")
    np.testing.assert_array_equal(uniform(key, (4,), -1.0), jax.random.uniform(key, (4,), minval=-1))
    with jax.enable_x64(True):
        key = jax.random.key(1)
        found = uniform(key, (4,), -1.0)
        assert found.dtype == jnp.float64
        np.testing.assert_array_equal(found, jax.random.uniform(key, (4,), minval=-1))


def test_normals_of_several_keys_are_those_of_each():
    keys, shapes = list(jax.random.split(jax.random.key(3), 4)), [(2, 7), (24, 8), (0, 3), (5, 2, 3)]
    for wrapped in (lambda function: function, jax.jit, jax.vmap):
        given = jax.tree.map(lambda key: key[None], keys) if wrapped is jax.vmap else keys
        found = wrapped(lambda keys: normals(keys, shapes))(given)
        for ours, key, shape in zip(found, keys, shapes, strict=True):
            theirs = jax.random.normal(key, shape)
            np.testing.assert_array_equal(np.asarray(ours).reshape(shape), theirs)


def test_normals_in_float64_are_jax_own():
    with jax.enable_x64(True):
        key = jax.random.key(1)
        [found] = normals([key], [(3,)])
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, jax.random.normal(key, (3,)))
