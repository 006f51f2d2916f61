"""The names a researcher needs: all there, fetched late, and the stub tells the same story."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import sorites

STUB = Path(sorites.__file__).with_suffix(".pyi")


@pytest.mark.parametrize("name", sorites.__all__)
def test_names_resolve(name):
    assert getattr(sorites, name) is not None


def test_the_stub_names_the_same():
    named = {
        alias.asname
        for node in ast.parse(STUB.read_text()).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert named | {"__version__"} == set(sorites.__all__)


def test_misspelt_names_raise():
    with pytest.raises(AttributeError, match="Paritty"):
        _ = sorites.Paritty


def test_importing_costs_little_beyond_jax():
    """Everything a training needs, in the same process: at most a quarter of a second above its own dependencies."""
    program = "import time, jax, equinox, optax, jaxtyping\nbegun = time.process_time()\nimport sorites\n"
    program += "from sorites import Run, train, gated, Parity, Adam, Sampled\nprint(time.process_time() - begun)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.5
