"""Compiler options of programs: optimized, or fast; and what both compile to."""

import os
import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.fast import compiler
from sorites.models.decoder import decoder
from sorites.models.gpt import gpt
from sorites.models.positional import positional
from sorites.probes import Loss, Outcome
from sorites.runtime.process import OURS, fast_compile_flags, has_accelerator
from sorites.supervision import Sampled, teacher_forcing
from sorites.sweeps.endings import cut
from sorites.tasks import Lego, Parity
from sorites.training import Adam, Evaluation, Run, ensemble, stages, train
from sorites.training.trees import stacked, to_device

FAST, OPTIMIZED = compiler.FAST, compiler.OPTIMIZED
known = pytest.mark.skipif(not all(compiler._exists(*each) for each in FAST), reason="a compiler without these options")


@pytest.fixture
def no_flags(monkeypatch):
    """A process in which neither the user nor `configure` has set a flag."""
    monkeypatch.setenv("XLA_FLAGS", "")
    monkeypatch.setenv(OURS, "")
    monkeypatch.delenv("NPROC", raising=False)


@pytest.fixture
def made(no_flags, monkeypatch):
    """The function and the options of every program."""
    found = []
    monkeypatch.setattr(compiler, "_jitted", lambda function, donate, options: found.append((function, options)))
    return found


@known
@pytest.mark.parametrize(
    ("backend", "fast", "wanted"), [("cpu", True, FAST), ("cpu", False, ()), ("gpu", False, compiler.GPU)]
)
def test_an_option_that_the_user_has_set_is_left_alone(no_flags, monkeypatch, backend, fast, wanted):
    monkeypatch.setattr(compiler, "backend", lambda: backend)
    assert compiler.options(fast) == wanted
    for name, _ in wanted:
        monkeypatch.setenv("XLA_FLAGS", f"--{name}=true")
        assert compiler.options(fast) == tuple(each for each in wanted if each[0] != name)


@known
def test_a_single_thread_compiles_in_one_piece(no_flags, monkeypatch):
    monkeypatch.setenv("NPROC", "1")
    assert compiler.options(True) == FAST + compiler.ONE_PIECE
    assert compiler.options(False) == ()


@known
def test_trainings_are_optimized_also_where_the_process_compiles_fast(no_flags, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", fast_compile_flags())
    monkeypatch.setenv(OURS, fast_compile_flags())
    assert compiler.options(False) == OPTIMIZED
    assert compiler.options(True) == FAST
    monkeypatch.setenv("XLA_FLAGS", f"{fast_compile_flags()} --xla_dump_to=there")
    assert compiler.options(False) == OPTIMIZED
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=2")
    assert compiler.options(False) == OPTIMIZED[1:]


def test_an_option_that_this_compiler_lacks_is_left_out(no_flags, monkeypatch):
    monkeypatch.setattr(compiler, "FAST", (("xla_no_such_option", 1),))
    assert compiler.options(True) == ()


@known
def test_decorators_compile_as_they_say(made):
    for way in (compiler.optimized, compiler.fast_compile):
        with pytest.raises(TypeError):  # `_jitted` is replaced and returns nothing
            way(len)(jnp.zeros(3))
    assert made == [(len, ()), (len, FAST)]


@pytest.mark.parametrize("way", [compiler.optimized, compiler.fast_compile])
def test_a_decorated_function_is_traced_once(way):
    traced = []

    @way
    def power(base, *, exponent):
        traced.append(exponent)
        return base**exponent

    assert [float(power(jnp.asarray(base), exponent=3)) for base in (2.0, 3.0)] == [8, 27]
    assert traced == [3]


PROGRAM = """
import sys
from sorites.runtime import configure
if sys.argv[1] == "command line":
    configure()
import hashlib, jax, numpy as np
from sorites.models.gated import gated
from sorites.supervision import Sampled, teacher_forcing
from sorites.tasks import Parity
from sorites.training import AdamW, Evaluation, Run, stages, train
task = Parity(bits=6, sparsity=2)
taught = [teacher_forcing(task.layout)]
run = Run(gated(task), stages(task, taught, Sampled(64), AdamW(rate=0.3), 20, Evaluation(int(sys.argv[2]), 32)))
models = train(run, range(2)).models
print(hashlib.sha256(b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(models))).hexdigest())
"""


@known
@pytest.mark.skipif(has_accelerator(), reason="configure sets no flags there")
@pytest.mark.parametrize("every", [1, 5])
def test_the_command_line_and_a_library_user_get_equal_bits(every):
    clean = {name: value for name, value in os.environ.items() if name not in ("XLA_FLAGS", OURS)}
    found = []
    for where in ("command line", "library"):
        command = [sys.executable, "-c", PROGRAM, where, str(every)]
        found.append(subprocess.run(command, check=True, capture_output=True, text=True, env=clean).stdout.strip())
    assert found[0] == found[1]
    assert len(found[0]) == 64


def test_runs_that_are_evaluated_at_every_step_are_compiled_fast(made):
    """Whatever their length, so that a shortened run rounds as the whole one."""
    task = Parity(bits=6, sparsity=2)
    taught = [teacher_forcing(task.layout)]
    both = [stages(task, taught, Sampled(16), Adam(0.01), 8, Evaluation(every, 16, (Loss(),)))[0] for every in (1, 2)]
    for first, second in (both, both[::-1]):
        run = Run(positional(task), (first, second))
        for each in (run, cut(run, 4)):
            with pytest.raises((AttributeError, TypeError)):  # `_jitted` is replaced and returns nothing
                train(each, range(2))
    fast = [bool(options) for function, options in made if function is ensemble.train_members]
    assert fast == [True, True, False, False]


def run_of(make) -> Run:
    task = Lego("C3", 2, 8) if make is decoder else Parity(bits=6, sparsity=2)
    evaluation = Evaluation(4, 16, (Loss(), Outcome("forced")))
    return Run(make(task), stages(task, [teacher_forcing(task.layout)], Sampled(16), Adam(0.01), 8, evaluation))


@known
@pytest.mark.parametrize("make", [positional, gpt, decoder])
def test_new_members_have_equal_bits_however_their_program_is_compiled(no_flags, make):
    run, seeds = stacked([run_of(make)] * 2), to_device(np.arange(2, dtype=np.int32))
    optimized = eqx.filter_jit(ensemble.init_members, compiler_options=dict(OPTIMIZED))
    fast = compiler.compiled(ensemble.init_members, fast_compile=True)
    trees = [eqx.filter(each(run, seeds), eqx.is_array) for each in (optimized, fast)]
    for one, other in zip(*map(jax.tree.leaves, trees), strict=True):
        assert jnp.array_equal(one, other)


@known
def test_a_decoder_is_compiled_fast_and_trained_to_the_same_weights(no_flags, monkeypatch):
    def trained(options):
        monkeypatch.setattr(compiler, "FAST", options)
        return train(run_of(decoder), range(2))

    fast, optimized = trained(FAST), trained(OPTIMIZED)
    assert compiler.compile_training_fast(run_of(decoder).model, 4)
    assert not compiler.compile_training_fast(run_of(positional).model, 4)
    for one, other in zip(jax.tree.leaves(fast.models), jax.tree.leaves(optimized.models), strict=True):
        np.testing.assert_array_equal(one, other)
    for name, values in fast.history.metrics.items():
        np.testing.assert_allclose(values, optimized.history.metrics[name], rtol=1e-5, atol=1e-6)
