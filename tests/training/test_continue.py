"""A model that was trained, loaded or imported keeps its weights, and a training continues a member."""

import equinox as eqx
import jax
import numpy as np
import pytest

import sorites as so
from sorites.store import identities

TASK = so.Parity(6, 4)
PROBES = (so.Loss(), so.Outcome("forced"), so.Outcome("rolled"))
CROSS = so.CrossEntropy()


def stages(steps=4, task=TASK, objective=CROSS, optimizer=None, source=None):
    evaluation, source = so.Evaluation(2, 64, PROBES), source or so.Sampled(16)
    return so.stages(
        task, [so.teacher_forcing(task.layout, objective)], source, optimizer or so.Adam(0.01), steps, evaluation
    )


def equal(first, second):
    return all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True))


LEGO = so.Lego(so.action_named("C3"), 3, 6)
SEQUENCES = so.Sequences(12, 3, 3, validation=256)
MODELS = {
    "gpt": (lambda: so.gpt(TASK, width=16), TASK, CROSS),
    "perceptron": (lambda: so.perceptron(TASK), TASK, so.Squared()),
    "decoder": (lambda: so.decoder(LEGO, width=16), LEGO, CROSS),
    "sparse": (lambda: so.sparse(SEQUENCES, 16, 8), SEQUENCES, so.Hinge()),
    "gated": (lambda: so.gated(TASK), TASK, so.Squared()),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_trained_model_starts_where_it_ended(name):
    make, task, objective = MODELS[name]
    model, plan = make(), stages(task=task, objective=objective)
    trained = so.train(so.Run(model, plan), [3, 4])
    assert not model.pretrained
    assert trained.models.pretrained
    runs = [trained.continue_with(index, plan) for index in (0, 1)]
    further = so.train(runs, [3, 4])
    first, last = further.history.metrics["own.loss"][:, 0], trained.history.last("own.loss")
    np.testing.assert_allclose(first, last, rtol=1e-5)
    assert equal(further.secrets, trained.secrets)
    assert not np.allclose(further.history.last("own.loss"), last)  # it learns on


def test_a_new_model_draws_its_weights_per_member():
    trained = so.train(so.Run(so.gpt(TASK, width=16), stages(2)), [0, 1])
    assert not equal(trained.model(0), trained.model(1))


def test_an_ensemble_over_one_start_has_one_set_of_weights():
    model = so.train(so.Run(so.gpt(TASK, width=16), stages(2)), [0]).model(0)
    history = so.train(so.Run(model, stages(2)), [5, 6], snapshots=(0,))
    assert equal(history.model(0, step=0), history.model(1, step=0))
    assert not equal(history.secret(0), history.secret(1))  # without `start` each draws its own
    assert not equal(history.model(0), history.model(1))


@pytest.mark.parametrize(
    "source", [so.Sampled(16), so.Pooled(64, 16), so.OnePass(16)], ids=lambda each: type(each).__name__
)
def test_two_halves_of_a_training_are_the_whole(source):
    """Gradient descent has no state: what is left to tell them apart is the data stream."""
    task = SEQUENCES if isinstance(source, so.OnePass) else TASK
    model = so.sparse(task, 16, 8) if task is SEQUENCES else so.gated(task)

    def plan(steps):
        return stages(steps, task, so.Squared(), so.GD(0.5), source)

    whole = so.train(so.Run(model, plan(8)), [7])
    part = so.train(so.Run(model, plan(2)), [7])
    part = so.train(part.continue_with(0, plan(2)), [7])
    part = so.train(part.continue_with(0, plan(4)), [7])
    assert equal(whole.models, part.models)
    assert equal(whole.start(0), part.start(0))


def test_a_stored_member_is_continued(tmp_path):
    store, run = so.Store(tmp_path), so.Run(so.gpt(TASK, width=16), stages())
    trained = store.train(run, [3, 5])
    id = identities(run, [3])[0].id
    loaded = store.load(id)
    assert equal(loaded.start, trained.start(0))
    more = loaded.continue_with(stages())
    further = store.train(more, [loaded.seed])
    np.testing.assert_allclose(
        further.history.metrics["rolled.answer"][:, 0], trained.history.last("rolled.answer")[:1], atol=1e-6
    )
    again = store.load(identities(more, [3])[0].id)
    assert equal(again.secret, loaded.secret)
    assert equal(again.start, further.start(0))
    assert int(again.start.steps) == 8
    assert {identities(more, [3])[0].id, id, identities(so.Run(loaded.model, stages()), [3])[0].id} == {
        identities(each, [3])[0].id for each in (more, run, so.Run(loaded.model, stages()))
    }
    assert len({identities(each, [3])[0].id for each in (more, run, so.Run(loaded.model, stages()))}) == 3


def test_an_imported_model_keeps_its_weights(tmp_path):
    trained = so.train(so.Run(so.gpt(TASK, width=16), stages()), [0])
    so.to_hf(trained.model(0), tmp_path / "hf")
    imported = so.from_hf(tmp_path / "hf", TASK)
    assert imported.pretrained
    start = so.train(so.Run(imported, stages(2)), [0]).history.metrics["own.loss"][0, 0]
    np.testing.assert_allclose(start, trained.history.last("own.loss")[0], rtol=1e-4)


def test_own_weights_are_not_silently_replaced():
    model = so.gpt(TASK, width=16)
    filled = eqx.tree_at(lambda model: model.pad, model, model.pad + 1)
    with pytest.raises(so.SpecError, match=r"got a GPT with weights.*model.with_weights_kept\(\)"):
        so.train(so.Run(filled, stages(2)), [0])
    kept = so.train(so.Run(filled.with_weights_kept(), stages(2)), [0], snapshots=(0,))
    assert equal(kept.model(0, step=0), filled)


def test_the_task_can_change_half_way():
    longer = so.Lego(so.action_named("C3"), 5, 6)
    trained = so.train(so.Run(so.decoder(LEGO, width=16), stages(task=LEGO)), [0])
    further = so.train(trained.continue_with(0, stages(task=longer)), [0])
    assert further.history.last("own.loss").shape == (1,)


def test_a_secret_of_another_task_is_refused():
    trained = so.train(so.Run(so.gated(TASK), stages(2, objective=so.Squared())), [0])
    other = so.Parity(8, 8)
    start = trained.start(0)
    with pytest.raises(so.SpecError, match="whose secret has another shape"):
        so.train(so.Run(so.gated(other), stages(2, other, so.Squared()), start=start), [0])
