"""The kernel, interpreted on a CPU, equals plain attention, slopes included; and a GPU's compiler can be given it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.models import network_reduced
from sorites.models.attention_kernel import attended, attended_on_chip, fits
from sorites.models.network import Architecture, network
from sorites.theory.precision import in_float64


def drawn(batch: int, length: int, heads: int, dim: int, kind=jnp.float32):
    split, slope = jax.random.split(jax.random.key(length))
    return (jax.random.normal(split, (batch, length, 3 * heads * dim)).astype(kind),
            jax.random.normal(slope, (batch, length, heads * dim)).astype(kind))  # fmt: skip


def value_and_slopes(function, split, slope):
    value, back = jax.vjp(function, split)
    return value, back(slope)[0]


@pytest.mark.parametrize(("length", "heads", "dim"), [(9, 2, 12), (33, 4, 180), (16, 1, 16), (1, 3, 5)])
def test_equals_plain_attention(length, heads, dim):
    split, slope = drawn(2, length, heads, dim)
    on_chip = value_and_slopes(lambda split: attended_on_chip(split, heads, True), split, slope)
    plain = value_and_slopes(lambda split: attended(split, heads), split, slope)
    for ours, theirs in zip(on_chip, plain, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-6)


def test_rounds_as_bfloat16_does():
    split, slope = drawn(2, 21, 2, 24, jnp.bfloat16)
    exact = value_and_slopes(lambda split: attended(split, 2), *(x.astype(jnp.float32) for x in (split, slope)))
    found = value_and_slopes(lambda split: attended_on_chip(split, 2, True), split, slope)
    for ours, theirs in zip(found, exact, strict=True):
        error = np.linalg.norm(np.asarray(ours, np.float32) - theirs) / np.linalg.norm(theirs)
        assert error < 1e-2


def test_members_share_it():
    split, _ = drawn(6, 7, 2, 8)
    packed = jax.vmap(lambda split: attended_on_chip(split, 2, True))(split.reshape(3, 2, 7, -1))
    np.testing.assert_allclose(packed.reshape(6, 7, -1), attended(split, 2), atol=2e-6)


def test_a_gpu_can_compile_it():
    split, slope = drawn(2, 33, 4, 180, jnp.bfloat16)
    traced = jax.jit(lambda *given: value_and_slopes(lambda split: attended_on_chip(split, 4), *given)[1])
    assert "_push" in traced.trace(split, slope).lower(lowering_platforms=("cuda",)).as_text()
    assert fits(33, 180)
    assert not fits(65, 16)
    assert not fits(16, 257)


def test_the_network_uses_it_where_nobody_looks(monkeypatch):
    """On a GPU in bfloat16; there a middle layer comes without its map, and the logits are the same."""
    model = network(Architecture(3, 2, 16, 16, compute="bfloat16", spread=0.3), 9, jax.random.key(0))
    tokens = jax.random.bernoulli(jax.random.key(1), 0.5, (4, 9)).astype(jnp.int32)
    pad = jnp.zeros(16)
    plain, maps = network_reduced.reduced(model, pad, tokens, None, 7)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(
        "sorites.models.attention_kernel.attended_on_chip", lambda split, heads: attended_on_chip(split, heads, True)
    )
    ours, unseen = network_reduced.reduced(model, pad, tokens, None, 7, look=False)
    assert [each is None for each in unseen] == [False, True, False]
    assert all(each is not None for each in maps)
    np.testing.assert_allclose(ours, plain, atol=0.05 * float(jnp.abs(plain).max()))


@in_float64
def test_few_queries_and_every_position_are_one_layer():
    model = network(Architecture(2, 2, 8, 8, spread=0.5), 9, jax.random.key(0))
    model = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), model)
    x, block = jax.random.normal(jax.random.key(1), (3, 9, 8), jnp.float64), model.blocks[1]
    few = network_reduced._few_queries(model, block, x, 7, None)
    every = network_reduced._every_position(model, block, x, 7, None)
    for ours, theirs in zip(few, every, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-13)
