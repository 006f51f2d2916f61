"""wen's block as a model: the literal block of the theory, its reduced form, its gradients, and that it learns."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.models import AbstractModel
from sorites.models.sparse import sparse
from sorites.models.sparse_block import LiteralBlock, SparseBlock, gradient
from sorites.probes import Loss, Outcome
from sorites.supervision import Hinge, Sampled, teacher_forcing
from sorites.tasks import Lego, Sequences
from sorites.training import Adam, Evaluation, Run, Stage, Until, train
from sorites.training.check import check

TASK = Sequences(12, 4, 4, validation=512)
FIRST = TASK.layout.inputs


@pytest.fixture(scope="module")
def chains():
    return TASK.sample(TASK.draw(jax.random.key(1)), jax.random.key(2), 6)


def drawn(model):
    """Other weights of A and W than those it starts from."""
    key = jax.random.key(3)
    shapes = (model.attention.shape, model.weights.shape)
    made = [0.3 * jax.random.normal(jax.random.fold_in(key, n), shape) for n, shape in enumerate(shapes)]
    return eqx.tree_at(lambda m: (m.attention, m.weights), model, tuple(made))


def test_how_wide_it_is_where_nothing_is_said():
    """m = 64 gives 128 neurons, half of which lift the answer and half lower it."""
    model = sparse(TASK)
    assert model.table.shape == (2 * TASK.layout.positions, 256)
    np.testing.assert_array_equal(model.head, np.repeat([1 / 128, -1 / 128], 64))


def test_it_is_the_block_of_the_theory(chains):
    with jax.enable_x64(True):
        model = drawn(sparse(TASK, 24, 5).init(jax.random.key(0)))
        signs = np.asarray(chains.tokens[:-1, 0])
        bits = (1 - np.insert(signs, FIRST, 1, axis=0)) // 2  # the start token is 0, bit 0 is +1
        literal = LiteralBlock(model.table, model.attention, model.weights, model.head)
        for index in range(6):
            said, share = literal(jnp.asarray(bits[:, index]))
            here = model.predict(jax.tree.map(lambda leaf, index=index: leaf[..., index], chains))
            np.testing.assert_allclose(here.mean()[:, 0], said[FIRST:], atol=1e-12)
            rows = np.delete(np.asarray(share)[:, FIRST:].T, FIRST, axis=1)
            np.testing.assert_allclose(model.attend(chains)[0][0, :, :-1, index], rows, atol=1e-12)


@pytest.mark.parametrize("soft", [False, True])
def test_tables_over_tokens_say_the_same(chains, soft):
    with jax.enable_x64(True):
        model = drawn(sparse(TASK, 24, 5).init(jax.random.key(0)))
        tokens = chains.tokens * 0.4 if soft else chains.tokens
        some = chains.with_tokens(tokens).with_shown(jnp.arange(TASK.layout.positions) != FIRST + 1)
        mine, twin = model.predict_batch(some).mean(), AbstractModel.predict_batch(model, some).mean()
        np.testing.assert_allclose(mine, twin, atol=1e-12)


def test_the_gradient_is_that_of_token_coordinates(chains):
    """Of the sum of what it says over the queries, averaged over the chains."""
    with jax.enable_x64(True):
        table = sparse(TASK, 24, 5).init(jax.random.key(0)).table
        keys = jax.random.split(jax.random.key(4), 3)
        scores, own, seen = (0.3 * jax.random.normal(key, (n, 32)) for key, n in zip(keys, (32, 10, 10), strict=True))
        head = sparse(TASK, 24, 5).head
        block = SparseBlock(table @ table.T, scores, own, seen, head)
        literal = block.literal(table)
        model = eqx.tree_at(
            lambda m: (m.table, m.attention, m.weights),
            sparse(TASK, 24, 5), (table, literal.attention, literal.weights),
        )  # fmt: skip
        mine = eqx.filter_grad(lambda m: m.predict_batch(chains).mean().sum(axis=0).mean())(model)
        bits = (1 - jnp.insert(chains.tokens[:-1, 0], FIRST, 1, axis=0)).T // 2
        reading = block.read(bits, FIRST)
        other = gradient(block, reading, jnp.ones(reading.output.shape)).literal(table)
        np.testing.assert_allclose(mine.attention, other.attention, atol=1e-12)
        np.testing.assert_allclose(mine.weights, other.weights, atol=1e-12)


def test_it_learns_the_chain_it_was_made_for():
    stage = Stage(TASK, (teacher_forcing(TASK.layout, Hinge()),), Sampled(500), Adam(0.03), 150,
                  Evaluation(50, 256, (Loss(), Outcome("rolled"))))  # fmt: skip
    model = sparse(TASK)
    found = train(Run(model, [stage], Until("rolled.answer")), range(2))
    assert (found.history.solved_at > 0).all()
    start = model.init(jax.random.key(0))
    assert np.count_nonzero(start.attention) == 0  # Assumption 1
    np.testing.assert_array_equal(found.models.head, np.stack([model.head] * 2))  # frozen


def test_it_refuses_sentences():
    task = Lego("C3", 2, 6)
    stage = Stage(task, (teacher_forcing(task.layout, Hinge()),), Sampled(8), Adam(0.01), 1, Evaluation(1, 8))
    with pytest.raises(Exception, match="Sparse reads signs"):
        check(Run(sparse(TASK), [stage]))
