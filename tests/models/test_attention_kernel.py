"""The kernel, interpreted on a CPU, equals plain attention, slopes included; and a GPU's compiler can be given it."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_network_lean import moved

from sorites.models import network_reduced
from sorites.models.attention_kernel import attended_on_chip, fits
from sorites.models.beginnings import Beginnings, attended
from sorites.models.few_queries import few_queries, parted_softmax, unseen
from sorites.models.network import Architecture, network, parted, standard
from sorites.models.network_lean import lean
from sorites.models.query_kernel import pulled_on_chip
from sorites.theory.precision import in_float64


def drawn(batch: int, length: int, depth: int, heads: int, dim: int, kind=jnp.float32, seed: int = 0):
    """Beginnings of so many first bits, queries, keys and values of every row, and slopes."""
    which, split, slope = jax.random.split(jax.random.key(seed), 3)
    of = Beginnings(depth, length, jax.random.randint(which, (batch,), 0, 2**depth))
    rows = of.tree + batch * (length - depth)
    return (of, jax.random.normal(split, (rows, 3 * heads * dim)).astype(kind),
            jax.random.normal(slope, (rows, heads * dim)).astype(kind))  # fmt: skip


def value_and_slopes(function, split, slope):
    value, back = jax.vjp(function, split)
    return value, back(slope)[0]


SIZES = [
    (9, 0, 2, 12),
    (33, 0, 4, 180),
    (33, 3, 4, 180),
    (17, 2, 1, 64),
    (16, 2, 1, 16),
    (20, 4, 2, 24),
    (1, 0, 3, 5),
    (4, 3, 2, 8),
]


@pytest.mark.parametrize(("length", "depth", "heads", "dim"), SIZES)
def test_equals_plain_attention(length, depth, heads, dim):
    of, split, slope = drawn(5, length, depth, heads, dim)
    on_chip = value_and_slopes(lambda split: attended_on_chip(split, of, heads, True), split, slope)
    plain = value_and_slopes(lambda split: attended(split, of, heads), split, slope)
    for ours, theirs in zip(on_chip, plain, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=5e-6)


@pytest.mark.parametrize("depth", [0, 3])
def test_rounds_as_bfloat16_does(depth):
    of, split, slope = drawn(4, 21, depth, 2, 24, jnp.bfloat16)
    exact = value_and_slopes(lambda split: attended(split, of, 2), *(x.astype(jnp.float32) for x in (split, slope)))
    found = value_and_slopes(lambda split: attended_on_chip(split, of, 2, True), split, slope)
    for ours, theirs in zip(found, exact, strict=True):
        error = np.linalg.norm(np.asarray(ours, np.float32) - theirs) / np.linalg.norm(theirs)
        assert error < 1e-2


@pytest.mark.parametrize("depth", [0, 3])
def test_members_share_it(depth):
    many = [drawn(3, 7, depth, 2, 8, seed=seed) for seed in range(3)]
    which = jnp.stack([of.which for of, _, _ in many])
    splits, slopes = (jnp.stack([each[place] for each in many]) for place in (1, 2))

    def on_chip(which, split, slope):
        of = Beginnings(depth, 7, which)
        return value_and_slopes(lambda split: attended_on_chip(split, of, 2, True), split, slope)

    packed = jax.vmap(on_chip)(which, splits, slopes)
    for member, (of, split, slope) in enumerate(many):
        alone = value_and_slopes(lambda split, of=of: attended(split, of, 2), split, slope)
        for ours, theirs in zip(packed, alone, strict=True):
            np.testing.assert_allclose(ours[member], theirs, atol=5e-6)


@pytest.mark.parametrize("depth", [0, 8])
def test_a_gpu_can_compile_it(depth):
    of, split, slope = drawn(2, 33, depth, 4, 180, jnp.bfloat16)
    traced = jax.jit(lambda *given: value_and_slopes(lambda split: attended_on_chip(split, of, 4), *given)[1])
    assert "_push" in traced.trace(split, slope).lower(lowering_platforms=("cuda",)).as_text()
    assert fits(33, 180)
    assert not fits(65, 16)
    assert not fits(16, 257)


class OnChip:
    """A machine that says it has a GPU, where kernels are interpreted; it notes what was called."""

    def __init__(self, monkeypatch):
        self.called = []
        monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
        monkeypatch.setattr("sorites.models.attention_kernel.attended_on_chip", self.attended)
        monkeypatch.setattr("sorites.models.query_kernel.pulled_on_chip", self.pulled)
        monkeypatch.setattr(network_reduced, "lean", self.lean)

    def attended(self, split, of, heads):
        self.called.append(of.depth)
        return attended_on_chip(split, of, heads, True)

    def pulled(self, asked, rows, of):
        self.called.append("few queries")
        return pulled_on_chip(asked, rows, of, True)

    def lean(self, model):
        self.called.append("lean")
        return lean(model)


CALLS = {  # batch (too few to share a beginning, and enough), layers, products in: what is called
    (3, 3, "float32"): ["lean", 0],
    (32, 3, "float32"): ["lean", 3],
    (32, 1, "float32"): [],
    (3, 3, "bfloat16"): ["lean", 0],
    (32, 3, "bfloat16"): ["lean", 3, "few queries"],
}


@pytest.mark.parametrize(("batch", "layers", "compute"), CALLS)
def test_the_network_uses_them_on_a_gpu(monkeypatch, batch, layers, compute):
    """Where nobody looks a middle layer comes without its map; logits and gradients are the same."""
    model = moved(Architecture(layers, 2, 16, 16, compute=compute, spread=0.3), 9)
    tokens = jax.random.bernoulli(jax.random.key(1), 0.5, (batch, 9)).astype(jnp.int32)

    def loss(model):
        logits, maps = network_reduced.reduced(model, jnp.zeros(16), tokens, None, 7, look=False)
        return jnp.sum(jnp.sin(logits.astype(jnp.float32))), (logits, maps)

    def found(model):
        (_, (logits, maps)), slopes = jax.value_and_grad(loss, has_aux=True)(model)
        return [logits, *jax.tree.leaves(slopes)], maps

    plain, _ = found(model)
    here = OnChip(monkeypatch)
    ours, maps = found(model)
    assert here.called == CALLS[batch, layers, compute]
    assert layers == 1 or maps[1] is None
    close = 1e-5 if compute == "float32" else 0.1
    for mine, other in zip(ours, plain, strict=True):
        assert np.linalg.norm(mine - other) <= close * np.linalg.norm(other)


@in_float64
def test_no_kernel_in_float64(monkeypatch):
    model = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), moved(Architecture(3, 2, 16, 16, spread=0.3), 9))
    tokens = jax.random.bernoulli(jax.random.key(1), 0.5, (16, 9)).astype(jnp.int32)
    plain, _ = network_reduced.reduced(model, jnp.zeros(16), tokens, None, 7, look=False)
    here = OnChip(monkeypatch)
    ours, _ = network_reduced.reduced(model, jnp.zeros(16), tokens, None, 7, look=False)
    assert here.called == ["lean"]
    np.testing.assert_allclose(ours, plain, atol=1e-12)


@in_float64
def test_few_queries_and_every_position_are_one_layer():
    model = network(Architecture(2, 2, 8, 8, spread=0.5), 9, jax.random.key(0))
    model = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), model)
    x, block = jax.random.normal(jax.random.key(1), (3, 9, 8), jnp.float64), model.blocks[1]
    few = few_queries(model, block, block.first(x), x[:, 7:], None)
    every = network_reduced._every_position(model, block, x, 7, None)
    for ours, theirs in zip(few, every, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-13)


def test_few_queries_see_no_place_that_a_gpu_adds(monkeypatch):
    """Nine positions are twelve to it in float32: the same layer, maps and slopes."""
    model = moved(Architecture(2, 2, 8, 8, spread=0.5), 9)
    block, (x, slope) = model.blocks[1], jax.random.normal(jax.random.key(1), (2, 3, 9, 8))

    def found():
        both = jax.jit(lambda x: few_queries(model, block, block.first(x), x[:, 7:], None))
        out, attention = both(x)
        return out, attention, jax.grad(lambda x: jnp.sum(both(x)[0] * slope[:, 7:]))(x)

    plain = found()
    assert unseen(9, jnp.float32) == 0
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert [unseen(9, jnp.float32), unseen(8, jnp.float32), unseen(9, jnp.bfloat16)] == [3, 0, 0]
    for ours, theirs in zip(found(), plain, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-6)


def test_a_norm_in_parts_is_the_norm() -> None:
    """Alone, and of members side by side, with its slopes."""

    @in_float64
    def compare():
        rows, slope = jax.random.normal(jax.random.key(3), (2, 3, 4, 5), jnp.float64) + 2
        ways = [functools.partial(standard, keep=parted), standard]
        return [
            jax.tree.leaves(spread(functools.partial(value_and_slopes, way))(rows, slope))
            for way in ways
            for spread in (lambda alone: alone, jax.vmap)
        ]

    *ours, exact, _ = compare()
    for found in ours:
        for mine, theirs in zip(found, exact, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-13)


def test_a_gpu_has_the_norms_of_several_members_in_parts(monkeypatch):
    norm, x = network(Architecture(1, 1, 4, 4), 2, jax.random.key(0)).final, jnp.ones((3, 4))

    def barriers(function):
        return str(jax.make_jaxpr(function)(x)).count("optimization_barrier")

    def slopes(x):
        return jax.grad(lambda x: norm(x).sum())(x)

    assert [barriers(way) for way in (norm, jax.vmap(norm), jax.vmap(slopes))] == [0, 0, 0]
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert [barriers(way) for way in (norm, slopes, jax.vmap(norm))] == [0, 0, 2]
    assert barriers(jax.vmap(slopes)) == 4


def test_a_softmax_in_parts_is_the_softmax() -> None:
    """With its slopes, in float64, one query seeing a single position and one seeing all."""

    @in_float64
    def compare():
        scores, slope = jax.random.normal(jax.random.key(3), (2, 3, 2, 4, 5), jnp.float64) * 9
        seen = np.tril(np.ones((5, 5), bool))[[0, 1, 2, 4]][None, None]
        ways = [functools.partial(way, axis=-1, where=seen) for way in (parted_softmax, jax.nn.softmax)]
        return [each for way in ways for each in value_and_slopes(way, scores, slope)]

    value, slopes, plain, plain_slopes = compare()
    np.testing.assert_allclose(value, plain, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(slopes, plain_slopes, rtol=1e-12, atol=1e-13)
