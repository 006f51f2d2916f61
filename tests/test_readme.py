"""What the README shows is run: its shell examples, its Python example, and the examples folder."""

import re
import runpy
import shlex
from pathlib import Path

import numpy as np
import pytest

from sorites.cli.main import main
from sorites.training import Run, train

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
COMMANDS = re.findall(r"^    (sorites .+)$", README, flags=re.MULTILINE)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_the_readme_shows_commands():
    assert len(COMMANDS) >= 5


@pytest.mark.parametrize("command", COMMANDS)
def test_readme_commands_run(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([*shlex.split(command)[1:], "--quiet"]) == 0


def test_the_python_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len([line for line in block.splitlines() if line.strip()]) <= 15
    names: dict = {}
    exec(block, names)
    assert (names["result"].history.last("padded.answer") == 1).all()
    assert (tmp_path / "loss.png").stat().st_size > 0


def test_there_is_an_example_of_each_kind():
    assert [path.stem for path in EXAMPLES] == [
        f"new_{kind}" for kind in ("class_task", "curriculum", "gate", "mask", "model", "probe", "reward", "task")
    ]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_train(path):
    assert len(path.read_text().splitlines()) <= 30
    run = runpy.run_path(str(path))["run"]
    assert isinstance(run, Run)
    history = train(run, range(2)).history
    assert not history.diverged.any()
    assert all(np.isfinite(history.last(name)).all() for name in history.metrics)
