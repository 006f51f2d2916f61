"""How often Python looks for garbage."""

import gc

import pytest

from sorites.garbage import RARELY, collecting_rarely
from sorites.models import positional
from sorites.probes import Loss
from sorites.supervision import Sampled, teacher_forcing
from sorites.tasks import Parity
from sorites.training import Adam, Evaluation, Run, stages, train

OFTEN = (701, 11, 10)


@pytest.fixture
def usual():
    """Thresholds that are nobody's."""
    before = gc.get_threshold()
    gc.set_threshold(*OFTEN)
    yield
    gc.set_threshold(*before)


def thresholds():
    return gc.get_threshold()[:2]  # the third is none of Python 3.14's


def test_thresholds_come_back(usual):
    @collecting_rarely()
    def fails():
        assert thresholds() == RARELY[:2]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert thresholds() == OFTEN[:2]


@pytest.mark.parametrize("rarer", [0, RARELY[0] + 1])
def test_whoever_looks_as_rarely_is_left_alone(usual, rarer):
    gc.set_threshold(rarer)
    with collecting_rarely():
        assert gc.get_threshold()[0] == rarer
    assert gc.get_threshold()[0] == rarer


def test_a_training_looks_rarely(usual):
    task, found = Parity(bits=6, sparsity=2), []
    taught = [teacher_forcing(task.layout)]
    plan = stages(task, taught, Sampled(16), Adam(0.01), 4, Evaluation(2, 16, (Loss(),)))
    train(Run(positional(task), plan), range(2), progress=lambda now: found.append(thresholds()))
    assert set(found) == {RARELY[:2]}
    assert thresholds() == OFTEN[:2]
