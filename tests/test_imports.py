"""A house in which every line knows its room: the folder order of the design, read from the source."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "sorites"

# Each folder, and the folders it may import besides itself and errors.py.
BASE = {"theory", "statistics", "runtime"}
TASKS = BASE | {"fast", "tasks"}
MODELS = TASKS | {"models"}
SUPERVISION = MODELS | {"supervision"}
PROBES = SUPERVISION | {"probes"}
TRAINING = PROBES | {"training", "display", "drawing"}  # a history shows and draws itself
STORE = TRAINING | {"store"}
LEDGER = STORE | {"ledger"}
PAPERS = LEDGER | {"drawing", "papers"}
REPORT = PAPERS | {"sweeps", "report"}
ALLOWED = {
    "theory": BASE,
    "statistics": BASE,
    "runtime": {"runtime"},
    "display": {"display"},
    "drawing": {"drawing"},
    "fast": BASE | {"fast", "models"},  # its files about a network; see the test of cycles
    "tasks": TASKS,
    "models": MODELS,
    "supervision": SUPERVISION,
    "probes": PROBES,
    "training": TRAINING,
    "store": STORE,
    "sweeps": STORE | {"sweeps"},
    "ledger": LEDGER,
    "papers": PAPERS,
    "report": REPORT,
    "cli": REPORT | {"cli"},
}
FILES = sorted(SOURCE.rglob("*.py"))
LATE = ("polars", "matplotlib", "rich", "scipy", "safetensors", "tyro", "torch", "diffrax")


def imported(path: Path) -> set[str]:
    """Every sorites module that a file imports, relative imports resolved."""
    package = ["sorites", *path.relative_to(SOURCE).parts[:-1]]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found |= {f"{module}.{alias.name}" for alias in node.names}
    return {name for name in found if name.split(".")[0] == "sorites"}


def test_relative_imports_are_resolved():
    names = imported(SOURCE / "models" / "gated.py")
    assert {"sorites.tasks.Chain", "sorites.models.links.link_named"} <= names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_imports_only_what_lies_below_it(path):
    parts = path.relative_to(SOURCE).parts
    if len(parts) == 1:  # __init__.py gathers everything; errors.py and its like need nothing
        assert parts[0] == "__init__.py" or imported(path) <= {"sorites.errors.SpecError", "sorites.errors.require"}
        return
    folders = {name.split(".")[1] for name in imported(path) if name.count(".")} - {"errors"}
    folders = {folder for folder in folders if (SOURCE / folder).is_dir()}  # sorites.__version__ and the like
    assert folders <= ALLOWED[parts[0]] | {parts[0]}, f"{parts[0]} may not import {folders}"


@pytest.mark.parametrize("module", ["fast.reduced", "fast.draws", "tasks", "models", "models.network"])
def test_no_import_cycle(module):
    """`fast` serves tasks and models; its files about a network read models.network: any may be imported first."""
    subprocess.run([sys.executable, "-c", f"import sorites.{module}"], check=True)


def test_every_folder_has_its_place():
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir() and list(path.rglob("*.py"))}
    assert folders <= ALLOWED.keys()


def test_training_needs_only_jax_and_numpy():
    """The rest is imported where it is used, so a bare GPU machine can train."""
    program = f"import sys, sorites.training; print([m for m in {LATE!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


PACKAGES = sorted(".".join(["sorites", *path.relative_to(SOURCE).parts[:-1]]) for path in SOURCE.rglob("__init__.py"))


@pytest.mark.parametrize("name", PACKAGES)
def test_no_submodule_is_shadowed_by_a_name_of_its_package(name):
    """`import sorites.sweeps.grids as module` gives the module."""
    package = importlib.import_module(name)
    submodules = [found.name for found in pkgutil.iter_modules(package.__path__)]
    shadowed = {each for each in submodules if not isinstance(getattr(package, each, package), ModuleType)}
    assert not shadowed


ASKS = ("default_backend", "device_kind", "local_devices", "jax.devices", "devices(", ".platform ==", "on_gpu")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_fast_and_runtime_ask_for_the_device(path):
    """A result depends on the run and the seed, not on the device."""
    if path.relative_to(SOURCE).parts[0] in ("fast", "runtime"):
        return
    found = [word for word in ASKS if word in path.read_text()]
    assert not found, f"{path.name} asks for the device: {found}; ask sorites.runtime.devices"
