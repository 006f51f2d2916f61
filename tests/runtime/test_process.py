"""Importing and training change no setting of the process; `configure` changes those of the command line's own."""

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

from sorites.runtime import configure, devices, process
from sorites.runtime.process import OURS, fast_compile_flags, flags_of_the_user

SETTINGS = """
import gc, json, os, sys
import jax, jax.numpy as jnp

def settings():
    values = {name: repr(value) for name, value in jax.config.values.items()}
    return {"environment": dict(os.environ), "jax": values, "gc": gc.get_threshold(), "warnings": len(sys.warnoptions)}

before = settings()
import sorites as so
after_import = settings()
for task, make in ((so.Parity(bits=6, sparsity=2), so.gated), (so.Parity(bits=6, sparsity=2), so.gpt)):
    evaluation = so.Evaluation(2, 16, (so.Loss(),))
    plan = so.stages(task, [so.teacher_forcing(task.layout)], so.Sampled(16), so.Adam(0.1), 4, evaluation)
    so.train(so.Run(make(task), plan), range(2))
json.dump([before, after_import, settings()], sys.stdout)
"""


def test_importing_and_training_have_no_side_effects(tmp_path):
    """Environment, every setting of JAX and the thresholds of the garbage collector stay as they were."""
    clean = {name: value for name, value in os.environ.items() if name not in ("XLA_FLAGS", OURS)}
    done = subprocess.run([sys.executable, "-c", SETTINGS], env=clean, capture_output=True, text=True, check=True)
    before, after_import, after_training = json.loads(done.stdout)
    assert before == after_import == after_training


@pytest.fixture
def clean(monkeypatch):
    """Nothing is set, and what a test sets is gone afterwards."""
    for name in ("XLA_FLAGS", OURS):
        monkeypatch.setenv(name, "")
        del os.environ[name]
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)


def test_configure_lets_programs_compile_fast(clean):
    gc.set_threshold(700, 10, 10)
    configure()
    assert os.environ["XLA_FLAGS"] == os.environ[OURS] == fast_compile_flags()
    assert process.compiles_fast()
    assert flags_of_the_user() == ""
    assert gc.get_threshold()[:2] == process.RARELY[:2]
    configure()
    assert os.environ["XLA_FLAGS"] == fast_compile_flags()


def test_flags_of_the_user_stay(clean, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_dump_to=there")
    configure()
    assert os.environ["XLA_FLAGS"] == flags_of_the_user() == "--xla_dump_to=there"
    assert OURS not in os.environ
    assert not process.compiles_fast()


def test_an_accelerator_is_left_alone(clean, monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [group])
    configure()
    assert "XLA_FLAGS" not in os.environ


CACHE = """
import sys, jax
from sorites.runtime import use_compilation_cache
if len(sys.argv) > 1:
    jax.config.update("jax_compilation_cache_dir", sys.argv[1])
use_compilation_cache()
print(jax.config.values["jax_compilation_cache_dir"])
"""


def test_a_compilation_cache_that_the_user_has_set_stays(tmp_path):
    environment = os.environ | {"SORITES_CACHE": str(tmp_path / "ours")}

    def folder(*given: str) -> str:
        command = [sys.executable, "-c", CACHE, *given]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()

    assert folder() == str(tmp_path / "ours" / "xla")
    assert (tmp_path / "ours" / "xla").stat().st_mode & 0o777 == 0o700  # compiled programs are executed
    assert folder(str(tmp_path / "theirs")) == str(tmp_path / "theirs")


def test_without_another_device_programs_stay_where_they_are(monkeypatch):
    def closed(platform):
        raise RuntimeError(f"Unknown backend {platform}")

    monkeypatch.setattr(jax, "devices", closed)
    with devices.on_processor():
        assert jax.config.values["jax_default_device"] is None


THREADS = """
import sys
from pathlib import Path
from sorites.runtime.process import use_single_thread
if sys.argv[1] == "single":
    use_single_thread()
import jax
jax.numpy.ones(3) + 1
print(sum("XLAEigen" in task.read_text() for task in Path("/proc/self/task").glob("*/comm")))
"""
counted = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted there")


@counted
def test_a_process_can_have_a_single_thread():
    free = {name: value for name, value in os.environ.items() if name != "NPROC"}

    def threads(word: str, **given: str) -> int:
        done = subprocess.run([sys.executable, "-c", THREADS, word], env=free | given, capture_output=True, check=True)
        return int(done.stdout)

    assert (threads("single"), threads("single", NPROC="3")) == (1, 3)  # the user's number stays
    assert threads("usual") == len(os.sched_getaffinity(0))


CHILDREN = """
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from sorites.runtime.process import THREADS, single_threaded_children
import numpy as np

def count():
    np.ones((300, 300)) @ np.ones((300, 300))
    return len(os.listdir("/proc/self/task"))

if __name__ == "__main__":
    for name in THREADS:
        os.environ.pop(name, None)
    os.environ["OMP_NUM_THREADS"] = "2"
    found = []
    for block in (single_threaded_children(), None):
        pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        if block is None:
            future = pool.submit(count)
        else:
            with block:
                future = pool.submit(count)
        found.append(future.result())
        pool.shutdown()
    print(*found, *(os.environ.get(name) for name in THREADS))
"""


@counted
def test_children_can_be_single_threaded(tmp_path):
    """numpy asks for its threads when it is loaded; afterwards the environment is what it was."""
    (tmp_path / "children.py").write_text(CHILDREN)
    done = subprocess.run([sys.executable, tmp_path / "children.py"], capture_output=True, check=True, text=True)
    single, usual, *left = done.stdout.split()
    assert left == ["None", "None", "2"]
    if len(os.sched_getaffinity(0)) > 1:
        assert int(single) < int(usual)
