"""LEGO's trainers: ensembles, self-labels with noise and filters, refusals."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models.features import ideal
from sorites.models.routing import Routing, uniform
from sorites.models.srelu import SReLU
from sorites.papers.lego.arms import Arm, Decoding, self_training
from sorites.papers.lego.grids import Study
from sorites.tasks.actions import action_named
from sorites.training.lego_decoder import advance, evaluate, labelled, lesson, room_for, sentences
from sorites.training.lego_theory import SelfLabelled, self_train, train_routing, two_steps

ACTION = action_named("S3")
FEATURES = ideal(ACTION, 30, 3.0, SReLU())
GOOD = Routing(*(jnp.asarray(number) for number in (6.0, 0.0, 6.0, 0.0)))


def labels(noise=0.0, confidence=0.0, annotator=GOOD):
    table = jnp.asarray(ACTION.table)
    source = SelfLabelled(
        FEATURES, annotator, table, jax.random.key(0), jnp.asarray(noise), jnp.asarray(confidence), 4, 200
    )
    return eqx.filter_jit(source)(jnp.asarray(0))


def test_labels_are_true_noisy_or_filtered():
    assert float(labels().right) == 1
    noisy = labels(noise=0.3)
    assert float(noisy.right) == pytest.approx(1 - 0.3 * 2 / 3, abs=0.06)
    poor = labels(annotator=uniform())
    kept = labels(confidence=0.9, annotator=uniform())
    assert float(poor.right) < 1
    assert 0 < float(kept.weights.mean()) < 1
    assert float(labels(confidence=0.9).weights.mean()) == 1


def test_self_training_lowers_the_error_at_each_length():
    start = train_routing(FEATURES, uniform(), two_steps(ACTION, 1), (2,), 12, 60)
    assert float(start.loss[-1]) < float(start.loss[0])
    for stage in self_train(FEATURES, start.end, ACTION, 12, 2, 30, 64, jax.random.key(1)):
        assert float(stage.history.right.min()) == 1
        along = jax.vmap(lambda path, length=stage.length: path.masses(length, jnp.asarray(2)))(stage.history.routing)
        assert float(along.error[-1]) < float(along.error[0])
    still = train_routing(FEATURES, start.end, two_steps(ACTION, 1), (2,), 12, 5, until=1e9)
    np.testing.assert_array_equal(still.routing.predicate, np.full(6, float(start.end.predicate), np.float32))


SIZE = Decoding(12, 4, 8, 2, 16, length=3, batch=8, steps=4, checks=1, lengths=(3, 6), count=4, seeds=1)
ARMS = (Arm("C3"), Arm("S3", pool=5, residual=1.0, decay=1.0))


def test_members_do_not_depend_on_company_or_chunks():
    total = jnp.asarray(4)
    whole, _ = advance(SIZE.members(ARMS), 4, 3, 8, total, together=False)
    halves, _ = advance(SIZE.members(ARMS), 2, 3, 8, total, together=False)
    halves, _ = advance(halves, 2, 3, 8, total, together=False)
    beside, _ = advance(SIZE.members(ARMS), 4, 3, 8, total, together=True)
    np.testing.assert_allclose(whole.model.readout, halves.model.readout, atol=1e-6)
    np.testing.assert_allclose(whole.model.readout, beside.model.readout, atol=1e-4)
    np.testing.assert_array_equal(whole.model.residual, [0.0, 1.0])
    scores = evaluate(whole, (3, 6), 4, together=False)
    assert scores.values.shape == (2, 2)
    assert scores.predicate.shape == (2, 2, 6)


def test_a_fixed_pool_repeats_and_an_action_keeps_to_its_tokens():
    words = room_for([action_named("C3"), action_named("S4")], 12)
    taught = lesson(action_named("C3"), words, 0, pool=5)
    clauses = np.asarray(sentences(taught, words, jnp.arange(5), 3))
    np.testing.assert_array_equal(clauses, np.asarray(sentences(taught, words, jnp.arange(5), 3)))
    moves = clauses[:, :3, 1] - words.first_action
    assert moves.min() >= 0
    assert moves.max() < 3


def test_a_member_labels_longer_sentences():
    one = jax.tree.map(lambda leaf: leaf[0], SIZE.members(ARMS))
    plain, noisy, strict = labelled(one, 5, 30), labelled(one, 5, 30, noise=1.0), labelled(one, 5, 30, confidence=0.5)
    assert plain.clauses.shape == (30, 11, 5)
    assert int(plain.kept) == 30
    assert 0 <= float(plain.right) <= 1
    assert (noisy.clauses[:, 6:, 4] != plain.clauses[:, 6:, 4]).any()
    assert int(strict.kept) < 30
    stages = list(self_training(SIZE, SIZE.members(ARMS), (4,), 6, 2, noise=0.1, confidence=0.01))
    assert stages[0][1].labels.shape == (2,)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: evaluate(SIZE.members(ARMS), (3, 40), 2), "length=40"),
        (lambda: lesson(action_named("C3"), room_for([ACTION], 12), 0, pool=-1), "pool=-1"),
        (lambda: lesson(action_named("S5"), room_for([ACTION], 12), 0), "room"),
        (lambda: Study(ways=("slow",)), "slow"),
        (lambda: Study(actions=("C6",)), "pair"),
    ],
)
def test_impossible_settings_are_refused(make, words):
    with pytest.raises(SpecError, match=words):
        make()
