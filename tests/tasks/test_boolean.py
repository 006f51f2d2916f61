"""Sparse Boolean tasks: right against brute force, deterministic, balanced, and strict about their input."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sorites.errors import SpecError
from sorites.tasks import GATES, Boolean, Layout, Parity

SYMMETRIC_FOLDS = {  # the whole function, whatever the order of the gates
    "parity": lambda leaves: np.prod(leaves, axis=0),
    "and": lambda leaves: np.min(leaves, axis=0),
    "or": lambda leaves: np.max(leaves, axis=0),
}


@eqx.filter_jit
def every_chain(task, key):
    """Secret, all chains, and their labels, as one program."""
    secret = task.draw(key)
    chain = task.enumerate(secret)
    return secret, chain, task.relabel(secret, chain.tokens)


@eqx.filter_jit
def some_chains(task, key, count):
    secret = task.draw(key)
    chain = task.sample(secret, key, count)
    return chain, task.relabel(secret, chain.tokens)


def brute_force(task: Boolean, secret, inputs):
    """Thoughts in plain Python, position by position."""

    def gate(a, b):
        return int(GATES[task.gate.name].rule(jnp.int8(a), jnp.int8(b)))

    table = {pair: gate(*pair) for pair in itertools.product([-1, 1], repeat=2)}
    order = sorted(int(s) for s in secret)
    if task.pairing is not None:
        order = [order[p] for p in task.pairing]
    columns = []
    for x in np.asarray(inputs).T.tolist():
        leaves, thoughts = [x[s] for s in order], []
        if task.decomposition == "serial":
            state = leaves[0]
            for leaf in leaves[1:]:
                state = table[state, leaf]
                thoughts.append(state)
        else:
            while len(leaves) > 1:
                leaves = [table[leaves[i], leaves[i + 1]] for i in range(0, len(leaves), 2)]
                thoughts += leaves
        columns.append(x + thoughts)
    return np.array(columns).T


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize(
    ("bits", "sparsity", "decomposition"),
    [(5, 2, "tree"), (6, 4, "tree"), (8, 8, "tree"), (4, 2, "serial"), (6, 3, "serial"), (6, 6, "serial")],
)
def test_chains_are_right_over_all_inputs(gate, bits, sparsity, decomposition):
    task = Boolean(bits, sparsity, gate, decomposition)
    secret, chain, labels = every_chain(task, jax.random.key(3))
    tokens = np.asarray(chain.tokens[:, 0])
    assert len(np.unique(tokens[:bits], axis=1).T) == 2**bits
    np.testing.assert_array_equal(tokens, brute_force(task, secret, tokens[:bits]))
    np.testing.assert_array_equal(labels, tokens[bits:, None])
    assert chain.shown is None


@given(
    bits=st.sampled_from([2, 5, 33]),
    data=st.data(),
    decomposition=st.sampled_from(["tree", "serial"]),
    gate=st.sampled_from(list(GATES)),
)
@settings(deadline=None, max_examples=6)
def test_relabel_is_the_identity_on_the_truth(bits, data, decomposition, gate):
    sizes = [k for k in range(2, min(bits, 8) + 1) if decomposition == "serial" or k in (2, 4, 8)]
    task = Boolean(bits, data.draw(st.sampled_from(sizes)), gate, decomposition)
    chain, labels = some_chains(task, jax.random.key(bits), 16)
    np.testing.assert_array_equal(labels, np.asarray(chain.tokens)[bits:])


def test_relabel_reads_the_prefix_as_it_stands():
    task = Parity(8, 4, secret=(0, 2, 5, 7))
    secret, chain, _ = every_chain(task, jax.random.key(0))
    flipped = chain.tokens.at[8].multiply(-1)  # a wrong first thought
    labels = task.relabel(secret, flipped)
    np.testing.assert_array_equal(labels[:2], chain.tokens[8:10])  # its own label is still the truth
    np.testing.assert_array_equal(labels[2], -chain.tokens[10])  # its parent's label follows it


@pytest.mark.parametrize("gate", SYMMETRIC_FOLDS)
@pytest.mark.parametrize("decomposition", ["tree", "serial"])
def test_the_answer_does_not_depend_on_the_pairing(gate, decomposition):
    answers, secret = [], (0, 2, 3, 5)
    for pairing in (None, (3, 1, 0, 2)):
        task = Boolean(6, 4, gate, decomposition, secret, pairing)
        tokens = np.asarray(every_chain(task, jax.random.key(0))[1].tokens[:, 0])
        np.testing.assert_array_equal(tokens, brute_force(task, secret, tokens[:6]))
        answers.append(tokens[-1])
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], SYMMETRIC_FOLDS[gate](tokens[list(secret)]))


class TestWorkedExamples:
    def test_tree(self):
        task = Parity(bits=8, sparsity=4, secret=(0, 2, 5, 7))
        secret = task.draw(jax.random.key(0))
        assert task.children(secret).tolist() == [[0, 2], [5, 7], [8, 9]]
        assert task.layout == Layout(8, (1, 1, 2))
        assert task.layout.ends == (8, 10, 11)

    def test_serial(self):
        task = Parity(bits=8, sparsity=3, decomposition="serial", secret=(0, 2, 5))
        assert task.children(task.draw(jax.random.key(0))).tolist() == [[0, 2], [8, 5]]
        assert task.layout.ends == (8, 9, 10)

    def test_kim_suzuki(self):
        # d=16, k=8: nodes 17-20 | 21-22 | 23 (1-based); the parent of 17 is 21
        task = Parity(16, 8, secret=(0, 3, 5, 6, 8, 10, 12, 15))
        children = task.children(task.draw(jax.random.key(0)))
        assert children[0].tolist() == [0, 3]
        assert children[4].tolist() == [16, 17]
        assert task.layout.ends == (16, 20, 22, 23)

    def test_a_secret_is_a_set(self):
        # its bits are paired in increasing order however they are written down
        one, other = Parity(8, 4, secret=(7, 0, 5, 2)), Parity(8, 4, secret=[0, 2, 5, 7])
        assert one.draw(jax.random.key(0)).tolist() == other.draw(jax.random.key(0)).tolist() == [0, 2, 5, 7]
        assert hash(other) is not None


@given(inputs=st.integers(1, 60), depth=st.integers(1, 5))
@settings(deadline=None, max_examples=20)
def test_ends_follow_the_papers_formula(inputs, depth):
    k = 2**depth
    layout = Parity(inputs + k, k).layout
    d = inputs + k
    assert layout.ends == tuple(d + k - k // 2**level for level in range(depth + 1))  # d_l = d + k(1-2^-l)
    assert layout.positions == d + k - 1
    assert layout.position_levels == (0,) * d + layout.levels
    assert layout.depth == depth


def test_serial_layout_has_one_thought_per_level():
    layout = Parity(9, 5, "serial").layout
    assert layout.levels == (1, 2, 3, 4)
    assert layout.ends == (9, 10, 11, 12, 13)


class TestDraws:
    def test_sorted_subsets_of_uniform_inclusion(self):
        task, count = Parity(8, 4), 2000
        secrets = np.asarray(jax.vmap(task.draw)(jax.random.split(jax.random.key(0), count)))
        assert (np.diff(secrets, axis=1) > 0).all()
        assert secrets.min() == 0
        assert secrets.max() == 7
        share = np.bincount(secrets.ravel(), minlength=8) / count
        assert np.abs(share - 1 / 2).max() < 4.5 * np.sqrt(1 / 4 / count)  # 4.5 standard errors, 8 shares

    def test_the_same_key_gives_the_same_data(self):
        task = Parity(40, 4)
        draws = [np.asarray(some_chains(task, jax.random.key(seed), 32)[0].tokens) for seed in (5, 5, 6)]
        np.testing.assert_array_equal(draws[0], draws[1])
        assert (draws[0] != draws[2]).any()

    def test_words_are_balanced_and_independent_across_their_boundary(self):
        task, count = Parity(70, 2), 4000  # bits 31|32 and 63|64 lie in different words
        signs = np.asarray(jax.jit(task.inputs, static_argnums=1)(jax.random.key(0), count)).astype(float)
        assert set(np.unique(signs)) == {-1, 1}
        assert np.abs(signs.mean(axis=1)).max() < 4.5 / np.sqrt(count)
        correlation = signs @ signs.T / count - np.eye(70)
        assert np.abs(correlation).max() < 5.5 / np.sqrt(count)  # 2415 pairs
        across = signs[[31, 63]] * signs[[32, 64]]
        assert np.abs(across.mean(axis=1)).max() < 4.5 / np.sqrt(count)
        assert np.abs((signs[:-1] * signs[1:]).mean(axis=0)).max() < 6 / np.sqrt(69)

    def test_words_do_not_depend_on_the_number_of_bits(self):
        few, many = (np.asarray(some_chains(Parity(n, 2), jax.random.key(0), 8)[0].tokens) for n in (20, 32))
        np.testing.assert_array_equal(few[:20], many[:20])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"bits": 16, "sparsity": 12}, r"a tree needs a power of two: sparsity=12; use 8 or 16, or decomp"),
        ({"bits": 8, "sparsity": 1}, r"at least two secret bits: sparsity=1; use 2 or more"),
        ({"bits": 8, "sparsity": 0}, r"at least two secret bits: sparsity=0; use 2 or more"),
        ({"bits": 4, "sparsity": 8}, r"a subset of the bits: sparsity=8 > bits=4; use a sparsity of at most"),
        ({"bits": 8, "sparsity": 2, "secret": (3, 3)}, r"2 distinct positions from 0 to 7: secret=\(3, 3\)"),
        ({"bits": 8, "sparsity": 2, "secret": (3, 8)}, r"2 distinct positions from 0 to 7.*out of range"),
        ({"bits": 8, "sparsity": 2, "secret": (-1, 3)}, r"2 distinct positions from 0 to 7.*out of range"),
        ({"bits": 8, "sparsity": 2, "secret": (1, 2, 3)}, r"2 distinct positions"),
        ({"bits": 8, "sparsity": 2, "gate": "nor-so"}, r"a gate is one of .*gate='nor-so'"),
        ({"bits": 8, "sparsity": 4, "pairing": (0, 1, 2)}, r"a pairing permutes the 4 leaves.*0 to 3 once"),
        ({"bits": 8, "sparsity": 2, "pairing": (1, 1)}, r"a pairing permutes the 2 leaves: pairing=\(1, 1\)"),
        ({"bits": 8, "sparsity": 2, "decomposition": "star"}, r"one of tree, serial, flat: decomposition='star'; use"),
    ],
)
def test_refusals_name_the_rule_the_value_and_the_remedy(arguments, sentence):
    with pytest.raises(SpecError, match=sentence):
        Boolean(**arguments)


def test_edges_that_are_fine():
    assert Parity(5, 2).layout.levels == (1,)
    assert Parity(4, 4).layout.ends == (4, 6, 7)
    assert Parity(2, 2).layout.positions == 3
    assert [Parity(7, k, "serial").layout.thoughts for k in range(2, 8)] == [1, 2, 3, 4, 5, 6]
    with pytest.raises(TypeError):
        Parity(bits=8, sparcity=4)  # pyright: ignore


def test_enumeration_is_for_small_inputs():
    with pytest.raises(SpecError, match=r"at most 24 bits: bits=25; sample instead"):
        Parity(25, 2).enumerate(jnp.arange(2))


def test_with_shown_pads_whole_batches():
    task = Parity(4, 2)
    chain = task.enumerate(task.draw(jax.random.key(0)))
    padded = chain.with_shown(jnp.arange(5) < 4)
    assert padded.shown.shape == (5, chain.tokens.shape[-1])
    assert padded.with_shown(None).shown is None
    assert not padded.shown[4].any()
    assert padded.shown[:4].all()
    np.testing.assert_array_equal(padded.tokens, chain.tokens)
