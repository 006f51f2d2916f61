"""Which programs are compiled soon, and that this changes rounding alone."""

import equinox as eqx
import jax
import numpy as np
import pytest

from sorites.models import decoder, gpt, positional
from sorites.probes import Loss, Outcome
from sorites.supervision import Sampled, teacher_forcing
from sorites.tasks import Lego, Parity
from sorites.training import GD, Evaluation, Run, compiler, ensemble, stages, train
from sorites.training.trees import on_device, stacked

TASK = Parity(bits=6, sparsity=2)


def run_of(make, task=TASK) -> Run:
    probes = (Loss(), Outcome("forced"))
    return Run(
        make(task), stages(task, [teacher_forcing(task.layout)], Sampled(16), GD(0.5), 4, Evaluation(2, 16, probes))
    )


@pytest.fixture
def unsaid(monkeypatch):
    """Nobody asks the compiler for anything."""
    monkeypatch.setenv("XLA_FLAGS", "")
    compiler.program.cache_clear()
    yield
    compiler.program.cache_clear()


@pytest.mark.parametrize(
    ("backend", "soon", "wanted"), [("cpu", True, compiler.SOON), ("cpu", False, None), ("gpu", False, compiler.GPU)]
)
def test_options_are_those_of_the_backend(unsaid, monkeypatch, backend, soon, wanted):
    assert compiler.options(backend, soon) == wanted
    for name in wanted or ():
        monkeypatch.setenv("XLA_FLAGS", f"--{name}=true")
        assert compiler.options(backend, soon) is None  # whoever says so decides


def test_a_compiler_that_does_not_know_them_is_not_asked(unsaid, monkeypatch):
    monkeypatch.setattr(compiler, "SOON", {"xla_no_such_option": 1})
    compiler._known.cache_clear()
    assert compiler.options("cpu", True) is None
    compiler._known.cache_clear()


def test_long_trainings_are_compiled_well():
    """Members that run together share the machine; of those apart each is judged by itself."""
    run, steps = run_of(positional), [10**6]
    bound = compiler.SHORT / (10**6 * 16 * TASK.layout.positions * run.model.weights_count)
    fits, beyond = int(bound), int(bound) + 1
    assert fits >= 1
    assert compiler.short(run, steps, fits, "together")
    assert not compiler.short(run, steps, beyond, "together")
    assert compiler.short(run, steps, beyond, "apart")
    assert not compiler.short(run, [steps[0] * beyond], 1, "alone")


WELL = {
    "xla_backend_optimization_level": 3,
    "xla_cpu_use_fusion_emitters": True,
}  # not as the tests do
known = pytest.mark.skipif(not compiler._known("cpu"), reason="this release of the compiler has no such options")


@known
@pytest.mark.parametrize("make", [positional, gpt, decoder])
def test_new_members_are_the_same_to_the_bit(unsaid, make):
    """So that what a member is does not depend on how long it will train."""
    task = Lego("C3", 2, 8) if make is decoder else TASK
    run, seeds = stacked([run_of(make, task)] * 2), on_device(np.arange(2, dtype=np.int32))
    well = eqx.filter_jit(ensemble._born, compiler_options=WELL)
    found = (each(run, seeds, "together").model for each in (compiler.program(ensemble._born, "cpu", soon=True), well))
    for ours, theirs in zip(*(jax.tree.leaves(eqx.filter(model, eqx.is_array)) for model in found), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@known
def test_a_short_training_differs_in_rounding_alone(unsaid, monkeypatch):
    soon = train(run_of(positional), range(2)).history.metrics
    monkeypatch.setattr(compiler, "options", lambda backend, soon: WELL)
    compiler.program.cache_clear()
    well = train(run_of(positional), range(2)).history.metrics
    for name in soon:
        np.testing.assert_allclose(soon[name], well[name], rtol=1e-5, atol=1e-6)
