"""What the compiler is asked for, and that a program that is made soon makes the same."""

import os
import subprocess
import sys
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.flags import (
    LOOPS,
    OURS,
    accelerated,
    ask_for_loops_as_they_stand,
    ask_for_soonest,
    asked_by_others,
    soonest,
)
from sorites.models import decoder, gpt, positional
from sorites.probes import Loss, Outcome
from sorites.supervision import Sampled, teacher_forcing
from sorites.sweeps.endings import cut
from sorites.tasks import Lego, Parity
from sorites.training import Adam, Evaluation, Run, compiler, ensemble, stages, train
from sorites.training.trees import on_device, stacked

WELL = compiler.WELL  # not as these tests are compiled
known = pytest.mark.skipif(not all(compiler._known(*each) for each in compiler.SOON), reason="a compiler without them")


@pytest.fixture
def unsaid(monkeypatch):
    """Nobody has asked the compiler for anything."""
    monkeypatch.setenv("XLA_FLAGS", "")
    monkeypatch.delenv("NPROC", raising=False)


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


@pytest.fixture
def nothing_set(monkeypatch):
    for name in ("XLA_FLAGS", OURS):
        monkeypatch.setenv(name, "")  # so that what is set here goes with the test
        del os.environ[name]


def test_whoever_imports_asks_for_loops_as_they_stand(told, nothing_set, monkeypatch):
    ask_for_loops_as_they_stand()
    assert (os.environ["XLA_FLAGS"], os.environ[OURS], asked_by_others()) == (LOOPS, LOOPS, "")
    compiler.program(len, "cpu", soon=False)
    assert told == [(len, ())]  # nothing but that
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=there")  # somebody has asked for something else
    ask_for_loops_as_they_stand()
    ask_for_soonest()
    assert os.environ["XLA_FLAGS"] == "--xla_dump_to=there"


@known
def test_one_thread_makes_soon_what_is_in_one_piece(told, monkeypatch):
    monkeypatch.setenv("NPROC", "1")
    for soon in (True, False):
        compiler.program(len, "cpu", soon)
    assert told == [(len, compiler.SOON + compiler.WHOLE), (len, ())]


@known
def test_what_runs_long_is_compiled_well_whatever_the_command_line_asks(told, nothing_set, monkeypatch):
    ask_for_loops_as_they_stand()
    ask_for_soonest()
    assert os.environ["XLA_FLAGS"] == soonest() == os.environ[OURS]
    compiler.program(len, "cpu", soon=False)
    compiler.program(len, "cpu", soon=True)
    monkeypatch.setenv("XLA_FLAGS", f"{soonest()} --xla_dump_to=there")  # somebody has asked for more since
    compiler.program(len, "cpu", soon=False)
    assert asked_by_others() == "--xla_dump_to=there"
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=2")  # or for something else
    compiler.program(len, "cpu", soon=False)
    assert told == [(len, WELL), (len, compiler.SOON), (len, WELL), (len, WELL[1:])]


