"""A line that says how far a training is: in a terminal on standard error, in a notebook below the cell."""

import shutil
import sys
import threading
from typing import Any

import numpy as np

from .summary import headline, medians

AFTER = 2.0  # seconds; a shorter training shows nothing


class Terminal:
    """One line of a terminal, at the end of what `file` shows."""

    PAUSE = 0.0  # seconds between two drawings

    def __init__(self, file: Any):
        self._file, self._shown = file, 0

    def draw(self, parts: list[str]) -> None:
        """Write the first parts, as many as fit."""
        columns = shutil.get_terminal_size().columns
        fit = [count for count in range(1, len(parts) + 1) if len(", ".join(parts[:count])) < columns]
        text = ", ".join(parts[: max(fit, default=0)])
        self._write(f"\r{text}{' ' * (self._shown - len(text))}")
        self._shown = len(text)

    def erase(self) -> None:
        """Remove the line, so that something else can be printed there."""
        if self._shown:
            self._write(f"\r{' ' * self._shown}\r")
        self._shown = 0

    close = erase

    def _write(self, text: str) -> None:
        try:
            self._file.write(text)
            self._file.flush()
        except (OSError, ValueError):  # a terminal that was closed must not end the training
            pass


class Notebook:
    """One output of a notebook's cell, which is updated."""

    PAUSE = 0.1  # a notebook refuses too many messages

    def __init__(self):
        self._handle: Any = None

    def draw(self, parts: list[str]) -> None:
        from IPython.display import display  # pyright: ignore[reportMissingImports]

        output = {"text/plain": ", ".join(parts)}
        if self._handle is None:
            self._handle = display(output, raw=True, display_id=True)
        else:
            self._handle.update(output, raw=True)

    def erase(self) -> None:
        """What a cell prints does not disturb its other outputs."""

    def close(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": "", "text/html": ""}, raw=True)


class ProgressLine:
    """Show each `Progress` that it is called with, once a training takes longer than `after` seconds.

    Args:
        screen: where the line is drawn.
        after: seconds without a line.
    """

    def __init__(self, screen: Terminal | Notebook, after: float):
        self._screen, self._due, self._lock, self._closed = screen, after, threading.Lock(), False
        self._first: Any = None  # the first Progress of this training
        self._latest: dict[str, np.ndarray] = {}  # what each member measured last
        self._timer = threading.Timer(after, self._draw_compiling)
        self._timer.daemon = True
        if isinstance(screen, Terminal):  # a notebook assigns what another thread displays to another cell
            self._timer.start()

    def __call__(self, now: Any) -> None:
        self._timer.cancel()
        with self._lock:
            self._first = self._first or now
            for name in headline(name for name, values in now.metrics.items() if values.ndim == 1):
                values = now.metrics[name]
                kept = self._latest.setdefault(name, values.copy())
                np.copyto(kept, values, where=~np.isnan(values))
            if now.seconds >= self._due:
                self._screen.draw(self._parts(now))
                self._due = now.seconds + self._screen.PAUSE

    def erase(self) -> None:
        """Make room for something else to be printed; the next call draws the line again."""
        self._screen.erase()

    def close(self) -> None:
        """Remove the line."""
        self._timer.cancel()
        with self._lock:
            self._closed = True
            self._screen.close()

    def _draw_compiling(self) -> None:
        with self._lock:
            if self._first is None and not self._closed:
                self._screen.draw(["compiling"])

    def _parts(self, now: Any) -> list[str]:
        steps, seconds = now.step - self._first.step, now.seconds - self._first.seconds  # without compilation
        parts = [f"{now.step:,}/{now.steps:,} steps {now.step / max(now.steps, 1):.0%}"]
        parts += [f"{now.solved:,}/{now.members:,} solved"]
        if steps > 0 and seconds > 0:
            rate, left = steps / seconds, round((now.steps - now.step) * seconds / steps)
            parts += [f"{rate:,.0f} steps/s" if rate >= 10 else f"{rate:.2g} steps/s"]
            parts += [f"{left // 60}:{left % 60:02d} left"]
        return parts + medians(self._latest)


def progress_line() -> ProgressLine | None:
    """Return a line for the notebook or the terminal in which this process runs; None in neither."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is not None:
        return ProgressLine(Notebook(), AFTER)
    try:
        in_terminal = sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # a closed file
        in_terminal = False
    return ProgressLine(Terminal(sys.stderr), AFTER) if in_terminal else None
