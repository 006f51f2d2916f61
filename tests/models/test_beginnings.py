"""Sequences that begin alike are computed once up to where they part: the same logits and gradients, fewer rows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.models.beginnings import MOST, Beginnings, beginnings, worth_sharing
from sorites.models.network import Architecture, network
from sorites.models.network_reduced import reduced
from sorites.theory.precision import in_float64


@in_float64
@pytest.mark.parametrize(("layers", "batch", "length", "asked"), [(2, 64, 9, 6), (3, 64, 9, 8), (4, 30, 7, 2)])
def test_logits_and_gradients_are_those_of_every_position(layers, batch, length, asked):
    model = network(Architecture(layers, 2, 8, 12, spread=0.5), length, jax.random.key(0))
    model = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), model)
    tokens = jax.random.bernoulli(jax.random.key(1), 0.5, (batch, length)).astype(jnp.int32)
    weights = jax.random.normal(jax.random.key(2), (batch, length - asked, 2), jnp.float64)
    assert beginnings(tokens, asked).depth >= 2

    maps = reduced(model, jnp.zeros(8), tokens, None, asked, False)[1]
    assert all(each is None for each in maps[:-1])  # shared, so without maps

    def total(model, look):
        return jnp.sum(weights * reduced(model, jnp.zeros(8), tokens, None, asked, look)[0] ** 2)

    (ours, slopes), (theirs, expected) = (jax.value_and_grad(total)(model, look) for look in (False, True))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    for slope, other in zip(jax.tree.leaves(slopes), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(slope, other, atol=1e-11 * float(np.abs(other).max()) + 1e-13)


def test_a_beginning_is_the_one_that_a_sequence_has():
    tokens = jax.random.bernoulli(jax.random.key(0), 0.5, (50, 8)).astype(jnp.float32)
    shared = beginnings(tokens, 8)
    np.testing.assert_array_equal(shared.bits[shared.which], tokens[:, : shared.depth])
    rows = shared.rows(jnp.asarray(shared.bits, jnp.float32)[..., None], tokens[:, shared.depth :, None])
    np.testing.assert_array_equal(shared.whole(rows)[..., 0], tokens)


@pytest.mark.parametrize("batch", [1, 2, 4, 16, 100, 512, 2048, 100_000])
def test_as_deep_as_it_pays(batch):
    """Another bit saves a row of every sequence, and costs at most a fourth as many."""

    def rows(depth):
        return Beginnings(depth, 40, jnp.zeros(batch, jnp.int32)).shared + batch * (40 - depth)

    depth = worth_sharing(batch, 40)
    for deeper in range(1, depth + 1):
        assert rows(deeper) <= rows(deeper - 1) - 3 * batch / 4
    assert rows(depth + 1) > rows(depth) - 3 * batch / 4 or depth == MOST
    assert worth_sharing(batch, 1) <= 1
