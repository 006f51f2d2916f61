"""L9 trains on sums of tables; written out, every sentence is a row of one-hot slots."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np

from sorites.models.srelu import SReLU
from sorites.papers.lego.variable_claims import Retrieval, _descend
from sorites.tasks.actions import action_named
from sorites.tasks.lego import SLOTS


def literal(size, weights, numbers, steps):
    """Gradient descent on the mean over all sentences, one row each."""
    action, words = action_named(size.action), size.words
    every = itertools.product(*map(range, (size.variables, size.variables, action.actions, action.values)))
    tokens = np.array(
        [(x1, words.first_action + g, x0, x0, words.first_value + y) for x1, x0, g, y in every if x1 != x0]
    )
    inputs = jax.nn.one_hot(tokens, words.size).reshape(len(tokens), -1) / 2  # attention one half on each clause
    bias, ceiling, rate = numbers

    def loss(weights):
        flat = weights.reshape(*weights.shape[:2], -1)
        before = jnp.tensordot(inputs, flat, [[1], [2]]) + bias
        logits = jnp.minimum(SReLU()(before).sum(axis=-1), ceiling)
        return -jax.nn.log_softmax(logits)[jnp.arange(len(tokens)), tokens[:, 0]].mean()

    for _ in range(steps):
        weights = weights - rate * jax.grad(loss)(weights)
    return weights, loss(weights)


def test_tables_are_the_sentences():
    size = Retrieval("C3", variables=4, neurons=2)
    with jax.enable_x64(True):
        shape = (size.words.size, size.neurons, SLOTS, size.words.size)
        start = 0.3 * jax.random.normal(jax.random.key(0), shape, jnp.float64)
        numbers = jnp.asarray([0.05, 2.0, 5.0])
        path, losses = _descend(start, size.words, numbers, 4, 1)
        weights, _ = literal(size, start, numbers, 4)
        before = literal(size, start, numbers, 3)[1]
        np.testing.assert_allclose(path[-1], weights, atol=1e-12)
        np.testing.assert_allclose(losses[-1], before, atol=1e-12)
