"""The model's own soft chain: in order, literally iterated, by the generic rollout; its filters; its gradient."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models import QuadraticLinear
from sorites.models.gated import gated
from sorites.models.positional import positional
from sorites.models.requ import requ
from sorites.supervision import (
    Draw,
    FilteredPrefix,
    OwnPrefix,
    Pooled,
    Scores,
    Squared,
    Strings,
    Supervision,
    TrueLabels,
)
from sorites.tasks import Parity
from sorites.theory.precision import in_float64

TASK = Parity(8, 8)
LAYOUT = TASK.layout


def scattered(mask, scale=2.0, link="cosine"):
    model = positional(TASK, link, mask)
    weights = scale * np.random.default_rng(0).normal(size=model.weights.shape)
    return eqx.tree_at(lambda m: m.weights, model, jnp.asarray(weights))


def chains(count=16):
    secret = TASK.draw(jax.random.key(0))
    return secret, TASK.sample(secret, jax.random.key(1), count)


def loss(prefix):
    return Supervision(prefix, TrueLabels(), np.ones((LAYOUT.thoughts, 1)), Squared())


@in_float64
def test_writing_is_the_rollout_and_so_is_its_gradient():
    """Own("soft") reads the whole model once per level and differentiates through it."""
    secret, batch = chains()
    model = scattered("lower-levels")

    @eqx.filter_jit
    def both(model):
        return [
            eqx.filter_value_and_grad(lambda m, p=prefix: loss(p)(m, TASK, secret, batch, jax.random.key(0)))(model)
            for prefix in (FilteredPrefix(), OwnPrefix("soft"))
        ]

    (value, gradient), (other, literal) = both(model)
    assert float(value) == pytest.approx(float(other), abs=1e-12)
    assert np.abs(gradient.weights).max() > 1e-3
    np.testing.assert_allclose(gradient.weights, literal.weights, atol=1e-12)


@in_float64
def test_single_thoughts_in_a_loop_have_the_gradient_of_finite_differences():
    secret, batch = chains(4)
    model = scattered("causal")
    loss_function = eqx.filter_jit(lambda m: loss(FilteredPrefix())(m, TASK, secret, batch, jax.random.key(0)))
    gradient = np.asarray(eqx.filter_grad(loss_function)(model).weights)
    for row, source in ((0, 1), (2, 9), (6, 0), (6, 13)):
        step = np.zeros(gradient.shape)
        step[row, source] = 1e-6
        up, down = (
            eqx.tree_at(lambda m: m.weights, model, model.weights + sign * jnp.asarray(step)) for sign in (1, -1)
        )
        slope = (float(loss_function(up)) - float(loss_function(down))) / 2e-6
        assert gradient[row, source] == pytest.approx(slope, abs=1e-8)


def test_rounds_follow_the_mask():
    assert positional(TASK, mask="lower-levels").rounds(LAYOUT) == ((0, 4), (4, 6), (6, 7))
    assert positional(TASK, mask="causal").rounds(LAYOUT) == tuple((n, n + 1) for n in range(7))
    assert positional(Parity(8, 2), mask="causal").rounds(Parity(8, 2).layout) == ((0, 1),)


def concentrated(levels):
    """Children at 12 up to a level, zero above."""
    secret, _ = chains()
    model, children = positional(TASK), np.asarray(TASK.children(secret))
    weights = np.zeros(model.weights.shape, np.float32)
    np.put_along_axis(
        weights, children, 12.0 * (np.asarray(LAYOUT.levels) <= levels)[:, None].astype(np.float32), axis=1
    )
    return eqx.tree_at(lambda m: m.weights, model, jnp.asarray(weights))


STRINGS = np.asarray(TASK.inputs(jax.random.key(5), 32))


@pytest.mark.parametrize(("levels", "expected"), [(0, [1, 0, 0]), (1, [1, 1, 0]), (2, [1, 1, 1])])
def test_scores_release_the_level_above_a_trained_one(levels, expected):
    assert Scores()(concentrated(levels)).tolist() == expected


def test_a_printed_threshold_lets_a_level_through_that_stands_on_a_zeroed_one():
    wide = Parity(128, 8)
    model = positional(wide)
    strings = np.asarray(wide.inputs(jax.random.key(5), 32))
    assert Strings(strings, 1.5)(model).tolist() == [1, 0, 0]
    assert Strings(strings, 0.9)(model).tolist() == [1, 0, 1]


def test_only_the_used_strings_count():
    few, padded = Strings(STRINGS[:, :3], 1.5), Strings(STRINGS, 1.5, used=3)
    for levels in range(3):
        np.testing.assert_array_equal(few(concentrated(levels)), padded(concentrated(levels)))


def test_a_filtered_level_is_zero_and_teaches_nothing():
    secret, batch = chains()
    model, prefix = concentrated(0), FilteredPrefix(Scores())
    assert np.abs(prefix(model, batch, jax.random.key(0), None).prediction.mean()[4:]).max() == 0
    gradient = eqx.filter_grad(lambda m: loss(prefix)(m, TASK, secret, batch, jax.random.key(0)))(model).weights
    assert np.abs(gradient[4:]).max() == 0
    assert np.abs(gradient[:4]).max() > 0


def test_what_cannot_be_written_is_refused():
    _, batch = chains()
    with pytest.raises(SpecError, match="level by level"):
        FilteredPrefix(Scores())(positional(TASK, mask="causal"), batch, jax.random.key(0), None)
    with pytest.raises(SpecError, match="use `positional`"):
        FilteredPrefix()(gated(TASK), batch, jax.random.key(0), None)
    with pytest.raises(SpecError, match="used=0"):
        Strings(STRINGS, 1.5, used=0)


def test_a_pool_in_blocks_is_the_pool():
    secret, _ = chains()
    model = scattered("lower-levels")
    pool = Pooled(50, 50).prepare(TASK, secret, jax.random.key(3), None)

    def gradient(source):
        def loss_function(model, batch, key):
            return loss(FilteredPrefix())(model, TASK, secret, batch, key)

        draw = Draw(secret, pool, jnp.zeros((), jnp.uint32), jax.random.key(0), None)
        return source.gradient(loss_function, model, TASK, draw)[1].weights

    small = Pooled(50, 50, block=12)  # 50 > 4 x 12: five blocks of 10
    assert small.pieces == {10}
    np.testing.assert_allclose(gradient(small), gradient(Pooled(50, 50)), atol=1e-6)


@pytest.mark.parametrize("joint", [0.5, 0.3])
def test_the_requ_layer_trains_as_the_link_it_realises(joint):
    secret, batch = chains()
    gradients = [
        eqx.filter_grad(lambda m: loss(FilteredPrefix())(m, TASK, secret, batch, jax.random.key(0)))(
            scattered("lower-levels", link=link)
        ).weights
        for link in (requ(joint), QuadraticLinear(joint))
    ]
    np.testing.assert_allclose(*gradients, atol=1e-5)
