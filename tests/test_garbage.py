"""How often Python looks for garbage."""

import gc

import pytest

from sorites.garbage import RARELY, collecting_rarely
from sorites.models import positional
from sorites.probes import Loss
from sorites.supervision import Sampled, teacher_forcing
from sorites.tasks import Parity
from sorites.training import Adam, Evaluation, Run, stages, train

OFTEN = (700, 10, 10)


@pytest.fixture
def usual():
    """Thresholds that are nobody's."""
    before = gc.get_threshold()
    gc.set_threshold(*OFTEN)
    yield
    gc.set_threshold(*before)


def test_thresholds_come_back(usual):
    @collecting_rarely()
    def fails():
        assert gc.get_threshold() == RARELY
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert gc.get_threshold() == OFTEN


def test_a_training_looks_rarely(usual):
    task, found = Parity(bits=6, sparsity=2), []
    taught = [teacher_forcing(task.layout)]
    plan = stages(task, taught, Sampled(16), Adam(0.01), 4, Evaluation(2, 16, (Loss(),)))
    train(Run(positional(task), plan), range(2), progress=lambda now: found.append(gc.get_threshold()))
    assert set(found) == {RARELY}
    assert gc.get_threshold() == OFTEN