def test_the_command_line_asks_for_nothing_where_somebody_has(nothing_set, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=there")
    ask_for_soonest()
    assert (os.environ["XLA_FLAGS"], asked_by_others()) == ("--xla_dump_to=there",) * 2
    assert OURS not in os.environ


def test_the_command_line_asks_for_nothing_where_an_accelerator_is(nothing_set, monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [group])
    ask_for_loops_as_they_stand()
    ask_for_soonest()
    assert os.environ["XLA_FLAGS"] == LOOPS  # which is for the processor's programs alone


THREADS = """
import sys
from pathlib import Path
from sorites.flags import ask_for_one_thread
if sys.argv[1] == "ask":
    ask_for_one_thread()
import jax
jax.numpy.ones(3) + 1
print(sum("XLAEigen" in task.read_text() for task in Path("/proc/self/task").glob("*/comm")))
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted there")
def test_a_process_beside_others_has_one_thread():
    """Unless somebody has said how many."""
    free = {name: value for name, value in os.environ.items() if name != "NPROC"}

    def threads(word: str, **said: str) -> int:
        done = subprocess.run([sys.executable, "-c", THREADS, word], env=free | said, capture_output=True, check=True)
        return int(done.stdout)

    assert (threads("ask"), threads("ask", NPROC="3")) == (1, 3)
    assert threads("leave") == len(os.sched_getaffinity(0))


PRODUCTS = """
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from sorites.flags import THREADS, one_thread_each
import numpy as np

def count():
    np.ones((300, 300)) @ np.ones((300, 300))
    return len(os.listdir("/proc/self/task"))

if __name__ == "__main__":
    for name in THREADS:
        os.environ.pop(name, None)
    os.environ["OMP_NUM_THREADS"] = "2"
    found = []
    for begun in (one_thread_each(), None):
        pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        if begun is None:
            future = pool.submit(count)
        else:
            with begun:
                future = pool.submit(count)
        found.append(future.result())
        pool.shutdown()
    print(*found, *(os.environ.get(name) for name in THREADS))
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted there")
def test_processes_beside_others_have_one_thread_for_numpys_products(tmp_path):
    """numpy asks when it is loaded, so they must begin with it; what was there before is there again."""
    (tmp_path / "counts.py").write_text(PRODUCTS)
    done = subprocess.run([sys.executable, tmp_path / "counts.py"], capture_output=True, check=True, text=True)
    alone, free, *left = done.stdout.split()
    assert left == ["None", "None", "2"]
    if len(os.sched_getaffinity(0)) > 1:
        assert int(alone) < int(free)


def test_an_accelerator_may_be_all_that_is_open(monkeypatch):
    def closed(platform):
        raise RuntimeError(f"Unknown backend {platform}")

    monkeypatch.setattr(jax, "devices", closed)
    with compiler.on_processor():
        assert jax.config.values["jax_default_device"] is None


@known
def test_a_function_is_compiled_as_it_says(told):
    for way in (compiler.well, compiler.soon):
        with pytest.raises(TypeError):  # nothing is made here
            way(len)(jnp.zeros(3))
    assert told == [(len, ()), (len, compiler.SOON)]


@pytest.mark.parametrize("way", [compiler.well, compiler.soon])
def test_a_function_that_runs_long_is_a_program(way):
    asked = []

    @way
    def power(base, *, exponent):
        asked.append(exponent)
        return base**exponent

    assert [float(power(jnp.asarray(base), exponent=3)) for base in (2.0, 3.0)] == [8, 27]
    assert asked == [3]  # traced once


PROGRAM = """
from sorites.flags import ask_for_soonest, asked_for_soonest
import sys
if sys.argv[1] == "asked":
    ask_for_soonest()
import hashlib, jax, numpy as np
from sorites.models import gated
from sorites.supervision import Sampled, teacher_forcing
from sorites.tasks import Parity
from sorites.training import AdamW, Evaluation, Run, stages, train
task = Parity(bits=6, sparsity=2)
taught = [teacher_forcing(task.layout)]
run = Run(gated(task), stages(task, taught, Sampled(64), AdamW(rate=0.3), 20, Evaluation(int(sys.argv[2]), 32)))
models = train(run, range(2)).models
assert asked_for_soonest() == (sys.argv[1] == "asked")
print(hashlib.sha256(b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(models))).hexdigest())
"""


@known
@pytest.mark.skipif(accelerated(), reason="the command line asks for nothing there")
@pytest.mark.parametrize("every", [1, 5])
def test_a_training_is_the_same_to_the_bit_whoever_asks(tmp_path, every):
    """In the command line's processes and in those of whoever imports sorites, compiled well or, where every step is
    looked at, soon."""
    bare = {name: value for name, value in os.environ.items() if name not in ("XLA_FLAGS", OURS)}
    bare["SORITES_CACHE"] = str(tmp_path)
    told = []
    for how in ("asked", "not asked"):
        call = [sys.executable, "-c", PROGRAM, how, str(every)]
        told.append(subprocess.run(call, check=True, capture_output=True, text=True, env=bare).stdout.strip())
    assert told[0] == told[1]
    assert len(told[0]) == 64


def test_few_steps_are_compiled_soon(told):
    """Where every step is looked at, however many they are: a look at the first ones rounds as the whole run does."""
    task = Parity(bits=6, sparsity=2)
    taught = [teacher_forcing(task.layout)]
    both = [stages(task, taught, Sampled(16), Adam(0.01), 8, Evaluation(every, 16, (Loss(),)))[0] for every in (1, 2)]
    for first, second in (both, both[::-1]):
        run = Run(positional(task), (first, second))
        for each in (run, cut(run, 4)):
            with pytest.raises((AttributeError, TypeError)):  # nothing is made here
                train(each, range(2))
    asked = [bool(options) for function, options in told if function is ensemble._advanced]
    assert asked == [True, True, False, False]


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
