"""Numbered inputs and the sequences made of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.tasks import Sequences
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


@pytest.mark.parametrize("form", ["paper", "released"])
def test_formats(form):
    """The worked example of the paper, and what the released code does differently."""
    chain, bare = Sequences(5, 3, form, held_out=1), Sequences(5, 0, form, held_out=1)
    inputs = jnp.array([[0, 1, 0, 1, 0]])
    tokens, targets = chain.complete(chain.draw(jax.random.key(0), 3, secret=(0, 1, 3)), inputs)
    assert tokens[0].tolist() == [0, 1, 0, 1, 0, 0, 0, 1]
    assert targets[0].tolist() == ([0, 1, 0] if form == "paper" else [0, 0, 1, 0])
    tokens, targets = bare.complete(bare.draw(jax.random.key(0), 3, secret=(0, 1, 3)), inputs)
    assert tokens[0].tolist() == [0, 1, 0, 1, 0, 0][: bare.length]
    assert targets[0].tolist() == [0]
    drawn = [int(jnp.max(chain.draw(jax.random.key(seed), 3).order)) for seed in range(20)]
    assert max(drawn) == (4 if form == "paper" else 3)  # the last bit is never secret in the released code


def test_orders_and_refusals():
    task = Sequences(8, 3, held_out=4)
    ascending, drawn = (task.draw(jax.random.key(3), 3, order).order.tolist() for order in ("ascending", "drawn"))
    assert ascending == sorted(drawn)
    for make, words in (
        (lambda: task.draw(jax.random.key(0), 0), "sparsity=0"),
        (lambda: task.draw(jax.random.key(0), 4), "thoughts=3"),
        (lambda: task.draw(jax.random.key(0), 2, "random"), "order='random'"),
        (lambda: Sequences(6, 2, held_out=64), "held_out"),
    ):
        with pytest.raises(SpecError, match=words):
            make()
