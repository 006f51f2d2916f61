"""Faults that the tests once let live: one small test for each, against numbers worked out another way."""

import dataclasses
import math

import jax.numpy as jnp
import numpy as np
import optax
import pytest

from sorites.models.positional import positional
from sorites.models.prediction import SignMeans
from sorites.statistics import log_log_slope, mean_interval
from sorites.supervision import Clipped, PolicyGradient, Pooled, credit, teacher_forcing
from sorites.supervision.filtered import Scores, Strings
from sorites.supervision.supervision import Batch
from sorites.tasks import Chain, Parity
from sorites.theory import gated_laws, sparse_attention
from sorites.training import Adam, AdamW, Evaluation, Run, Stage
from sorites.training.member import init_member, make_pool, start_stage


@pytest.mark.parametrize(("optimizer", "theirs"), [(Adam, optax.adam), (AdamW, optax.adamw)])
def test_the_moments_of_adam(optimizer, theirs):
    """Over ten steps of changing gradients: the first step shows neither momentum."""
    made = optimizer(0.1, decay=1e-4) if optimizer is AdamW else optimizer(0.1)
    ours, other = made.transformation(), theirs(0.1)
    weights, gradients = jnp.ones(3), np.random.default_rng(0).normal(size=(10, 3)).astype(np.float32)
    states, sides = [ours.init(weights), other.init(weights)], [weights, weights]
    for gradient in gradients:
        for side, transformation in enumerate((ours, other)):
            update, states[side] = transformation.update(jnp.asarray(gradient), states[side], sides[side])
            sides[side] = sides[side] + update
    assert np.allclose(sides[0], sides[1], rtol=1e-5)


def test_a_pool_is_drawn_apart_from_what_is_held_out():
    task = Parity(8, 4)
    stage = Stage(task, (teacher_forcing(task.layout),), Pooled(64, 8), Adam(0.1), 2, Evaluation(1, 64))
    member = start_stage(stage, init_member(Run(positional(task), [stage]), jnp.zeros((), jnp.int32)))
    drawn = np.asarray(make_pool(stage, member).tokens)
    held = np.asarray(stage.evaluation.chains(task, member.secret, member.test).tokens)
    assert drawn.shape == held.shape
    assert (drawn != held).any()


def test_the_clipped_ratio_takes_the_smaller():
    """min(r A, clip(r) A): an advantage above zero is held at 1 + ratio, one below zero is not helped by r below 1."""
    layout = Parity(4, 2).layout
    signal = Clipped(PolicyGradient(credit(layout, "step")), 0.2)
    tokens = jnp.ones((1, 1, 2), jnp.int8)
    said = SignMeans(jnp.full((1, 1, 2), 0.8))  # probability 0.9 of +1
    chains = Chain(jnp.ones((5, 1, 2), jnp.int8), layout)
    cases = ((0.45, 1.0, 1.2), (0.45, -1.0, -2.0), (0.99, -1.0, -0.9 / 0.99), (1.8, -1.0, -0.8))
    for old, advantage, expected in cases:
        batch = Batch(chains, tokens, jnp.full((1, 1, 2), math.log(old)), jnp.full((1, 1, 2), advantage))
        assert float(signal.surrogate(said, batch)) == pytest.approx(-expected, rel=1e-5)


def test_a_group_is_scaled_by_its_own_spread():
    """Advantages of a scaled group have spread one, however small the gains are."""
    layout = Parity(4, 2).layout
    signal = PolicyGradient(credit(layout, "step"), baseline="group", group=4, scaled=True)
    labels, tokens = jnp.ones((1, 1, 4), jnp.int8), jnp.asarray([1, 1, -1, -1], jnp.int8)[None, None]
    found = np.asarray(signal.advantage(SignMeans(jnp.zeros((1, 1, 4))), labels, jnp.full((1, 1), 1e-3), tokens))
    assert found.std() == pytest.approx(1, abs=0.01)


def test_a_filter_looks_at_every_thought_of_the_level_below():
    """One uninformative thought closes the level above, whichever it is."""
    task = Parity(8, 4)
    model = positional(task, mask="lower-levels")
    children = np.asarray(task.children(np.arange(4)))
    sharp = np.zeros(model.weights.shape)
    np.put_along_axis(sharp, children, 30.0, axis=1)
    balanced = np.random.default_rng(0).permuted(np.tile([[1], [-1]], (4, 32)), axis=0)
    strings = Strings(balanced, 1.5)  # equal attention to a balanced string says nothing

    def passes(filter, *blind):
        weights = sharp.copy()
        weights[list(blind)] = 0.0
        return np.asarray(filter(dataclasses.replace(model, weights=jnp.asarray(weights, jnp.float32))))

    assert passes(strings)[1] == 1
    for thought in (0, 1):
        found = passes(strings, thought)
        assert found[0] == 1
        assert found[1] == 0, thought
    assert passes(Scores())[1] == 1
    assert passes(Scores(), 0)[1] == 1  # one score of the level is enough
    assert passes(Scores(), 1)[1] == 1
    assert passes(Scores(), 0, 1)[1] == 0


def test_intervals_of_means_and_slopes_against_tables():
    """t(0.975, 3) = 3.182446; the spread of 1, 2, 3, 4 has n - 1 below."""
    low, high = mean_interval(np.array([1.0, 2, 3, 4]))
    assert high - low == pytest.approx(2 * 3.182446 * math.sqrt(5 / 3) / 2, rel=1e-5)
    x, noise = np.array([1.0, 2, 4, 8, 16]), np.array([0.1, -0.1, 0.05, -0.05, 0.0])
    slope = log_log_slope(x, x**1.5 * np.exp(noise))
    design = np.stack([np.log(x), np.ones(5)], axis=1)
    fitted, rest, *_ = np.linalg.lstsq(design, np.log(x) * 1.5 + noise, rcond=None)
    error = math.sqrt(rest[0] / 3 / ((np.log(x) - np.log(x).mean()) ** 2).sum())
    assert slope.value == pytest.approx(fitted[0])
    assert slope.interval.high - slope.interval.low == pytest.approx(2 * 3.182446 * error, rel=1e-5)  # t(0.975, 3)


def test_constants_of_the_laws():
    """The bounds as the papers print them, in one case each."""
    assert gated_laws.sensitivity_bound(2.0, 3, 2, np.array(0.25)) == pytest.approx(2 * 2**2 * 0.25)
    # tree of four, stage 2: layer 1 has two queries and moves three thoughts, layer 2 one and one
    expected = math.sqrt(4 * (3 * 2 * 3.0**4 + 1 * 1 * 3.0**2))
    assert gated_laws.gradient_bound(3.0, 4, 2) == pytest.approx(expected)
    assert sparse_attention.target_signal(1.0, 1, 40, 30) == pytest.approx(1 / (32 * 40))
    assert sparse_attention.target_signal(1.0, 1, 31, 30) == pytest.approx(1 / (8 * 31))
    assert sparse_attention.final_margin(1.0, 0.0, 1, 40) == pytest.approx(1 / 32)
    assert sparse_attention.final_margin(0.0, 1.0, 1, 40) == pytest.approx(1 / (32 * 40))
