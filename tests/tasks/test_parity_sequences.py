"""Numbered inputs and the sequences made of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.supervision import Draw, OnePass, Passes
from sorites.tasks import Parity, Sequences
from sorites.tasks.formats import bits_of_signs
from sorites.tasks.numbering import inputs_of, round_keys, shuffled

KEYS = round_keys(jax.random.key(0))


def numbered(count):
    return jnp.arange(count, dtype=jnp.uint32)


@pytest.mark.parametrize("bits", [1, 2, 5, 9])
def test_every_input_has_one_number(bits):
    inputs = np.asarray(inputs_of(numbered(2**bits), KEYS, bits))
    assert sorted(inputs @ (1 << np.arange(bits))) == list(range(2**bits))
    mirrored = np.asarray(inputs_of(numbered(2**bits), KEYS, bits, held_out=True))
    np.testing.assert_array_equal(mirrored[::-1], inputs)  # held out from the end


@pytest.mark.parametrize("bits", [30, 50, 100])
def test_inputs_look_uniform(bits):
    """Means and pairwise products of 20,000 inputs, in standard errors."""
    signs = 1 - 2 * np.asarray(inputs_of(numbered(20_000), KEYS, bits))
    assert np.abs(signs.mean(axis=0)).max() * np.sqrt(20_000) < 4.5
    assert np.abs(signs.T @ signs / 20_000 - np.eye(bits)).max() * np.sqrt(20_000) < 5.5
    held = np.asarray(inputs_of(numbered(500), KEYS, bits, held_out=True))
    rows = {tuple(row) for row in (1 - signs) // 2}
    assert len(rows) == 20_000
    assert not rows & {tuple(row) for row in held}


@pytest.mark.parametrize("size", [1, 2, 3, 100, 777])
def test_passes_are_permutations(size):
    orders = [
        np.asarray(shuffled(numbered(size), jnp.full(size, turn, jnp.uint32), jnp.asarray(size), KEYS))
        for turn in (0, 1)
    ]
    for order in orders:
        assert sorted(order) == list(range(size))
    assert size < 4 or (orders[0] != orders[1]).any()


def bits_of(task, secret, inputs):
    return bits_of_signs(task.think(secret, inputs).tokens[:, 0]).T.tolist()


@pytest.mark.parametrize("form", ["paper", "released"])
def test_formats(form):
    """The worked example of the paper, and what the released code does differently."""
    inputs = jnp.array([[0, 1, 0, 1, 0]])
    chain, bare = (Sequences(5, room, 3, form, 1, secret=(0, 1, 3)) for room in (3, 0))
    secret = chain.draw(jax.random.key(0))
    assert bits_of(chain, secret, inputs) == [[0, 1, 0, 1, 0, *([0] if form == "released" else []), 0, 1, 0]]
    assert chain.counted(secret).all()
    assert bits_of(bare, bare.draw(jax.random.key(0)), inputs) == [[0, 1, 0, 1, 0, 0]]
    drawn = Sequences(5, 3, 3, form, 1)
    largest = [int(jnp.max(drawn.draw(jax.random.key(seed)).order)) for seed in range(20)]
    assert max(largest) == (4 if form == "paper" else 3)  # the last bit is never secret in the released code


@pytest.mark.parametrize("form", ["paper", "released"])
@pytest.mark.parametrize("room", [0, 5])
def test_a_shorter_chain_in_a_longer_layout(form, room):
    task = Sequences(8, room, 3, form, 8)
    secret = task.draw(jax.random.key(1))
    chains = task.sample(secret, jax.random.key(2), 32)
    np.testing.assert_array_equal(task.relabel(secret, chains.tokens), chains.tokens[8:])
    answer, signs = int(task.answer(secret)), np.asarray(chains.tokens[:8, 0])
    assert int(task.counted(secret).sum()) == answer + 1
    parity = signs[np.flatnonzero(secret.mask)].prod(axis=0)
    np.testing.assert_array_equal(chains.tokens[8 + answer, 0], parity)


def test_every_bit_may_be_secret():
    task = Sequences(6, 6, 6, validation=4)
    assert np.asarray(task.draw(jax.random.key(0)).mask).tolist() == [1] * 6
    assert task.layout.thoughts == 6


def test_orders_and_refusals():
    orders = ("ascending", "drawn")
    ascending, drawn = (Sequences(8, 3, 3, validation=4, order=order).draw(jax.random.key(3)) for order in orders)
    assert ascending.order.tolist() == sorted(drawn.order.tolist())
    for make, words in (
        (lambda: Sequences(8, 3, 0, validation=4), "sparsity=0"),
        (lambda: Sequences(8, 3, 4, validation=4), "room=3"),
        (lambda: Sequences(8, 3, 2, validation=4, order="random"), "order='random'"),
        (lambda: Sequences(6, 2, 2, validation=64), "validation"),
        (lambda: Sequences(12, 2, 2, "mine"), "mine"),
        (lambda: Sequences(8, 9, 2, validation=4), "9 of 8"),
        (lambda: Sequences(8, 2, 2, validation=4, secret=(3, 3)), "distinct"),
        (lambda: Sequences(8, 2, 2, validation=4, secret=(3, 8)), "distinct"),
    ):
        with pytest.raises(SpecError, match=words):
            make()


@pytest.mark.parametrize("task", [Sequences(8, 0, 2, validation=16), Parity(8, 4), Parity(8, 4, "flat")], ids=repr)
def test_passes_over_numbered_inputs(task):
    """One pass repeats nothing; many passes see each input once per pass, in another order; held-out inputs never."""
    secret = task.draw(jax.random.key(0))

    def rows(source, step, pool=None):
        draw = Draw(secret, pool, jnp.asarray(8 * step, jnp.uint32), jax.random.key(0), None)
        return [tuple(row) for row in np.asarray(source.chains(task, draw, jax.random.key(1)).tokens[:8, 0]).T.tolist()]

    held = task.numbered(secret, numbered(task.held_out), held_out=True).tokens[:8, 0]
    held = {tuple(row) for row in np.asarray(held).T.tolist()}
    fresh = [row for step in range(task.trainable // 8) for row in rows(OnePass(8), step)]
    assert len(set(fresh)) == len(fresh) == task.trainable
    assert not set(fresh) & held
    source = Passes(8, 40)
    pool = source.prepare(task, secret, jax.random.key(2), None)
    passes = [[row for step in range(5 * turn, 5 * turn + 5) for row in rows(source, step, pool)] for turn in (0, 1)]
    assert len(set(passes[0])) == 40
    assert set(passes[0]) == set(passes[1])
    assert passes[0] != passes[1]
    assert not set(passes[0]) & held
