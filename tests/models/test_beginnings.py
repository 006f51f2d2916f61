"""Sequences that begin alike are computed once up to where they part: the same logits and gradients, fewer rows."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.models.beginnings import MOST, Beginnings, beginnings, gathered, row_of, worth_sharing
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


@pytest.mark.parametrize("depth", [2, 3, 5])
def test_a_row_of_the_tree_is_numbered_by_the_bits_up_to_it(depth):
    shared = Beginnings(depth, depth + 1, jnp.zeros(1, jnp.int32))
    paths, _ = shared.parts(jnp.arange(shared.tree + 1.0)[:, None])
    numbers = row_of(np.arange(2**depth)[:, None], np.arange(depth)[None], depth)
    np.testing.assert_array_equal(paths[..., 0], numbers)
    for position in range(depth):
        bits = shared.bits[:, : max(position, 1) + 1]  # the first two go by two bits
        alike = (bits[:, None] == bits[None]).all(axis=-1)
        np.testing.assert_array_equal(alike, numbers[:, None, position] == numbers[None, :, position])
    np.testing.assert_array_equal(np.unique(numbers), np.arange(shared.tree))
    slopes = np.arange(numbers.size, dtype=np.float32).reshape(numbers.shape)
    summed = np.bincount(numbers.ravel(), slopes.ravel())
    np.testing.assert_array_equal(gathered(jnp.asarray(slopes)[..., None])[:, 0], summed)


@pytest.mark.parametrize("batch", [1, 2, 4, 16, 100, 512, 2048, 100_000])
def test_as_deep_as_it_pays(batch):
    """Another bit saves a row of every sequence, and costs at most a fourth as many; one alone is never shared."""

    def rows(depth):
        return Beginnings(depth, 40, jnp.zeros(batch, jnp.int32)).tree + batch * (40 - depth)

    depths = [0, *range(2, MOST + 1)]
    for shallow, deep in itertools.pairwise(depths):
        pays = rows(deep) <= rows(shallow) - 3 * batch * (deep - shallow) / 4
        assert pays == (worth_sharing(batch, 40) >= deep)
    assert worth_sharing(batch, 40) in depths
    assert worth_sharing(batch, 1) == 0


@pytest.mark.parametrize(("batch", "rows"), [(512, 13_568), (2048, 51_712)])
def test_rows_of_the_recorded_gpt(batch, rows):
    """30 bits and three thoughts, as in results/profile-wen-h200.json."""
    shared = beginnings(jnp.zeros((batch, 33)), 30)
    assert shared.tree + batch * shared.rest == rows
