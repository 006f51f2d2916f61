"""Tasks of classes, and what every task of the registry promises."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.tasks import Alphabet, Boolean, Composition, Lego, Parity, Sequences

TASKS = {
    "tree": Parity(8, 4), "serial": Parity(8, 5, "serial"), "flat": Parity(8, 3, "flat"), "and": Boolean(8, 4, "and"),
    "flat or": Boolean(8, 3, "or", "flat"), "sequences": Sequences(8, 4, 3, validation=8), "lego": Lego("S3", 3, 6),
    "composition": Composition("C7", 5), "sparse composition": Composition("S3", 6, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", TASKS)
def test_every_task_keeps_its_promises(name):
    task = TASKS[name]
    layout, alphabet = task.layout, task.alphabet
    secret = task.draw(jax.random.key(0))
    chains, again, other = (task.sample(secret, jax.random.key(seed), 64) for seed in (1, 1, 2))
    np.testing.assert_array_equal(chains.tokens, again.tokens)
    assert (np.asarray(chains.tokens) != np.asarray(other.tokens)).any()
    assert chains.layout == layout
    assert chains.tokens.shape == (layout.positions, layout.slots, 64)
    np.testing.assert_array_equal(task.relabel(secret, chains.tokens), chains.tokens[layout.inputs :])
    children = np.asarray(task.children(secret))
    assert (children < layout.inputs + np.arange(layout.thoughts)[:, None]).all()
    numbers = alphabet.numbers(chains.tokens)
    assert numbers.min() >= 0
    assert numbers.max() < alphabet.vocab
    np.testing.assert_array_equal(alphabet.tokens(numbers), chains.tokens)
    assert int(task.counted(secret).sum()) == int(task.answer(secret)) + 1
    never, always = (
        alphabet.corrupt(chains.tokens[layout.inputs :], jax.random.key(3), chance) for chance in (0.0, 1.0)
    )
    np.testing.assert_array_equal(never, chains.tokens[layout.inputs :])
    assert (np.asarray(always) != np.asarray(never)).any(axis=1).all()


def test_composition_by_hand():
    task = Composition("C7", 3)
    chains = task.sample(task.draw(jax.random.key(0)), jax.random.key(1), 50)
    tokens = np.asarray(chains.tokens[:, 0])
    np.testing.assert_array_equal(tokens[3], (tokens[0] + tokens[1]) % 7)
    np.testing.assert_array_equal(tokens[4], tokens[:3].sum(axis=0) % 7)
    mine = Composition([[0, 0], [0, 1]], 4, 2)  # AND of two bits
    secret = mine.draw(jax.random.key(2))
    tokens = np.asarray(mine.sample(secret, jax.random.key(3), 50).tokens[:, 0])
    np.testing.assert_array_equal(tokens[4], tokens[secret].min(axis=0))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Composition("C7", 3, 4), "sparsity=4, length=3"),
        (lambda: Composition([[0, 2], [0, 1]], 3), "square table"),
        (lambda: Composition("X7", 3), "group='X7'"),
        (lambda: Alphabet(1), "vocab=1"),
        (lambda: Alphabet(3), "two signs"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(SpecError, match=words):
        make()


def test_soft_signs_are_soft_bits():
    np.testing.assert_allclose(Alphabet().numbers(jnp.array([1.0, 0.0, -1.0])), [0, 0.5, 1])
