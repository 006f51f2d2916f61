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
from sorites.papers.lego.arms import Arm, Decoding, attention_map, gathered, self_trained
from sorites.papers.lego.grids import Study
from sorites.supervision import Draw, Pooled, Rewritten
from sorites.tasks import Lego, room_for
from sorites.tasks.actions import action_named
from sorites.training import train
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
    grown = self_train(FEATURES, start.end, ACTION, 12, 2, 30, 64, jax.random.key(1))
    said = self_train(FEATURES, start.end, ACTION, 12, 1, 30, 64, jax.random.key(1), rate=0.1, slowing=100.0)
    np.testing.assert_array_equal(said[0].history.routing.predicate, grown[0].history.routing.predicate)  # its defaults
    for stage in grown:
        assert float(stage.history.right.min()) == 1
        snapshots = jax.vmap(lambda path, length=stage.length: path.masses(length, jnp.asarray(2)))(
            stage.history.routing
        )
        assert float(snapshots.error[-1]) < float(snapshots.error[0])
    still = train_routing(FEATURES, start.end, two_steps(ACTION, 1), (2,), 12, 5, until=1e9)
    np.testing.assert_array_equal(still.routing.predicate, np.full(6, float(start.end.predicate), np.float32))


SIZE = Decoding(12, 4, 8, 2, 16, length=3, batch=8, steps=4, checks=1, lengths=(3, 6), count=4, seeds=1)
ARMS = (Arm("C3"), Arm("S3", pool=5, residual=1.0, decay=1.0))


@pytest.fixture(scope="module")
def trained():
    """Two arms, then self-training to a longer sentence."""
    return train(SIZE.runs(ARMS, (6,), 10, 2), [0, 0], "sequential", snapshots=(SIZE.steps,))


def test_arms_share_a_program_and_grow_by_their_own_answers(trained):
    found = gathered(SIZE, trained.history)
    assert found["values"].shape == found["clauses"].shape == (1, 2, 2)
    assert found["predicate"].shape == (2, 2, 6)
    np.testing.assert_array_equal(trained.models.residual, [0.0, 1.0])  # a choice, not a weight
    grown = self_trained(SIZE, (6,), trained.history)
    assert grown["values6"].shape == (2, 2)
    np.testing.assert_array_equal(grown["labels6"], trained.history.entry(2, "values@6"))
    assert np.isfinite(grown["loss6"]).all()
    task = SIZE.runs(ARMS)[0].task
    rows = attention_map(trained.model(0), task.at(6), trained.secret(0), 4)
    assert rows.shape == (6, 12)
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-5)
    order = (2, 0, 1, 5, 4, 3)
    permuted = attention_map(trained.model(0), task.at(6), trained.secret(0), 4, order)
    np.testing.assert_allclose(permuted[:, :6], rows[:, order], atol=1e-6)


def test_a_member_does_not_depend_on_company(trained):
    before = trained.snapshots[SIZE.steps].readout  # the self-training that follows
    alone = train(SIZE.runs(ARMS)[1:], [0])
    np.testing.assert_allclose(alone.models.readout[0], before[1], atol=1e-6)
    beside = train(SIZE.runs(ARMS), [0, 0], "vmap")
    np.testing.assert_allclose(beside.models.readout, before, atol=1e-4)


def test_an_action_keeps_to_its_tokens():
    words = room_for([action_named("C3"), action_named("S4")], 12)
    task = Lego("C3", 3, 12, words)
    secret = task.draw(jax.random.key(0))
    tokens = np.asarray(task.numbered(secret, jnp.arange(5, dtype=jnp.uint32)).tokens)
    np.testing.assert_array_equal(tokens, task.numbered(secret, jnp.arange(5, dtype=jnp.uint32)).tokens)
    moves = tokens[:3, 1] - words.first_action
    assert moves.min() >= 0
    assert moves.max() < 3


def test_a_teacher_writes_labels_for_longer_sentences(trained):
    task, teacher, key = SIZE.runs(ARMS)[0].task.at(5), trained.model(0), jax.random.key(4)

    def pool(**fields):
        return Rewritten(Pooled(30, 4), **fields).prepare(task, None, key, teacher)

    plain, noisy, strict = pool(), pool(noise=1.0), pool(confidence=0.9)
    assert plain.tokens.shape == (11, 5, 30)
    assert plain.own
    np.testing.assert_array_equal(plain.tokens[:6], noisy.tokens[:6])
    changed = np.asarray(noisy.tokens[6:, 4] != plain.tokens[6:, 4])
    values = np.asarray(plain.tokens[6:, 4]) >= task.vocabulary.first_value  # a young teacher may write other words
    np.testing.assert_array_equal(changed, values & (np.asarray(plain.tokens[6:, 4]) < task.vocabulary.blank))
    assert 0 <= float(strict.weight.mean()) < 1
    draw = Draw(None, plain, jnp.zeros((), jnp.uint32), key, teacher)
    assert Rewritten(Pooled(30, 4)).chains(task, draw, key).tokens.shape == (11, 5, 4)
    with pytest.raises(SpecError, match="give the stage freeze=True"):
        Rewritten(Pooled(30, 4)).prepare(task, None, key, None)
    with pytest.raises(SpecError, match="how='soft'"):
        Rewritten(Pooled(30, 4), "soft")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Lego("C3", 3, 12).at(40), "length=40"),
        (lambda: SIZE.runs((Arm("C3", pool=-1),)), "size=-1"),
        (lambda: Lego("S5", 3, 12, room_for([ACTION], 12)), "room"),
        (lambda: Study(ways=("slow",)), "slow"),
        (lambda: Study(actions=("C6",)), "pair"),
    ],
)
def test_impossible_settings_are_refused(make, words):
    with pytest.raises(SpecError, match=words):
        make()
