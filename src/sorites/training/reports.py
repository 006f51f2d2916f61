"""What `train` reports between two chunks: progress, and every evaluation to the user's callback."""

import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..display.progress_line import ProgressLine, progress_line
from ..errors import require
from .history import last_measured
from .progress import Listener, Progress, listener_or
from .records import measured_at
from .snapshots import lengths_of
from .stage import Run
from .state import EnsembleState


@dataclasses.dataclass(frozen=True, eq=False)
class Members:
    """The members of an ensemble at one evaluation, as a callback gets them. Every array is `[member]`."""

    seeds: np.ndarray
    stage: int  # the present one, from 1
    solved: np.ndarray  # whether each has reached the goal
    finished: np.ndarray  # whether each has left the present stage or diverged
    diverged: np.ndarray


Callback = Callable[[int, dict[str, np.ndarray], Members], Any]


class Reports:
    """Pass the state of one ensemble on to a progress line or listener, and to a callback.

    Args:
        run: the run, stacked over members.
        seeds: the seed of each member.
        progress: as for `train`.
        callback: as for `train`.

    Raises:
        SpecError: if `progress` or `callback` is something else.
    """

    def __init__(self, run: Run, seeds: Sequence[int], progress: Listener | bool | None, callback: Callback | None):
        require(
            progress is None or progress is False or callable(progress),
            f"got progress={progress!r}; allowed are None, False or a function of a Progress; "
            "leave it out for a line in terminals and notebooks",
        )
        require(
            callback is None or callable(callback),
            f"got callback={callback!r}; allowed is a function; use callback=f with f(step, metrics, members)",
        )
        self._run, self._seeds, self._callback = run, np.asarray(seeds), callback
        listener = None if isinstance(progress, bool) else listener_or(progress)
        self._line: ProgressLine | None = progress_line() if progress is None and listener is None else None
        self._listener = listener if self._line is None else self._line
        self._begun = time.perf_counter()

    def __enter__(self) -> "Reports":
        return self

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.close()

    def __call__(self, state: EnsembleState) -> None:
        if self._callback is not None:
            if self._line is not None:
                self._line.erase()  # the callback may print
            for step, metrics, members in evaluations(state, self._seeds):
                self._callback(step, metrics, members)
        if self._listener is not None:
            self._listener(self._progress(state))

    def _progress(self, state: EnsembleState) -> Progress:
        _, steps, found = state.records[-1]
        metrics = {name: last_measured(values) for name, values in found.items()}
        stages, count, seconds = len(self._run.stages), len(state.samples), time.perf_counter() - self._begun
        total = sum(lengths_of(self._run))
        return Progress(state.stage, stages, int(steps[-1]), total, count, state.solved, seconds, metrics)


def evaluations(state: EnsembleState, seeds: np.ndarray) -> Iterator[tuple[int, dict[str, np.ndarray], Members]]:
    """List the evaluations of the last chunk: those that a `History` keeps, whatever the length of a chunk.

    Args:
        state: the state after the chunk.
        seeds: the seed of each member.

    Yields:
        The step, the metrics as `[member, ...level]`, and the members. All arrays are copies.
    """
    stage, steps, found = state.records[-1]
    start = next(steps[0] for number, steps, _ in state.records if number == stage)
    done, entered = np.asarray(state.members.step), np.asarray(state.members.stage_start)
    solved_at, diverged = np.asarray(state.members.solved_at), np.asarray(state.members.diverged)
    for place in np.flatnonzero(measured_at(found) | (steps == start)):
        here = steps[place] - start
        stopped = done - entered <= here  # a finished member makes no more steps
        solved = (solved_at >= 0) & (solved_at - entered <= here)
        members = Members(seeds.copy(), stage, solved, state.finished & stopped, diverged & stopped)
        yield int(steps[place]), {name: values[:, place].copy() for name, values in found.items()}, members
