"""Goals, clocks, teachers and batches used twice: what a run can say besides its stages."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models import AbstractModel, SignLogits
from sorites.models.gated import gated
from sorites.models.gpt import gpt
from sorites.models.perceptron import perceptron
from sorites.models.positional import positional
from sorites.probes import ChildMass, Loss, OnTask, Outcome
from sorites.supervision import (
    Clipped,
    CrossEntropy,
    Hinge,
    OwnPrefix,
    PolicyGradient,
    Rewritten,
    Sampled,
    Squared,
    Supervision,
    TrueLabels,
    credit,
    process_reward,
    teacher_forcing,
)
from sorites.tasks import Composition, Parity
from sorites.training import GD, Adam, AdamW, Clip, Evaluation, Run, Stage, Until, stages, train

TASK = Parity(6, 2)
PROBES = (Loss(), Outcome("rolled"))
FORCED = (teacher_forcing(TASK.layout),)


def one(optimizer=None, steps=8, probes=PROBES, goal=None, task=TASK, taught=FORCED, model=None, **fields):
    stage = Stage(task, taught, Sampled(16), optimizer or GD(0.5), steps, Evaluation(2, 32, probes), **fields)
    return Run(model or positional(task), [stage], goal)


def test_a_model_judged_by_its_rollout_can_be_solved():
    run = one(AdamW(0.5), 20)
    assert run.goal.metric == "rolled.answer"
    history = train(run, [0, 1]).history
    first = [int(history.step[np.argmax(row >= 1)]) for row in history.metrics["rolled.answer"]]
    assert history.solved_at.tolist() == first


def test_a_goal_may_be_any_metric_and_may_fall():
    falling = train(one(AdamW(0.5), 20, goal=Until("own.loss", 0.2, falls=True)), [0]).history
    reached = falling.metrics["own.loss"][0] <= 0.2
    assert reached.any()
    assert falling.solved_at[0] == falling.step[np.argmax(reached)]
    everywhere = Until("rolled.levels", 0.0)
    assert train(one(goal=everywhere), [0]).history.solved_at.tolist() == [0]
    assert one(probes=(Loss(),)).goal is None
    assert train(one(probes=(Loss(),)), [0]).history.solved_at.tolist() == [-1]


def test_what_the_clock_ends_is_censored_not_finished():
    history = train(one(steps=40), [0, 1], seconds=0.0, chunk=2).history
    assert history.censored.all()
    assert (history.step[-1], history.samples.tolist()) == (2, [2 * 16] * 2)  # the first segment, compiled apart
    plenty = train(one(), [0, 1], seconds=1e6)
    assert not plenty.history.censored.any()
    assert plenty.chains_per_second > 0
    assert not train(one(), [0]).history.censored.any()


def test_budgets_are_data():
    runs = [one(steps=steps) for steps in (4, 8)]
    for strategy in ("sequential", "vmap"):
        history = train(runs, [0, 0], strategy).history
        assert history.samples.tolist() == [64, 128]
        assert np.isnan(history.metrics["own.loss"][0, -1])


def test_a_teacher_is_frozen_on_entry_and_its_words_are_the_labels():
    """Taught by its own greedy answers a model becomes surer of them; fresh batches are rewritten as they come."""
    start = one(GD(5.0), 4).stages[0]
    alone = dataclasses.replace(start, source=Rewritten(Sampled(16)), reset=False, freeze=True)
    trained = train(Run(positional(TASK), [start, alone]), [0, 1], "sequential")
    assert trained.history.stage.tolist() == [1] * 3 + [2] * 3
    assert np.isfinite(trained.history.last("own.loss")).all()
    with pytest.raises(SpecError, match="give the stage freeze=True"):
        train(Run(positional(TASK), [dataclasses.replace(alone, freeze=False)]), [0])


def test_stages_may_differ_in_length():
    short, long = Composition("C3", 2), Composition("C3", 4)
    model = gpt(short, width=16, room=len(gpt(long).net.positions))

    def stage(task):
        taught = (teacher_forcing(task.layout, CrossEntropy()),)
        return Stage(task, taught, Sampled(16), Adam(1e-3), 2, Evaluation(2, 16, (Loss(), Outcome("forced"))))

    with pytest.raises(SpecError, match="a GPT has learned positions"):
        train(Run(gpt(short, width=16), [stage(short), stage(Composition("C3", 4, 2))]), [0])
    with pytest.raises(SpecError, match="stages of one run share a secret"):
        train(Run(model, [stage(short), stage(long)]), [0])
    history = train(Run(model, [stage(short), stage(Composition("C3", 4, 2))]), [0]).history
    assert history.stage.tolist() == [1, 1, 2, 2]


def test_probes_on_another_task():
    longer = OnTask(Parity(6, 2, "serial"), (Outcome("rolled"),), "serial", 16)
    history = train(one(probes=(*PROBES, longer)), [0]).history
    assert "rolled.answer@serial" in history.metrics


def test_the_first_update_under_a_ratio_is_the_policy_gradient():
    task = Parity(6, 4)
    objective = PolicyGradient(credit(task.layout, "step"))
    model = positional(task, "policy-parity", "previous-level")

    def weights(objective, reuse):
        taught = (process_reward(task.layout, objective),)
        run = one(GD(0.5), 2, (Outcome("rolled"), ChildMass()), None, task, taught, model, reuse=reuse)
        return np.asarray(train(run, [0]).models.weights)

    np.testing.assert_allclose(weights(Clipped(objective, 0.2), 1), weights(objective, 1), atol=1e-7)
    assert np.abs(weights(Clipped(objective, 0.2), 3) - weights(objective, 1)).max() > 1e-3
    assert np.abs(weights(Clipped(objective, 0.0), 3) - weights(Clipped(objective, 1e-6), 3)).max() > 1e-4
    with pytest.raises(SpecError, match="use objective=Clipped"):
        weights(objective, 2)


@pytest.mark.parametrize("fields", [{"dropout": 0.1}, {"weights": "bfloat16"}, {"compute": "bfloat16"}])
def test_dropout_and_bf16_train(fields):
    task = Parity(6, 4)
    model = gpt(task, width=16, **fields)
    taught = (teacher_forcing(task.layout, CrossEntropy()),)
    trained = train(one(Clip(Adam(1e-2), 1.0), 4, (Loss(), Outcome("forced")), None, task, taught, model), [0])
    assert np.isfinite(trained.history.last("own.loss")).all()
    assert trained.model(0).net.tokens.dtype == jnp.dtype(fields.get("weights", "float32"))


def test_chains_that_count_less():
    chains = TASK.sample(TASK.draw(jax.random.key(0)), jax.random.key(1), 8)
    half = dataclasses.replace(chains, weight=jnp.array([1.0, 1, 1, 1, 0, 0, 0, 0]))
    first = jax.tree.map(lambda leaf: leaf[..., :4], chains)
    model, secret = positional(TASK), TASK.draw(jax.random.key(0))
    for objective in (Squared(), Hinge()):
        term = Supervision(FORCED[0].prefix, TrueLabels(), np.ones((1, 1)), objective)
        found = [float(term(model, TASK, secret, each, None)) for each in (half, first)]
        assert found[0] == pytest.approx(found[1], rel=1e-5)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: one(goal=Until("accuracy")), "a goal is something measured: 'accuracy'; use one of own.loss"),
        (lambda: one(until=Until("forced.chain")), "'forced.chain'"),
        (lambda: one(model=gated(Parity(8, 4))), "make it from the task"),
        (lambda: one(taught=(teacher_forcing(TASK.layout, CrossEntropy()),)), "got CrossEntropy for a"),
        (lambda: one(taught=(process_reward(TASK.layout),), model=perceptron(TASK)), "got sampled thoughts"),
        (lambda: one(task=Parity(6, 3, "serial"), taught=(teacher_forcing(Parity(6, 3, "serial").layout),),
                     model=positional(Parity(6, 3, "serial"), mask="previous-level")), "the mask hides its children"),
        (lambda: one(task=Composition("C3", 3), model=gpt(Composition("C3", 3), width=16),
                     taught=(Supervision(OwnPrefix("soft"), TrueLabels(), np.ones((2, 1)), Squared()),)), "need signs"),
    ],
)  # fmt: skip
def test_refusals_before_anything_compiles(make, words):
    with pytest.raises(SpecError, match=words):
        train(make(), [0])


def test_a_plan_still_takes_one_rule():
    assert len(stages(TASK, [FORCED[0]], Sampled(4), GD(1.0), 25)) == 1


def test_what_a_model_says_has_a_shape():
    class Talkative(AbstractModel):
        weights: jax.Array

        def predict(self, chain, depth=None, key=None):
            return SignLogits((self.weights @ chain.tokens[:6, 0].astype(jnp.float32))[:, None])

    model = Talkative(jnp.zeros((2, 6)))  # of one
    with pytest.raises(SpecError, match=r"allowed is .* one for each thought and slot"):
        train(one(model=model, taught=(teacher_forcing(TASK.layout, CrossEntropy()),)), [0])
    with pytest.raises(SpecError, match=r"a metric is one of .*own.loss"):
        train(one(), [0]).history.last("accuracy")
