"""What the README shows is run: its shell examples, its Python example, and the examples folder."""

import re
import runpy
import shlex
from pathlib import Path

import matplotlib.image as mpimg
import numpy as np
import pytest

from sorites.cli.main import main
from sorites.training import Run, train

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
COMMANDS = re.findall(r"^    (sorites .+)$", README, flags=re.MULTILINE)
EXAMPLES = sorted((ROOT / "examples").glob("new_*.py"))


def test_the_readme_shows_commands():
    assert len(COMMANDS) >= 5


@pytest.mark.parametrize("command", COMMANDS)
def test_readme_commands_run(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([*shlex.split(command)[1:], "--quiet"]) == 0


def test_the_readme_is_short():
    assert len(README.split()) <= 700


def test_the_python_example_prints_what_is_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    (shown,) = re.findall(r"```text\n(.*?)```", README, flags=re.DOTALL)
    lines = block.splitlines()
    assert len([line for line in lines if line.strip()]) <= 20
    assert max(map(len, lines)) <= 88
    exec(block, {})
    assert capsys.readouterr().out == shown
    drawn = mpimg.imread(tmp_path / "accuracy.png")
    assert drawn.shape == mpimg.imread(ROOT / "docs" / "readme-example.png").shape


def test_the_rows_of_speed_are_those_of_the_records():
    """python docs/site/readme_table.py"""
    make = runpy.run_path(str(ROOT / "docs" / "site" / "readme_table.py"))
    assert make["filled"](README) == README
    rows = make["table"]().splitlines()[2:]
    assert len(rows) == 4
    assert any(row.endswith("| 1.0 x |") for row in rows)  # where nothing is gained


def test_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)#\s]+)\)", README):
        assert (ROOT / link).exists(), link


def test_there_is_an_example_of_each_kind():
    kinds = ("class_task", "curriculum", "gate", "mask", "model", "prefix", "probe", "reward", "task")
    assert [path.stem for path in EXAMPLES] == [f"new_{kind}" for kind in kinds]


def test_the_example_that_continues_a_training():
    """What one training reached is where the next begins."""
    path = ROOT / "examples" / "continue_training.py"
    assert len(path.read_text().splitlines()) <= 30
    found = runpy.run_path(str(path))
    first, more, tuned = (found[name].history.metrics["rolled.answer"][0] for name in ("first", "more", "tuned"))
    assert first[-1] > 0.9
    assert abs(more[0] - first[-1]) < 0.05
    assert abs(tuned[0] - more[-1]) < 0.05


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_train(path):
    assert len(path.read_text().splitlines()) <= 30
    run = runpy.run_path(str(path))["run"]
    assert isinstance(run, Run)
    history = train(run, range(2)).history
    assert not history.diverged.any()
    assert all(np.isfinite(history.last(name)).all() for name in history.metrics)
