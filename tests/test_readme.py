"""What the README shows is run: its shell examples, its Python example, and the examples folder."""

import re
import runpy
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import matplotlib.image as mpimg
import numpy as np
import pytest

from sorites.cli.main import main
from sorites.training import Run, train

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
COMMANDS = re.findall(r"^    (sorites .+)$", README, flags=re.MULTILINE)
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py") if path.stem != "continue_training")


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
    live = [f"live_{kind}" for kind in ("plot", "tensorboard", "wandb")]
    assert [path.stem for path in EXAMPLES] == live + [f"new_{kind}" for kind in kinds]


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


class Board:
    """In place of a wandb run and of a TensorBoard writer."""

    def __init__(self, *_, **__):
        BOARDS.append(self)
        self.logged = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def log(self, values, step):
        self.logged += [(name, step, value) for name, value in values.items()]

    def add_scalar(self, name, value, step):
        self.logged.append((name, step, value))

    def flush(self):
        pass


BOARDS: list[Board] = []
PACKAGES = {
    "live_wandb": {"wandb": SimpleNamespace(init=Board)},
    "live_tensorboard": {
        "torch": SimpleNamespace(Tensor=Board),  # Equinox asks for it
        "torch.utils": SimpleNamespace(),
        "torch.utils.tensorboard": SimpleNamespace(SummaryWriter=Board),
    },
}
STEPS = [0, 25, 50, 75, 100, 100, 125, 150, 175, 200]  # two stages


@pytest.mark.parametrize("name", PACKAGES)
def test_live_examples_log_every_evaluation(name, monkeypatch):
    for package, stand_in in PACKAGES[name].items():
        monkeypatch.setitem(sys.modules, package, stand_in)
    runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")
    board = BOARDS.pop()
    answers = [(step, value) for name, step, value in board.logged if name.startswith("padded.answer")]
    assert sorted({step for step, _ in answers}) == sorted(set(STEPS))
    assert answers[-1] == (200, 1.0)
    assert [value for name, _, value in board.logged if name == "solved"][-1] == 4


@pytest.mark.parametrize("name", PACKAGES)
def test_live_examples_say_what_is_missing(name, monkeypatch):
    monkeypatch.setitem(sys.modules, [*PACKAGES[name]][-1], None)  # as if not installed
    with pytest.raises(SystemExit, match=r"is not installed; install it with `pip install"):
        runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")


def test_the_live_plot_is_drawn_without_a_screen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = runpy.run_path(str(ROOT / "examples" / "live_plot.py"), run_name="__main__")
    assert mpimg.imread(tmp_path / "live.png").std() > 0
    drawn = []

    def show(figure):
        drawn.append([len(line.get_xdata()) for line in figure.axes[0].lines])

    train(example["run"], range(2), callback=example["plotting"]("padded.answer", show))
    assert drawn == [[count, count] for count in range(1, len(STEPS) + 1)]
