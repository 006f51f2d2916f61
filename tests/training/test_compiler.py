"""What the compiler is asked for, and that a program that is made soon makes the same."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.models import decoder, gpt, positional
from sorites.probes import Loss, Outcome
from sorites.supervision import Sampled, teacher_forcing
from sorites.tasks import Lego, Parity
from sorites.training import Adam, Evaluation, Run, compiler, ensemble, stages, train
from sorites.training.trees import on_device, stacked

WELL = (("xla_backend_optimization_level", 3), ("xla_cpu_use_fusion_emitters", True))  # not as these tests are compiled
known = pytest.mark.skipif(not all(compiler._known(*each) for each in compiler.SOON), reason="a compiler without them")


@pytest.fixture
def unsaid(monkeypatch):
    """Nobody has asked the compiler for anything."""
    monkeypatch.setenv("XLA_FLAGS", "")


@pytest.fixture
def told(unsaid, monkeypatch):
    """The options of every program that is made."""
    found = []
    monkeypatch.setattr(compiler, "_program", lambda function, donate, options: found.append((function, options)))
    return found


@known
@pytest.mark.parametrize(
    ("backend", "soon", "wanted"), [("cpu", True, compiler.SOON), ("cpu", False, ()), ("gpu", False, compiler.GPU)]
)
def test_options_are_those_of_the_backend(told, monkeypatch, backend, soon, wanted):
    compiler.program(len, backend, soon)
    for name, _ in wanted:
        monkeypatch.setenv("XLA_FLAGS", f"--{name}=true")
        compiler.program(len, backend, soon)
    assert told == [(len, wanted), *((len, tuple(each for each in wanted if each is not one)) for one in wanted)]


def test_a_compiler_is_not_asked_for_what_it_does_not_know(told, monkeypatch):
    monkeypatch.setattr(compiler, "SOON", (("xla_no_such_option", 1),))
    compiler.program(len, "cpu", True)
    assert told == [(len, ())]


def run_of(make) -> Run:
    task = Lego("C3", 2, 8) if make is decoder else Parity(bits=6, sparsity=2)
    evaluation = Evaluation(4, 16, (Loss(), Outcome("forced")))
    return Run(make(task), stages(task, [teacher_forcing(task.layout)], Sampled(16), Adam(0.01), 8, evaluation))


def same(ours, theirs) -> None:
    for one, other in zip(*(jax.tree.leaves(eqx.filter(each, eqx.is_array)) for each in (ours, theirs)), strict=True):
        assert jnp.array_equal(one, other)  # keys, too


@known
@pytest.mark.parametrize("make", [positional, gpt, decoder])
def test_new_members_are_the_same_to_the_bit(unsaid, make):
    run, seeds = stacked([run_of(make)] * 2), on_device(np.arange(2, dtype=np.int32))
    well = eqx.filter_jit(ensemble._born, compiler_options=dict(WELL))
    same(compiler.program(ensemble._born, "cpu", soon=True)(run, seeds, "together"), well(run, seeds, "together"))


@known
def test_a_decoder_is_trained_to_the_same_weights_soon(unsaid, monkeypatch):
    """Its program is the one made soon; a positional model's is not."""
    asked, program = [], compiler._program

    def noted(function, donate, options):
        asked.append((function, options))
        return program(function, donate, options)

    monkeypatch.setattr(compiler, "_program", noted)
    soon = train(run_of(decoder), range(2))
    assert (ensemble._advanced, compiler.SOON) in asked
    monkeypatch.setattr(compiler, "SOON", WELL)
    well = train(run_of(decoder), range(2))
    assert (ensemble._advanced, WELL) in asked
    same(soon.models, well.models)
    for name, values in soon.history.metrics.items():
        np.testing.assert_allclose(values, well.history.metrics[name], rtol=1e-5, atol=1e-6)
    asked.clear()
    train(run_of(positional), range(2))
    assert (ensemble._advanced, ()) in asked
