"""Faults of a second draw that the tests of the core let live or did not reach."""

import dataclasses
import io
import math
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
import pytest

from sorites.models.positional import positional
from sorites.store import compaction
from sorites.store.folder import Folder
from sorites.store.frames import history_bytes, history_from, members_bytes, shapes
from sorites.supervision import Sampled, teacher_forcing
from sorites.tasks import Parity
from sorites.tasks.actions import Action
from sorites.theory.products import correlation_bound
from sorites.training import GD, Evaluation, Run, Stage, cost, train


@pytest.fixture(scope="module")
def two_stages():
    """Four steps looked at every second one, then four looked at after each."""
    task = Parity(4, 2)
    term = (teacher_forcing(task.layout),)
    run = Run(positional(task), [Stage(task, term, Sampled(16), GD(1.0), 4, Evaluation(n, 16)) for n in (2, 1)])
    return run, train(run, range(3)).history


def test_a_member_may_be_solved_before_the_first_step(two_stages):
    history = dataclasses.replace(two_stages[1], solved_at=np.array([-1, 0, 7], np.int32))
    stored = members_bytes(["a", "b", "c"], history)
    assert pl.read_parquet(io.BytesIO(stored))["solved_at"].to_list() == [None, 0, 7]
    again = history_from(history_bytes(["a", "b", "c"], history), stored, shapes(history))
    again.solved_at[0] = 3  # arrays of one's own
    assert again.solved_at.tolist() == [3, 0, 7]


def test_steps_are_counted_by_their_own_stage(two_stages):
    run, history = two_stages
    never = dataclasses.replace(history, solved_at=np.full(3, -1))
    assert cost.spent(run, never).tolist() == [[4, 4]] * 3


@pytest.mark.parametrize(("limit", "value"), [("MOST", 4), ("BYTES", 2)])
def test_every_part_is_as_full_as_the_first(monkeypatch, limit, value):
    monkeypatch.setattr(compaction, limit, value)
    folder = Folder(Path("x"), {"members": [{"id": "a"}, {"id": "b"}]}, {"files": {"a": {"bytes": 1}}})
    assert [len(part) for part in compaction._parts([folder] * 6)] == [2, 2, 2]


def test_an_action_that_leads_not_everywhere():
    assert not Action("still", np.array([[0, 1]])).transitive
    assert Action("swaps", np.array([[0, 1], [1, 0]])).transitive


def test_bound_of_lemma_5():
    """32 * 10^4 / 0.1 = 3.2e6."""
    assert correlation_bound(200, 10, 0.1) == pytest.approx(math.sqrt(0.01 * math.log(3.2e6)))


def test_products_of_a_program_are_added():
    program = jax.make_jaxpr(lambda a, b: (a @ b) @ b)(jnp.zeros((3, 5)), jnp.zeros((5, 5)))
    assert cost.products(program.jaxpr) == 2 * 2 * 3 * 5 * 5
