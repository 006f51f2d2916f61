"""Signals against plain numpy formulas, and the policy-gradient identity by enumeration."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.models import ClassLogits, SignLogits, SignMeans
from sorites.models.positional import positional
from sorites.supervision import (
    CrossEntropy,
    ExpectedReward,
    Exponential,
    Hinge,
    LabelsFromPrefix,
    Logistic,
    PolicyGradient,
    Squared,
    TrueLabels,
    weighted,
)
from sorites.tasks import Chain, Parity

THOUGHTS, SLOTS, BATCH = 3, 2, 5
rng = np.random.default_rng(0)
MEANS = rng.uniform(-0.9, 0.9, (THOUGHTS, SLOTS, BATCH))
LABELS = rng.choice([-1, 1], (THOUGHTS, SLOTS, BATCH))
TOKENS = rng.choice([-1, 1], (THOUGHTS, SLOTS, BATCH))
WHERE = rng.uniform(0, 2, (THOUGHTS, SLOTS))
REWARD = LABELS * TOKENS
LIKELIHOOD = (1 + TOKENS * MEANS) / 2

FORMULAS = [
    (Squared(), (MEANS - LABELS) ** 2 / 2),
    (Hinge(), np.maximum(0, 1 - LABELS * MEANS)),
    (Logistic(), np.log(1 + np.exp(-LABELS * MEANS))),
    (Exponential(), np.exp(-LABELS * MEANS)),
    (ExpectedReward(), -LABELS * MEANS),
    (PolicyGradient(np.eye(THOUGHTS)), -REWARD * np.log(LIKELIHOOD)),
    (PolicyGradient(np.eye(THOUGHTS), "batch"), -(REWARD - REWARD.mean(axis=-1, keepdims=True)) * np.log(LIKELIHOOD)),
    (CrossEntropy(), -np.log((1 + LABELS * MEANS) / 2)),
]


@pytest.mark.parametrize(("objective", "terms"), FORMULAS, ids=[type(objective).__name__ for objective, _ in FORMULAS])
def test_objectives_are_weighted_means_of_their_formula(objective, terms):
    expected = sum(WHERE[m, s] * terms[m, s].mean() for m in range(THOUGHTS) for s in range(SLOTS))
    with jax.enable_x64(True):
        means, *rest = (jnp.asarray(a) for a in (MEANS, LABELS, WHERE, TOKENS))
        odds = SignLogits(jnp.log1p(means) - jnp.log1p(-means))  # the same chances, said otherwise
        for said in (SignMeans(means), odds):
            np.testing.assert_allclose(objective(said, *rest), expected, rtol=1e-10)
        logits = jnp.moveaxis(jnp.log(jnp.stack([1 + means, 1 - means], axis=-1) / 2), 2, 0)
        bits = [(1 - each) // 2 if each.ndim == 3 else each for each in rest]
        if not isinstance(objective, Squared):  # of classes: the distance between two distributions, half as long
            np.testing.assert_allclose(objective(ClassLogits(logits), *bits), expected, rtol=1e-10)


def test_cross_entropy():
    logits = rng.normal(size=(BATCH, THOUGHTS, SLOTS, 4))
    labels = rng.integers(0, 4, (THOUGHTS, SLOTS, BATCH))
    probability = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    chosen = np.take_along_axis(probability, np.moveaxis(labels, -1, 0)[..., None], axis=-1)[..., 0]
    expected = -(np.log(chosen).mean(axis=0) * WHERE).sum()
    with jax.enable_x64(True):
        said, *rest = (jnp.asarray(a) for a in (logits, labels, WHERE, labels))
        found = CrossEntropy()(ClassLogits(said), *rest)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_weighted_counts_each_chain_once():
    terms = jnp.ones((THOUGHTS, SLOTS, BATCH))
    assert weighted(terms, jnp.ones((THOUGHTS, SLOTS))) == THOUGHTS * SLOTS


def test_hinge_is_flat_at_its_tie():
    slope = jax.grad(lambda s: Hinge()(SignMeans(s), jnp.ones((1, 1, 1)), jnp.ones((1, 1)), jnp.ones((1, 1, 1))))
    assert slope(jnp.ones((1, 1, 1))).item() == 0


def test_rewards_are_constants_of_the_gradient():
    means, labels = jnp.full((1, 1, 2), 0.5), jnp.asarray([[[1, -1]]])
    grad = jax.grad(lambda s: ExpectedReward()(SignMeans(s), labels * s, jnp.ones((1, 1)), labels))(means)
    np.testing.assert_allclose(grad.ravel(), [-0.25, 0.25])  # only through the score, not through the label


def test_truth_and_labels_from_a_true_prefix_agree(task):
    secret = task.draw(jax.random.key(0))
    chains = task.sample(secret, jax.random.key(1), 8)
    truth = TrueLabels()(task, secret, chains, chains.tokens)
    np.testing.assert_array_equal(truth, LabelsFromPrefix()(task, secret, chains, chains.tokens))
    wrong = chains.tokens.at[task.bits].multiply(-1)
    np.testing.assert_array_equal(truth, TrueLabels()(task, secret, chains, wrong))
    assert (LabelsFromPrefix()(task, secret, chains, wrong) != truth).any()


@pytest.mark.parametrize("labels", [TrueLabels(), LabelsFromPrefix()], ids=repr)
def test_reinforce_is_unbiased_for_the_expected_reward(labels):
    """Exactly: every token sequence, weighted by its probability, on every input (rl-sft Lemma D.2)."""
    task = Parity(4, 4)
    layout = task.layout
    with jax.enable_x64(True):
        weights = jnp.asarray(np.random.default_rng(3).normal(size=(layout.thoughts, layout.positions)))
        model = eqx.tree_at(lambda m: m.weights, positional(task, mask="previous-level"), weights)
        secret = jnp.arange(4)
        truth = task.enumerate(secret)
        sequences = list(itertools.product([-1, 1], repeat=layout.thoughts))
        tokens = jnp.concatenate([_with_thoughts(truth.tokens, thoughts) for thoughts in sequences], axis=-1)
        means = model.predict_batch(Chain(tokens, layout)).mean()
        chance = jnp.prod((1 + tokens[layout.inputs :] * means) / 2, axis=(0, 1))
        drawn = np.flatnonzero(chance > 1e-12)  # what has probability zero is never sampled
        tokens, chance = tokens[..., drawn], chance[drawn]
        chains = Chain(jnp.tile(truth.tokens, (1, 1, len(sequences)))[..., drawn], layout)
        own, target = tokens[layout.inputs :], labels(task, secret, chains, tokens)
        where = jnp.ones((layout.thoughts, 1))

        @eqx.filter_jit
        def gradient(objective):
            def one(means, label, token):
                return objective(SignMeans(means[..., None]), label[..., None], where, token[..., None])

            def total(model):
                means = model.predict_batch(Chain(tokens, layout)).mean()
                return jnp.sum(chance * jax.vmap(one, in_axes=-1)(means, target, own)) / 2**task.bits

            return eqx.filter_grad(total)(model).weights

        exact = gradient(ExpectedReward())
        assert np.abs(exact).max() > 1e-3
        np.testing.assert_allclose(gradient(PolicyGradient(np.eye(layout.thoughts))), exact, atol=1e-12)


def _with_thoughts(tokens, thoughts):
    columns = jnp.asarray(thoughts, tokens.dtype)[:, None, None]
    return tokens.at[-len(thoughts) :].set(jnp.broadcast_to(columns, (len(thoughts), 1, tokens.shape[-1])))
