"""The experimental decoder: caching changes nothing, positions matter, odd settings are refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models.decoder import DecoderSpec, decoder, next_clause_loss, rollout
from sorites.tasks.lego import Lego, Vocabulary, encode

TASK = Lego("S3", 4, 8)
WORDS = TASK.vocabulary


def made(**fields):
    return decoder(DecoderSpec(WORDS, 4, 8, 2, 16, **fields), jax.random.key(0))


def clauses():
    return encode(TASK.sentences(jax.random.key(1), 6), WORDS, 5)


KINDS = ({}, {"residual": 1.0, "normalised": True}, *({"positions": kind} for kind in ("learned", "rope", "alibi")))


@pytest.mark.parametrize("fields", KINDS)
def test_cached_rollout_equals_reading_the_prefix_again(fields):
    model, given = made(**fields), clauses()
    found = jax.jit(rollout)(model, given[:, :4], given[:, 4], jnp.asarray(4)).clauses
    own = given
    for step in range(4):
        logits = model(own[:, :8], whole=True)[0][:, step]  # causal: answers after `step` are not seen
        own = own.at[:, 5 + step].set(logits.argmax(axis=-1))
        np.testing.assert_array_equal(found[:, step], own[:, 5 + step])
    longer = jnp.pad(given[:, :4], ((0, 0), (0, 3), (0, 0)), constant_values=WORDS.blank)
    again = jax.jit(rollout)(model, longer, given[:, 4], jnp.asarray(4)).clauses[:, :4]
    np.testing.assert_array_equal(found, again)


def test_the_loss_counts_the_taught_slots():
    given = clauses()
    logits = made()(given[:, :-1])[0]
    by_hand = -jnp.take_along_axis(jax.nn.log_softmax(logits), given[:, 5:, :, None], axis=-1).sum(axis=(1, 2, 3))
    np.testing.assert_allclose(next_clause_loss(made(), given), by_hand, rtol=1e-5)
    assert made(taught=(3, 4))(given[:, :-1])[0].shape == (6, 4, 2, WORDS.size)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"positions": "sinus"}, "sinus"),
        ({"heads": 3}, "heads=3"),
        ({"taught": (0, 1)}, "taught"),
    ],
)
def test_bad_specs_are_refused(fields, words):
    with pytest.raises(Exception, match=words) as caught:
        DecoderSpec(Vocabulary(8, 6, 3), width=8, **fields)
    assert isinstance(caught.value, SpecError) or "positions" in fields
