"""The kernel for few queries, interpreted on a CPU, equals two products and a softmax, slopes included."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.models.beginnings import Beginnings
from sorites.models.query_kernel import STRIP, fits, pulled_on_chip


def plain(asked, rows, of):
    whole, queries = of.whole(rows), asked.shape[1]
    scores = jnp.einsum("bqhw,bjw->bqhj", asked, whole)
    seen = np.tril(np.ones((of.length, of.length), bool))[of.length - queries :][None, :, None]
    return jnp.einsum("bqhj,bjw->bqhw", jax.nn.softmax(scores, axis=-1, where=seen), whole)


def drawn(batch, length, depth, queries, heads, width, kind=jnp.float32, seed=0):
    which, ask, row, slope = jax.random.split(jax.random.key(seed), 4)
    of = Beginnings(depth, length, jax.random.randint(which, (batch,), 0, 2**depth))
    count = of.tree + batch * (length - depth)
    asked = width**-0.5 * jax.random.normal(ask, (batch, queries, heads, width))
    rows, slope = jax.random.normal(row, (count, width)), jax.random.normal(slope, asked.shape)
    return of, *(each.astype(kind) for each in (asked, rows, slope))


def both(function, of, asked, rows, slope):
    value, back = jax.vjp(lambda asked, rows: function(asked, rows, of), asked, rows)
    return value, *back(slope)


SIZES = [(9, 0, 2, 2, 12), (33, 3, 3, 4, 144), (33, 0, 3, 4, 144), (16, 2, 4, 1, 16), (5, 4, 1, 3, STRIP + 44)]


@pytest.mark.parametrize(("length", "depth", "queries", "heads", "width"), SIZES)
def test_equals_two_products_and_a_softmax(length, depth, queries, heads, width):
    of, *given = drawn(5, length, depth, queries, heads, width)
    ours = both(lambda *each: pulled_on_chip(*each, interpret=True), of, *given)
    for found, wanted in zip(ours, both(plain, of, *given), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-5, rtol=1e-5)


def test_rounds_as_bfloat16_does():
    of, *given = drawn(4, 21, 3, 3, 2, 48, jnp.bfloat16)
    ours = both(lambda *each: pulled_on_chip(*each, interpret=True), of, *given)
    exact = both(plain, of, *(each.astype(jnp.float32) for each in given))
    for found, wanted in zip(ours, exact, strict=True):
        assert np.linalg.norm(np.asarray(found, np.float32) - wanted) < 1e-2 * np.linalg.norm(wanted)


def test_members_share_it():
    many = [drawn(3, 7, 2, 2, 2, 24, seed=seed) for seed in range(3)]
    which = jnp.stack([of.which for of, *_ in many])
    given = [jnp.stack([each[place] for each in many]) for place in (1, 2, 3)]

    def ours(which, *given):
        return both(lambda *each: pulled_on_chip(*each, interpret=True), Beginnings(2, 7, which), *given)

    packed = jax.vmap(ours)(which, *given)
    for member, (of, *alone) in enumerate(many):
        for found, wanted in zip(packed, both(plain, of, *alone), strict=True):
            np.testing.assert_allclose(found[member], wanted, atol=1e-5, rtol=1e-5)


def test_a_gpu_can_compile_it():
    of, *given = drawn(2, 33, 8, 3, 4, 720, jnp.bfloat16)
    traced = jax.jit(lambda *given: both(pulled_on_chip, of, *given))
    assert "_push" in traced.trace(*given).lower(lowering_platforms=("cuda",)).as_text()
    assert fits(of, 12, 720)
    assert not fits(of, 65, 720)
    assert not fits(of, 12, 1025)
