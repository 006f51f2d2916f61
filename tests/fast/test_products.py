"""Products with derivatives of their own equal plain products in every mode of differentiation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.fast import choose
from sorites.fast.products import FEW, mixture, product, scores
from sorites.theory.precision import in_float64


def derivatives(function, *arguments):
    """The value, its derivative along some direction, a gradient, and a Hessian-vector product both ways."""
    directions = tuple(jnp.sin(3 + jnp.arange(each.size)).reshape(each.shape).astype(each.dtype) for each in arguments)
    every = tuple(range(len(arguments)))

    def total(*arguments):
        value = function(*arguments)
        return jnp.sum(jnp.sin(value) * jnp.cos(jnp.arange(value.size)).reshape(value.shape))

    def along(*arguments):
        return sum(jnp.sum(g * d) for g, d in zip(jax.grad(total, every)(*arguments), directions, strict=True))

    tangents = jax.jvp(function, arguments, directions)
    forward_over_reverse = jax.jvp(jax.grad(total, every), arguments, directions)
    return jax.tree.leaves((tangents, forward_over_reverse, jax.grad(along, every)(*arguments)))


def compare(ours, theirs, *shapes):
    keys = jax.random.split(jax.random.key(0), len(shapes))
    drawn = [jax.random.normal(key, shape, jnp.float64) for key, shape in zip(keys, shapes, strict=True)]
    for found, expected in zip(derivatives(ours, *drawn), derivatives(theirs, *drawn), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-11)
        assert np.abs(expected).max() > 0.1


@pytest.mark.parametrize("queries", [1, 3, FEW, FEW + 1])
@in_float64
def test_attention_of_few_queries(queries):
    compare(scores, lambda queries, keys: queries @ keys.mT, (2, 3, queries, 4), (2, 3, 5, 4))
    compare(mixture, lambda weights, values: weights @ values, (2, 3, queries, 5), (2, 3, 5, 4))


@pytest.mark.parametrize("target", [3, 6, 7, 12, 20])
@in_float64
def test_narrow_and_wide_weights(target):
    compare(product, lambda rows, weight: rows @ weight, (2, 5, 12), (12, target))


def test_several_members_and_bfloat16():
    x, weight = jax.random.normal(jax.random.key(0), (3, 5, 6)), jax.random.normal(jax.random.key(1), (2, 6, 3))
    many = jax.vmap(jax.grad(lambda weight, x: jnp.sum(jnp.sin(product(x, weight)))), (0, None))(weight, x)
    for each, one in zip(many, weight, strict=True):
        plain = jax.grad(lambda weight: jnp.sum(jnp.sin(x @ weight)))(one)
        np.testing.assert_allclose(each, plain, rtol=1e-5, atol=1e-5)
    half = product(x, weight[0], jnp.bfloat16)
    assert half.dtype == x.dtype
    np.testing.assert_allclose(half, x @ weight[0], atol=0.1)


def test_unknown_kernels_are_refused():
    with pytest.raises(SpecError, match="kernels='quick'; use 'auto' or 'reference'"):
        choose("quick")
