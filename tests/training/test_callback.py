"""A callback sees what the history holds, once for each evaluation, and changes nothing."""

import dataclasses

import equinox as eqx
import jax
import numpy as np
import pytest

from sorites.models.gated import gated
from sorites.store import Store
from sorites.supervision import Sampled
from sorites.training import AdamW, Checkpoint, Run, Until, log_icot, stages, train

SEEDS = [0, 1, 2]


class Seen:
    """A callback that keeps what it is called with, and then spoils it."""

    def __init__(self):
        self.steps, self.stages, self.metrics, self.members = [], [], [], []

    def __call__(self, step, metrics, members):
        self.steps.append(step)
        self.stages.append(members.stage)
        self.metrics.append({name: values.copy() for name, values in metrics.items()})
        self.members.append({name: getattr(members, name).tolist() for name in ("solved", "finished", "diverged")})
        assert members.seeds.tolist() == SEEDS[: len(members.seeds)]
        for values in (*metrics.values(), members.seeds, members.solved, members.finished, members.diverged):
            values[:] = 1


def assert_same(one, other):
    for mine, theirs in zip(jax.tree.leaves(one.models), jax.tree.leaves(other.models), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    for field in ("seeds", "step", "solved_at", "samples"):
        np.testing.assert_array_equal(getattr(one.history, field), getattr(other.history, field))
    for name, values in one.history.metrics.items():
        np.testing.assert_array_equal(values, other.history.metrics[name])


def test_it_sees_the_history_and_changes_no_number(run, trained):
    seen = Seen()
    assert_same(train(run, SEEDS, "vmap", callback=seen), trained)
    history = trained.history
    assert seen.steps == history.step.tolist()
    assert seen.stages == history.stage.tolist()
    for name, values in history.metrics.items():
        np.testing.assert_array_equal(np.stack([each[name] for each in seen.metrics], axis=1), values)
    assert seen.members[-1]["finished"] == [True] * 3
    assert seen.members[0]["finished"] == seen.members[-2]["finished"] == [False] * 3


@pytest.fixture(scope="module")
def leaving(task, evaluation):
    """Members reach the goal, and leave, at different evaluations; one diverges."""
    supervisions = log_icot(task.layout)[:1]

    def one(rate, weight=0.0):
        made = stages(task, supervisions, Sampled(64), AdamW(rate), 30, evaluation)
        model = eqx.tree_at(lambda m: m.weights, gated(task), [each + weight for each in gated(task).weights])
        return Run(model, made, Until("own.loss", 0.1, falls=True)).until_goal()

    return [one(0.3), one(0.1), one(1e38, 3.4e38)]


def test_what_it_is_told_of_members_does_not_depend_on_chunks(leaving):
    told = {}
    for chunk in (1, 25):
        told[chunk] = seen = Seen()
        history = train(leaving, SEEDS, "sequential", chunk=chunk, callback=seen).history
        assert seen.steps == history.step.tolist()
        for step, members in zip(seen.steps, seen.members, strict=True):
            assert members["solved"] == ((history.solved_at >= 0) & (history.solved_at <= step)).tolist()
            assert members["finished"][:2] == members["solved"][:2]
    assert told[1].members == told[25].members
    assert history.solved_at[0] != history.solved_at[1]
    assert [members["diverged"] for members in told[1].members][1] == [False, False, True]


def test_an_exception_ends_the_training_which_can_be_resumed(run, trained, tmp_path):
    def stop(step, metrics, members):
        if (step, members.stage) == (2, 1):
            raise KeyError("enough")

    here, seen = Checkpoint(tmp_path / "here.npz", "me", 0), Seen()
    with pytest.raises(KeyError, match="enough"):
        train(run, SEEDS, "vmap", chunk=1, checkpoint=here, callback=stop)
    assert_same(train(run, SEEDS, "vmap", chunk=1, checkpoint=here, callback=seen), trained)
    assert list(zip(seen.stages, seen.steps, strict=True)) == [(1, 4), (2, 4), (2, 6), (2, 8)]


def test_a_store_reports_what_it_trains(run, tmp_path):
    seen, store = Seen(), Store(tmp_path)
    store.train(run, SEEDS[:1], callback=seen)
    assert seen.steps == [0, 2, 4, 4, 6, 8]
    store.train(run, SEEDS[:1], callback=seen)
    assert len(seen.steps) == 6  # a stored member makes no evaluation


def test_progress_has_metrics(run, trained):
    told = []
    train(run, SEEDS, "vmap", progress=told.append)
    np.testing.assert_array_equal(told[-1].metrics["own.loss"], trained.history.metrics["own.loss"][:, -1])
    assert dataclasses.replace(told[-1], metrics={}) == told[-1]  # arrays are not compared
