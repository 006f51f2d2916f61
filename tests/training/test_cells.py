"""A step in a cell: a finite loss and finite weights, or a sentence."""

import json
import os

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models import MODELS
from sorites.report.figures import results_folder
from sorites.training.cells import COUNTED, SUPERVISIONS, TASKS, Sizes, cell, cells, run_named, task_named
from sorites.training.member import init_member, make_pool, start_stage, train_step


@eqx.filter_jit
def _step(run, number: int):
    """The loss of the first step of a stage, and what it makes of the weights."""
    member = init_member(run, jnp.asarray(0))
    for stage in run.stages[: number + 1]:
        member = start_stage(stage, member)
    moved, loss = train_step(run.stages[number], member, make_pool(run.stages[number], member))
    return loss, moved.model


def pairs(each):
    task, model, supervision = each
    return {(task, model), (task, supervision), (model, supervision)}


def tried():
    """Cells that train, so many that every two words that go together meet; all of them with EVERY_CELL=1."""
    rows = json.loads((results_folder() / "cells.json").read_text())["cells"]
    trains = [(row["task"], row["model"], row["supervision"]) for row in rows]
    if os.environ.get("EVERY_CELL"):
        return trains
    chosen, left = [], set().union(*map(pairs, trains))
    while left:
        chosen.append(max(trains, key=lambda each: len(pairs(each) & left)))
        left -= pairs(chosen[-1])
    return chosen


@pytest.mark.parametrize(("task", "model", "supervision"), tried())
def test_a_step(task, model, supervision):
    run = cell(task, model, supervision, batch=8, count=8).run
    assert run is not None
    loss, moved = _step(run, len(run.stages) - 1)  # the last stage: the only one that self-training has of its own
    assert np.isfinite(loss)
    for leaf in jax.tree.leaves(eqx.filter(moved, eqx.is_inexact_array)):
        assert np.isfinite(np.asarray(leaf, np.float32)).all()


def test_which_cells_train():
    found = list(cells())
    assert len(found) == len(COUNTED) * len(MODELS) * len(SUPERVISIONS)
    trains = [each.model for each in found if each.state == "trains"]
    assert len(trains) >= 60
    assert trains.count("gpt") >= 16
    assert trains.count("decoder") >= 8
    rows = json.loads((results_folder() / "cells.json").read_text())["cells"]
    assert {(row["task"], row["model"], row["supervision"]) for row in rows} == {
        (each.task, each.model, each.supervision) for each in found if each.run is not None
    }
    for each in found:
        if each.run is None:
            assert each.why.endswith(".") is False
            assert ";" in each.why  # rule and value; remedy


def test_names_and_sizes():
    assert set(TASKS) >= {"parity", "and", "or", "lego", "composition"}
    assert task_named("parity", Sizes(12, 3, "flat")).layout.thoughts == 1
    run = run_named("lego", "decoder", "self-training", batch=4)
    assert run.stages[1].task.length == 2 * run.stages[0].task.length
    assert run.goal.metric == "rolled.answer@long"
    for words, make in {
        "task='partiy'": lambda: task_named("partiy"),
        "model='gatd'": lambda: run_named("parity", "gatd", "direct"),
        "supervision='none'": lambda: run_named("parity", "gated", "none"),
    }.items():
        with pytest.raises(SpecError, match=words):
            make()
