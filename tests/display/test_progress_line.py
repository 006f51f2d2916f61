"""The progress line: after two seconds, in terminals and notebooks alone, and gone at the end."""

import io
import sys
import time
from contextlib import nullcontext, redirect_stderr
from types import SimpleNamespace

import numpy as np
import pytest
from jaxtyping import TypeCheckError

from sorites.display.progress_line import Notebook, ProgressLine, Terminal, progress_line
from sorites.errors import SpecError
from sorites.training import Progress, reporting, train


class Screen(io.StringIO):
    def isatty(self):
        return True

    def shown(self) -> list[str]:
        """What stood on the line, one text after another."""
        return [text.strip() for text in self.getvalue().split("\r") if text.strip()]

    def left(self) -> str:
        """What stands there now."""
        line = ""
        for text in self.getvalue().split("\r"):
            line = text + line[len(text) :]
        return line.strip()


@pytest.fixture
def screen(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    return Screen()


def at(step, seconds, answer=(0.5, 0.5, 1.0)):
    metrics = {"padded.answer": np.array(answer), "child_mass": np.ones((3, 2)), "own.loss": np.full(3, 0.25)}
    return Progress(1, 1, step, 600, 3, 1, seconds, metrics)


def test_a_line_has_steps_members_rate_time_and_metrics(screen):
    line = ProgressLine(Terminal(screen), after=2)
    line(at(0, 1.0))
    assert screen.shown() == []  # two seconds are not over
    line(at(25, 3.5))
    text = "25/600 steps 4%, 1/3 solved, 10 steps/s, 0:58 left, padded.answer 0.5, own.loss 0.25"
    assert screen.shown() == [text]
    line(at(50, 6.0, (0.75, 0.75, np.nan)))  # the third has stopped: its last value counts
    assert "padded.answer 0.75" in screen.shown()[-1]
    line(at(75, 8.5, (np.nan, np.nan, np.nan)))
    assert "padded.answer 0.75" in screen.left()
    line.erase()
    assert screen.left() == ""
    line(at(100, 11.0))
    line.close()
    assert screen.left() == ""


def test_a_narrow_terminal_shows_whole_parts(screen, monkeypatch):
    monkeypatch.setenv("COLUMNS", "39")
    line = ProgressLine(Terminal(screen), after=0)
    line(at(0, 0.0))
    line(at(25, 2.5))
    line.close()
    assert screen.shown()[-1] == "25/600 steps 4%, 1/3 solved"


def test_a_long_compilation_is_named(screen):
    line = ProgressLine(Terminal(screen), after=0.01)
    deadline = time.monotonic() + 10
    while not screen.shown() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert screen.shown() == ["compiling"]
    line.close()
    assert screen.left() == ""


def test_a_terminal_that_was_closed_ends_no_training(screen):
    line = ProgressLine(Terminal(screen), after=0)
    screen.close()
    line(at(25, 3.0))
    line.close()


def test_a_notebook_updates_one_output(monkeypatch):
    shown = []
    handle = SimpleNamespace(update=lambda output, raw: shown.append(output))

    def display(output, raw, display_id):
        shown.append(output)
        return handle

    package = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    line = progress_line()
    assert line is not None
    line(at(0, 1.0))
    line(at(25, 3.5))
    line(at(26, 3.55))  # too soon for another message
    line(at(50, 6.0))
    line.close()
    assert [output["text/plain"][:12] for output in shown] == ["25/600 steps", "50/600 steps", ""]
    ProgressLine(Notebook(), after=2).close()  # nothing was shown, so nothing is updated
    assert len(shown) == 3


class TestTrain:
    @pytest.fixture(autouse=True)
    def at_once(self, monkeypatch):
        monkeypatch.setattr("sorites.display.progress_line.AFTER", 0.0)

    def test_a_training_shows_a_line_and_removes_it(self, run, trained, screen):
        beside = set()
        with redirect_stderr(screen):
            found = train(run, [0, 1, 2], strategy="vmap", callback=lambda *_: beside.add(screen.left()))
        assert screen.shown()[-1].startswith("8/8 steps 100%, ")
        assert screen.left() == ""
        assert beside == {""}  # the line is away while a callback prints
        np.testing.assert_array_equal(found.history.metrics["own.loss"], trained.history.metrics["own.loss"])

    def test_a_training_that_fails_removes_it(self, run, screen):
        def fail(step, metrics, members):
            if step == 8:
                raise RuntimeError

        with pytest.raises(RuntimeError), redirect_stderr(screen):
            train(run, [0, 1, 2], strategy="vmap", callback=fail)
        assert screen.shown()
        assert screen.left() == ""

    @pytest.mark.parametrize("case", ["False", "listener", "block", "no terminal"])
    def test_otherwise_nothing_is_printed(self, run, screen, case, monkeypatch):
        told: list[Progress] = []
        if case == "no terminal":
            monkeypatch.setattr(Screen, "isatty", lambda self: False)
        block = reporting(told.append) if case in ("block", "False") else nullcontext()
        with block, redirect_stderr(screen):
            train(run, [0, 1, 2], "vmap", progress={"False": False, "listener": told.append}.get(case))
        assert screen.getvalue() == ""
        assert len(told) == (4 if case in ("listener", "block") else 0)

    def test_what_is_refused(self, run):
        with pytest.raises(SpecError, match=r"got progress=True; allowed are None, False or a function"):
            train(run, [0], progress=True)
        with pytest.raises((SpecError, TypeCheckError), match="callback"):  # types are checked in some test runs
            train(run, [0], callback="own.loss")  # pyright: ignore
