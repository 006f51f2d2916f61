"""One tiny run, trained once for the whole folder."""

import shutil

import numpy as np
import pytest

from sorites.models.gated import gated
from sorites.store import Store
from sorites.supervision import Sampled, teacher_forcing
from sorites.tasks import Parity
from sorites.training import GD, Evaluation, Run, stages

SEEDS = (3, 0, 7)


def tiny(rate=0.5, sparsity=4, steps=4):
    task = Parity(bits=6, sparsity=sparsity)
    taught = [teacher_forcing(task.layout)] * 2
    return Run(gated(task), stages(task, taught, Sampled(16), GD(rate), steps, Evaluation(2, 16)))


@pytest.fixture(scope="session")
def run():
    return tiny()


@pytest.fixture(scope="session")
def made(run, tmp_path_factory):
    """(root, outcome) of a store with one folder of three members; tests copy the root."""
    root = tmp_path_factory.mktemp("made") / "store"
    return root, Store(root).train(run, SEEDS, strategy="sequential")


@pytest.fixture
def store(made, tmp_path):
    shutil.copytree(made[0], tmp_path / "store")
    return Store(tmp_path / "store")


@pytest.fixture
def no_training(monkeypatch):
    def refuse(*arguments, **keywords):
        raise AssertionError("trained again")

    monkeypatch.setattr("sorites.store.store.train", refuse)


@pytest.fixture
def counted(monkeypatch):
    """The seeds of every training from here on."""
    from sorites.training import train

    calls = []

    def count(runs, seeds, *rest, **named):
        calls.append(list(seeds))
        return train(runs, seeds, *rest, **named)

    monkeypatch.setattr("sorites.store.store.train", count)
    return calls


def assert_same(first, second):
    """Two ensembles are equal bit by bit, dtypes included."""
    import jax

    a, b = first.history._arrays(), second.history._arrays()
    assert a.keys() == b.keys()
    for name in a:
        assert a[name].dtype == b[name].dtype, name
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)
    leaves = [jax.tree.leaves(each.models) for each in (first, second)]
    assert jax.tree.structure(first.models) == jax.tree.structure(second.models)
    for one, other in zip(*leaves, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


@pytest.fixture(scope="session")
def same():
    return assert_same


@pytest.fixture(scope="session")
def make():
    return tiny


@pytest.fixture(scope="session")
def seeds():
    return SEEDS
