"""Products with slopes of their own: the same as autodiff's, however many rows there are."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.models.few_queries import _looked_up, _looked_up_once
from sorites.models.product import FEW, mapped, pulled, scored
from sorites.theory.precision import in_float64


def slopes(function, *arguments):
    """The value, and the slopes of a sum with other weights for every number of it."""

    def weighed(*arguments):
        leaves = jax.tree.leaves(function(*arguments))
        return sum(jnp.sum(leaf * jnp.cos(jnp.arange(leaf.size)).reshape(leaf.shape)) for leaf in leaves)

    return *jax.tree.leaves(function(*arguments)), *jax.grad(weighed, tuple(range(len(arguments))))(*arguments)


def compared(ours, theirs, *shapes):
    keys = jax.random.split(jax.random.key(0), len(shapes))
    drawn = [jax.random.normal(key, shape, jnp.float64) for key, shape in zip(keys, shapes, strict=True)]
    for found, expected in zip(slopes(ours, *drawn), slopes(theirs, *drawn), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)
        assert np.abs(expected).max() > 0.1


@pytest.mark.parametrize("queries", [1, 3, FEW, FEW + 1])
@in_float64
def test_attention_over_few_places(queries):
    compared(scored, lambda queries, places: queries @ places.mT, (2, 3, queries, 4), (2, 3, 5, 4))
    compared(pulled, lambda weights, places: weights @ places, (2, 3, queries, 5), (2, 3, 5, 4))


@pytest.mark.parametrize("target", [3, 6, 7, 12, 20])
@in_float64
def test_maps_that_narrow_and_that_do_not(target):
    compared(mapped, lambda rows, weight: rows @ weight, (2, 5, 12), (12, target))


@pytest.mark.parametrize(("heads", "queries"), [(1, 1), (2, 1), (2, 3)])
@in_float64
def test_places_that_are_keys_and_values_at_once(heads, queries):
    """Maps are looked at as well, so their slopes count."""
    places, first = 6, 6 - queries
    ways = [lambda asked, read, way=way: way(asked, read, heads, first) for way in (_looked_up_once, _looked_up)]
    compared(*ways, (3, heads * queries, 8), (3, places, 8))
