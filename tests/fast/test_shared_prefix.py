"""A prefix that sequences share is computed once: the same rows, attention and derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_products import derivatives

from sorites.fast.shared_prefix import DEEPEST, SharedPrefix, attend, prefix_depth, shared_prefix
from sorites.theory.precision import in_float64


def test_a_sequence_has_the_prefix_of_its_bits():
    tokens = jax.random.bernoulli(jax.random.key(0), 0.5, (50, 8)).astype(jnp.float32)
    shared = shared_prefix(tokens, 8)
    assert shared.depth == 3
    np.testing.assert_array_equal(shared.bits[shared.number], tokens[:, : shared.depth])
    rows = shared.rows(jnp.asarray(shared.bits, jnp.float32)[..., None], tokens[:, shared.depth :, None])
    np.testing.assert_array_equal(shared.whole(rows)[..., 0], tokens)
    np.testing.assert_array_equal(shared.since(5, rows)[..., 0], tokens[:, 5:])


@pytest.mark.parametrize("depth", [0, 1, 3])
@in_float64
def test_attention_and_its_derivatives_are_those_of_whole_sequences(depth):
    number = jax.random.randint(jax.random.key(1), (6,), 0, 2**depth)
    shared = SharedPrefix(depth, 5, number)
    count = 2**depth * depth + 6 * (5 - depth)
    split = jax.random.normal(jax.random.key(0), (count, 3 * 2 * 3), jnp.float64)

    def theirs(split):
        return attend(shared_plain(shared, split), 0, 2)

    def ours(split):
        return shared.whole(shared.attend(split, 2))

    for mine, other in zip(derivatives(ours, split), derivatives(theirs, split), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-11)


def shared_plain(shared, rows):
    """Every sequence, by indexing alone."""
    prefixes, rests = shared.parts(rows)
    return jnp.concatenate([prefixes[shared.number], rests], axis=1)


def test_members_share_each_their_own():
    bits = jax.random.bernoulli(jax.random.key(0), 0.5, (3, 16, 6)).astype(jnp.float32)

    def total(scale, bits):
        shared = shared_prefix(bits, 5)
        prefixes = jnp.asarray(shared.bits, jnp.float32)[..., None] * scale
        rests = bits[:, shared.depth :, None] * scale
        return jnp.sum(jnp.sin(shared.whole(shared.rows(prefixes, rests))))

    found = jax.vmap(jax.grad(total), (None, 0))(1.5, bits)
    expected = jax.vmap(jax.grad(lambda scale, bits: jnp.sum(jnp.sin(bits * scale))), (None, 0))(1.5, bits)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("batch", [1, 2, 4, 16, 100, 512, 2048, 100_000])
def test_prefixes_are_at_most_a_quarter_of_the_batch(batch):
    depth = prefix_depth(batch, 40)
    assert depth == 0 or 4 * 2**depth <= batch
    assert depth == DEEPEST or 4 * 2 ** (depth + 1) > batch
    assert prefix_depth(batch, 1) <= 1
