"""LEGO sentences: lawful, without repeated variables, uniform, and refused where they cannot be."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.tasks.lego import Lego, encode

TASK = Lego("S3", 4, 6)


def test_a_sentence_is_a_chain():
    drawn = TASK.sentences(jax.random.split(jax.random.key(0), 300))
    x, g, y = (np.asarray(each) for each in (drawn.variables, drawn.actions, drawn.values))
    assert all(len(set(row)) == 5 for row in x.tolist())
    assert (np.asarray(TASK.table)[g, y[:, :-1]] == y[:, 1:]).all()
    assert np.bincount(x.ravel(), minlength=6).min() > 150
    assert np.bincount(g.ravel(), minlength=6).min() > 120
    words = TASK.vocabulary
    assert (words.size, words.first_action, words.first_value, words.blank) == (16, 6, 12, 15)
    clauses = np.asarray(encode(drawn, words, 2))
    assert clauses.shape == (300, 6, 5)
    assert (clauses[:, 4, 3] == x[:, 0]).all()
    assert (clauses[:, :4, 3:] == words.blank).all()
    assert (clauses[:, 4:, :3] == words.blank).all()


def test_the_task_offers_what_tasks_offer():
    chain = TASK.sample((), jax.random.key(1), 7)
    layout = TASK.layout
    assert chain.tokens.shape == (layout.positions, 5, 7)
    assert layout.inputs == 5
    np.testing.assert_array_equal(TASK.relabel((), chain.tokens), chain.tokens[layout.inputs :])
    children = np.asarray(TASK.children(()))
    assert children.tolist() == [[0, 4], [1, 5], [2, 6], [3, 7]]
    wrong = chain.tokens.at[5, 4].set((chain.tokens[5, 4] - 12 + 1) % 3 + 12)  # another y_1
    labels = TASK.relabel((), wrong)
    np.testing.assert_array_equal(labels[0], chain.tokens[5])  # its own label stands
    moves = np.asarray(wrong[1, 1]) - 6
    np.testing.assert_array_equal(labels[1, 4] - 12, np.asarray(TASK.table)[moves, np.asarray(wrong[5, 4]) - 12])


def test_the_same_key_gives_the_same_sentences():
    first, second = (TASK.sentences(jax.random.split(jax.random.key(3), 4)) for _ in range(2))
    assert jax.tree.all(jax.tree.map(jnp.array_equal, first, second))


def test_long_sentences_on_the_device():
    drawn = Lego("S5", 160, 161).sentences(jax.random.split(jax.random.key(2), 3))
    assert all(sorted(row) == list(range(161)) for row in np.asarray(drawn.variables).tolist())


@pytest.mark.parametrize(("length", "variables", "words"), [(5, 5, "variables=5, length=5"), (0, 5, "length=0")])
def test_impossible_sentences_are_refused(length, variables, words):
    with pytest.raises(SpecError, match=words):
        Lego("C6", length, variables)
