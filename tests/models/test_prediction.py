"""Slots that are not spoken are blank for certain: the same answers as classes that say so."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models import ClassLogits, SignLogits, SignMeans
from sorites.models.prediction import NEVER, SlotLogits
from sorites.supervision import CrossEntropy
from sorites.theory.precision import in_float64

SLOTS, COUNT, BLANK, VOCAB = (4, 1), 5, 6, 7


def both(logits) -> tuple[SlotLogits, ClassLogits]:
    certain = jnp.where(jnp.arange(VOCAB) == BLANK, 0.0, NEVER)
    full = jnp.broadcast_to(certain, (*logits.shape[:-2], COUNT, VOCAB)).astype(logits.dtype)
    for place, slot in enumerate(SLOTS):
        full = full.at[..., slot, :].set(logits[..., place, :])
    return SlotLogits(ClassLogits(logits), SLOTS, COUNT, BLANK), ClassLogits(full)


def drawn(shape):
    logits, tokens = jax.random.split(jax.random.key(0))
    tokens = jax.random.randint(tokens, (3, COUNT, *shape), 0, VOCAB)
    silent = jnp.array([slot not in SLOTS for slot in range(COUNT)]).reshape(1, COUNT, *(1 for _ in shape))
    tokens = jnp.where(silent & (jnp.arange(3) < 2).reshape(3, 1, *(1 for _ in shape)), BLANK, tokens)  # some are not
    return jax.random.normal(logits, (*shape, 3, len(SLOTS), VOCAB), jnp.float64), tokens


@pytest.mark.parametrize("shape", [(), (4,)])
@in_float64
def test_what_is_spoken_is_classes_with_certain_blanks(shape):
    logits, tokens = drawn(shape)
    ours, theirs = both(logits)
    assert (np.asarray(tokens[2:, 0]) != BLANK).any()  # a silent slot that should not have said it
    for question in ("log_prob", "expected", "error", "right", "distance"):
        np.testing.assert_allclose(getattr(ours, question)(tokens), getattr(theirs, question)(tokens), rtol=1e-12)
    for question in ("greedy", "mean", "entropy"):
        found, expected = getattr(ours, question)(), getattr(theirs, question)()
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert found.dtype == expected.dtype
    for thoughts in (slice(0, 2), slice(2, 3)):
        np.testing.assert_array_equal(ours.of(thoughts).greedy(), theirs.of(thoughts).greedy())
    parts = [ours.of(slice(0, 2)), ours.of(slice(2, 3))]
    np.testing.assert_array_equal(parts[0].joined(parts).log_prob(tokens), ours.log_prob(tokens))
    said = np.asarray(ours.sample(jax.random.key(1)))
    assert (said[:, [0, 2, 3]] == BLANK).all()
    assert (said[:, list(SLOTS)] != BLANK).any()
    np.testing.assert_array_equal(ours.agreement(tokens, tokens), np.ones(tokens.shape))


@in_float64
def test_both_have_the_same_slopes():
    logits, tokens = drawn((4,))
    tokens, where = tokens.at[2].set(tokens[1]), jnp.ones((3, COUNT))
    ours, theirs = (
        jax.grad(lambda logits, way=way: CrossEntropy()(both(logits)[way], tokens, where, tokens))(logits)
        for way in (0, 1)
    )
    np.testing.assert_allclose(ours, theirs, atol=1e-14)
    assert np.abs(ours).max() > 0.01


def signs(seed, kind):
    margin = 3 * jax.random.normal(jax.random.key(seed), (3, 1, 4), jnp.float64)
    return SignLogits(margin) if kind == "logits" else SignMeans(jnp.tanh(margin / 2))


def classes(seed, shape=(4,)):
    return both(jax.random.normal(jax.random.key(seed), (*shape, 3, len(SLOTS), VOCAB), jnp.float64))


PAIRS = {
    "means": lambda: (signs(0, "means"), signs(1, "means")),
    "logits": lambda: (signs(0, "logits"), signs(1, "logits")),
    "means of logits": lambda: (signs(0, "means"), signs(1, "logits")),
    "logits of means": lambda: (signs(0, "logits"), signs(1, "means")),
    "classes": lambda: (classes(0)[1], classes(1)[1]),
    "slots": lambda: (classes(0)[0], classes(1)[0]),
}


@pytest.mark.parametrize("name", PAIRS)
@in_float64
def test_the_divergence_is_the_sum_over_tokens(name):
    own, other = PAIRS[name]()
    vocab = (1, -1) if name in list(PAIRS)[:4] else range(VOCAB)
    total = 0.0
    for token in vocab:
        tokens = jnp.full(own.entropy().shape, token)
        log, theirs = np.asarray(own.log_prob(tokens)), np.asarray(other.log_prob(tokens))
        total = total + np.where(log > NEVER / 2, np.exp(log) * (log - theirs), 0.0)
    np.testing.assert_allclose(own.kl(other), total, rtol=1e-9, atol=1e-12)
    assert (np.asarray(own.kl(other)) >= 0).all()
    np.testing.assert_allclose(own.kl(own), 0.0, atol=1e-12)


@in_float64
def test_the_divergence_has_the_gradient_of_its_formula():
    """d KL(p || q) / d margin of q is q - p."""
    own, other = signs(0, "logits"), signs(1, "logits")
    gradient = jax.grad(lambda margin: own.kl(SignLogits(margin)).sum())(other.margin)
    np.testing.assert_allclose(gradient, jax.nn.sigmoid(other.margin) - jax.nn.sigmoid(own.margin), rtol=1e-9)


def test_predictions_over_other_alphabets_have_no_divergence():
    with pytest.raises(SpecError, match=r"got SignMeans.kl of a ClassLogits"):
        SignMeans(jnp.zeros((3, 1))).kl(ClassLogits(jnp.zeros((3, 1, 2))))
