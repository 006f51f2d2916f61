"""The experimental decoder: caching changes nothing, one chain is a batch of one, odd settings are refused."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models import AbstractModel, ClassLogits
from sorites.models.decoder import DecoderSpec, decoder
from sorites.models.prediction import SlotLogits, first_largest
from sorites.supervision import CrossEntropy, teacher_forcing
from sorites.tasks import Lego, Parity, Vocabulary

TASK = Lego("S3", 4, 8)


def made(residual=0.0, normalised=False, **fields):
    return decoder(TASK, 4, 8, 2, 16, residual, normalised, **fields).init(jax.random.key(0))


@pytest.fixture(scope="module")
def chains():
    return TASK.sample(TASK.draw(jax.random.key(0)), jax.random.key(1), 6)


KINDS = (
    {}, {"residual": 1.0, "normalised": True}, {"slots": (3, 4)},
    *({"positions": kind} for kind in ("learned", "rope", "alibi")),
)  # fmt: skip


@pytest.mark.parametrize("fields", KINDS)
def test_cached_writing_equals_reading_the_prefix_again(fields, chains):
    model = made(**fields)
    found = jax.jit(lambda chains: model.generate(chains, jax.random.key(2), "greedy"))(chains)
    again = AbstractModel.generate(model, chains, jax.random.key(2), "greedy")
    np.testing.assert_array_equal(found, again)
    sampled = model.generate(chains, jax.random.key(3), "sampled")
    assert (np.asarray(sampled) != np.asarray(found)).any()
    if "slots" in fields:  # what is not read out is blank for certain
        assert (np.asarray(sampled)[5:, :3] == TASK.vocabulary.blank).all()


@pytest.mark.parametrize("fields", KINDS)
def test_a_batch_is_each_of_its_chains(fields, chains):
    model = made(**fields)
    for view in (chains, chains.with_shown(jnp.arange(9) < 6)):
        batch = model.predict_batch(view)
        alone = AbstractModel.predict_batch(model, view)
        assert isinstance(batch, SlotLogits if "slots" in fields else ClassLogits)
        for ours, theirs in zip(jax.tree.leaves(batch), jax.tree.leaves(alone), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_the_loss_counts_every_answer_and_slot(chains):
    model, taught = made(), teacher_forcing(TASK.layout, CrossEntropy())
    logits = model.predict_batch(chains).logits
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), jnp.moveaxis(chains.tokens[5:], -1, 0)[..., None], axis=-1)
    loss = taught(model, TASK, None, chains, None)
    np.testing.assert_allclose(loss, -chosen.sum() / 6, rtol=1e-5)


def test_the_residual_is_a_choice():
    model = made(residual=1.0)
    assert float(model.residual) == 1
    assert model.trainable().residual is False


def test_it_reads_clauses_alone():
    assert "clauses" in made().refuses(Parity(8, 4).layout, Parity(8, 4).alphabet)
    other = Lego("S4", 4, 8)
    assert "vocabulary" in made().refuses(other.layout, other.alphabet)
    assert made().refuses(TASK.at(6).layout, TASK.alphabet) is None
    assert "longest" in made(positions="learned", longest=8).refuses(TASK.at(6).layout, TASK.alphabet)


@pytest.mark.parametrize(
    ("fields", "words"),
    [({"positions": "sinus"}, "sinus"), ({"heads": 3}, "heads=3"), ({"slots": (0, 1)}, "slots")],
)
def test_bad_specs_are_refused(fields, words):
    with pytest.raises(Exception, match=words) as caught:
        DecoderSpec(Vocabulary(8, 6, 3), width=8, **fields)
    assert isinstance(caught.value, SpecError) or "positions" in fields


def test_the_first_of_the_largest_is_meant():
    """Ties included, as `argmax` breaks them."""
    values = jnp.asarray(np.random.default_rng(0).integers(0, 4, (50, 3, 7)), jnp.float32)
    np.testing.assert_array_equal(first_largest(values), jnp.argmax(values, axis=-1))
    assert first_largest(jnp.asarray([[-jnp.inf, -1e9, -1e9], [-jnp.inf] * 3, [0, jnp.nan, 1]])).tolist() == [1, 0, 0]


@pytest.mark.parametrize(("normalised", "positions"), [(False, "none"), (True, "none"), (False, "alibi")])
def test_attention_by_hand(normalised, positions, chains):
    """What figures show: softmax(q k / sqrt(d)) of each answer over the clauses up to it, and none on the last one.
    ALiBi of two heads takes 2^-4 and 2^-8 of the distance from the scores."""
    model, heads = made(1.0, normalised, positions=positions), 2
    tokens = np.moveaxis(np.asarray(chains.tokens), -1, 0)[:, :-1]  # batch clause slot
    rows = np.einsum("std,sdw->stw", np.asarray(model.tokens, float), np.asarray(model.into, float))
    rows[:, TASK.vocabulary.blank] = 0
    stream = sum(rows[slot][tokens[..., slot]] for slot in range(5))
    if normalised:
        stream = stream / np.sqrt((stream**2).mean(axis=-1, keepdims=True) + 1e-6)
    query, key = ((stream @ np.asarray(weight, float)).reshape(6, 8, heads, -1) for weight in (model.query, model.key))
    scores = np.einsum("bqhd,bkhd->bhqk", query, key) / math.sqrt(query.shape[-1])
    if positions == "alibi":
        distance = np.arange(8)[:, None] - np.arange(8)
        scores = scores - np.array([2.0**-4, 2.0**-8])[:, None, None] * distance
    scores = np.where(np.tri(8, dtype=bool), scores, -np.inf)
    wanted = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    [found] = model.attend(chains)  # head thought position batch
    assert found.shape == (heads, 4, 9, 6)
    np.testing.assert_allclose(np.moveaxis(np.asarray(found[:, :, :8]), -1, 0), wanted[:, :, 4:], atol=1e-5)
    assert not np.asarray(found[:, :, 8]).any()
