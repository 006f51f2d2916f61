"""One step in every cell: a finite loss and finite weights, or a sentence."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models import MODELS
from sorites.training.cells import COUNTED, SUPERVISIONS, TASKS, Sizes, cell, cells, run_named, task_named
from sorites.training.member import born, enter, pool, step


@eqx.filter_jit
def _step(run, number: int):
    """The loss of the first step of a stage, and what it makes of the weights."""
    member = born(run, jnp.asarray(0))
    for stage in run.stages[: number + 1]:
        member = enter(stage, member)
    moved, loss = step(run.stages[number], member, pool(run.stages[number], member))
    return loss, moved.model


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("task", COUNTED)
def test_a_step_in_every_cell(task, model):
    structures = set()
    for supervision in SUPERVISIONS:
        here = cell(task, model, supervision, batch=8, count=8)
        if here.run is None:
            assert here.why.endswith(".") is False
            assert ";" in here.why  # rule and value; remedy
            continue
        number = len(here.run.stages) - 1  # the last stage: the only one that self-training has of its own
        structure = jax.tree.structure(here.run.stages[number]), number
        if structure in structures:  # another padding of the same program
            continue
        structures.add(structure)
        loss, moved = _step(here.run, number)
        assert np.isfinite(loss), (task, model, supervision)
        for leaf in jax.tree.leaves(eqx.filter(moved, eqx.is_inexact_array)):
            assert np.isfinite(np.asarray(leaf, np.float32)).all(), (task, model, supervision)
    jax.clear_caches()


def test_how_many_cells_train():
    states = [(each.model, each.state) for each in cells()]
    assert len(states) == len(COUNTED) * len(MODELS) * len(SUPERVISIONS)
    trains = [model for model, state in states if state == "trains"]
    assert len(trains) >= 60
    assert trains.count("gpt") >= 16
    assert trains.count("decoder") >= 8


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
