"""What is done for one ensemble, wherever it is done."""

import dataclasses
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ..errors import SpecError
from ..store import Store, identities
from ..training import History, Run, train
from ..training.progress import Listener


@dataclasses.dataclass(frozen=True, eq=False)
class Job:
    """An ensemble to be trained: run `which[i]` from seed `seeds[i]`."""

    program: int
    runs: tuple[Run, ...]
    which: tuple[int, ...]
    seeds: tuple[int, ...]
    rows: tuple[int, ...]  # the members' rows in the table
    ids: tuple[str, ...]  # what they are, by the code of whoever asks
    seconds: float  # expected
    root: Path | None = None  # of the store
    mark: Path | None = None  # a file in that store: who sees it writes there
    weights: bool = False
    warming: bool = False  # compile, train nothing to keep
    tries: int = 0

    @property
    def each(self) -> list[Run]:
        return [self.runs[place] for place in self.which]

    def halves(self) -> "tuple[Job, Job]":
        """Where it does not fit."""
        middle = len(self.seeds) // 2
        first, second = slice(None, middle), slice(middle, None)
        return self._part(first), self._part(second)

    def _part(self, part: slice) -> "Job":
        fields = {name: getattr(self, name)[part] for name in ("which", "seeds", "rows", "ids")}
        return dataclasses.replace(self, seconds=self.seconds / 2, **fields)


@dataclasses.dataclass(frozen=True, eq=False)
class Outcome:
    history: History
    seconds: list[float | None]  # of each member, its share
    stored: bool
    taken: int = 0  # members that were in the store
    models: Any = None  # where they are wanted and could not be stored


def work(job: Job, store: Store | None = None, progress: Listener | bool | None = None) -> Outcome:
    """Train the ensemble, in the store where there is one."""
    begun, runs = time.perf_counter(), job.each
    if job.warming:
        history = train([_first_segments(run) for run in runs], job.seeds, progress=progress).history
        return Outcome(history, [], False)
    if store is None and job.root is not None and (job.mark is None or job.mark.exists()):
        store = Store(job.root)
    if store is not None:
        taken = store.taken
        history = store.histories(runs, job.seeds, progress=progress, weights=job.weights)
        return Outcome(history, store.seconds(job.ids), True, store.taken - taken)
    trained = train(runs, job.seeds, progress=progress)
    share = (time.perf_counter() - begun) / len(job.seeds)
    models = jax.tree.map(np.asarray, trained.models) if job.weights and job.root is not None else None
    return Outcome(trained.history, [share] * len(job.seeds), False, models=models)


def verified(job: Job) -> Job:
    """The job, if this process has the code and the specs that it was made with."""
    if tuple(member.id for member in identities(job.each, job.seeds)) != job.ids:
        raise SpecError(
            "a worker runs the code that made the plan: its members have other ids here; install the same version of "
            "sorites and of your own modules on every node, and keep tasks and models in a file of their own"
        )
    return job


def _first_segments(run: Run) -> Run:
    """As short as it can be: the same compiled programs."""
    stages = [dataclasses.replace(stage, steps=stage.evaluation.every) for stage in run.stages]  # pyright: ignore
    return Run(run.model, stages, run.goal, run.start)


def out_of_memory(error: BaseException) -> bool:
    return "RESOURCE_EXHAUSTED" in str(error) or isinstance(error, MemoryError)


def sentence(error: BaseException) -> str:
    lines: Sequence[str] = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"
