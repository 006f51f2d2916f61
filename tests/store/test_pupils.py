"""GPT pupils in the store: taught once, rebuilt whole, and never mistaken for one another."""

import dataclasses

import jax
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models import Architecture
from sorites.store import Store, check, list_runs
from sorites.tasks import Sequences
from sorites.training import Course, Pupil, teach

COURSE = Course(Sequences(12, 2, held_out=32), Architecture(1, 2, 16, 32, spread=0.1), batch=64, every=4, probed=8)
PUPILS = [Pupil(seed, sparsity, 1e-3, 8) for seed in (0, 5) for sparsity in (1, 2)]


@pytest.fixture
def calls(monkeypatch):
    """The pupils of every teaching from here on."""
    made = []

    def count(course, pupils, *rest, **named):
        made.append(list(pupils))
        return teach(course, pupils, *rest, **named)

    monkeypatch.setattr("sorites.store.store.teach", count)
    return made


def leaves(taught):
    return jax.tree.leaves((taught.models, taught.secrets, taught.history.metrics, taught.samples, taught.solved))


def test_a_pupil_is_taught_once_and_comes_back_whole(tmp_path, calls):
    plain = teach(COURSE, PUPILS)
    first = Store(tmp_path).teach(COURSE, PUPILS, group=2)
    assert calls == [PUPILS[:2], PUPILS[2:]]
    again = Store(tmp_path).teach(COURSE, PUPILS[::-1])
    assert len(calls) == 2
    for a, b, c in zip(leaves(plain), leaves(first), leaves(again), strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(b, np.asarray(c)[::-1])
    assert check(Store(tmp_path)) == []
    listed = list_runs(Store(tmp_path)).row(0, named=True)
    assert listed["task"].startswith("Sequences(bits=12")
    assert listed["model"].startswith("Architecture(")


@pytest.mark.parametrize("change", [{"seed": 6}, {"rate": 2e-3}, {"steps": 4}, {"sparsity": 2}, {"order": "drawn"}])
def test_another_pupil_is_another_member(tmp_path, calls, change):
    store = Store(tmp_path)
    store.teach(COURSE, PUPILS[:1])
    other = dataclasses.replace(PUPILS[0], **change)
    store.teach(COURSE, [other])
    assert calls == [PUPILS[:1], [other]]


def test_another_course_is_another_member(tmp_path, calls):
    store = Store(tmp_path)
    store.teach(COURSE, PUPILS[:1])
    store.teach(dataclasses.replace(COURSE, clip=1.0), PUPILS[:1])
    assert len(calls) == 2


def test_bad_numbers_are_refused(tmp_path):
    with pytest.raises(SpecError, match="at least one pupil"):
        Store(tmp_path).teach(COURSE, [])
    with pytest.raises(SpecError, match="at least one member"):
        Store(tmp_path).teach(COURSE, PUPILS, group=0)
