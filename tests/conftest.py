"""Strict tests: shapes are checked, rank promotion raises, warnings are errors.

Everything that must happen before jax makes a program happens here, so it also holds in the
workers of pytest-xdist.
"""

# ruff: noqa: E402  (the order of these imports is the point)

import os

from sorites.runtime.process import fast_compile_flags, use_single_thread

# Few steps are run and many programs compiled, trainings too: leave out what makes kernels fast but slow to make.
os.environ.setdefault("XLA_FLAGS", fast_compile_flags())
if "PYTEST_XDIST_WORKER" in os.environ:
    use_single_thread()

import jax
import jaxtyping

jax.config.update("jax_numpy_rank_promotion", "raise")
# An int where a float is asked for is fine, as for type checkers. Checking takes a fifth of the time of a test that
# trains, so `make test` leaves it out there; the tests of what trainings are made of, and a step in the cells, have it.
if os.environ.get("SHAPES") != "unchecked":
    jaxtyping.install_import_hook("sorites", "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))")

import pytest

from sorites.models.gated import gated
from sorites.runtime import collect_garbage_rarely, use_compilation_cache
from sorites.supervision import Sampled
from sorites.tasks import Parity
from sorites.training import AdamW, Evaluation, Run, log_icot, stages, train

use_compilation_cache()
collect_garbage_rarely()


def pytest_configure(config):
    """Workers share the cache of compiled programs: an entry that another one is still writing only costs
    its compilation."""
    config.addinivalue_line("filterwarnings", "ignore:Error (reading|writing) persistent compilation cache")


# The folders that take longest, first: two workers then end together.
SLOW = ("papers", "training", "torture", "store", "cli", "docs", "sweeps")


def pytest_collection_modifyitems(items):
    items.sort(
        key=lambda item: next((place for place, name in enumerate(SLOW) if f"/{name}/" in str(item.path)), len(SLOW))
    )


@pytest.fixture(autouse=True, scope="module")
def _forget_programs():
    """Each compiled program maps memory, and a process may map only so often: one file's programs go with it."""
    yield
    jax.clear_caches()


@pytest.fixture(scope="session")
def task():
    """Small enough to enumerate, large enough for two levels and four idle bits."""
    return Parity(bits=8, sparsity=4)


@pytest.fixture(scope="session")
def evaluation():
    return Evaluation(every=2, count=64)


@pytest.fixture(scope="session")
def run(task, evaluation):
    """Log-ICoT with Adam: two stages of four steps."""
    return Run(gated(task), stages(task, log_icot(task.layout), Sampled(64), AdamW(rate=0.3), 4, evaluation))


@pytest.fixture(scope="session")
def trained(run):
    """Three members of `run`, together."""
    return train(run, [0, 1, 2], strategy="vmap")
