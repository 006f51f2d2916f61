"""The loop of a sweep: who works on what, what is lost and tried again, what is over."""

import collections
import dataclasses
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

from ..errors import SpecError
from .work import Job, Outcome, out_of_memory, sentence

RETRIES, PAUSE = 3, 1.0  # a lost ensemble is begun again so often, after 1, 2, 4 seconds


@runtime_checkable
class Crew(Protocol):
    """Who works: this process, several, or a cluster."""

    @property
    def size(self) -> int:
        """How many ensembles at once."""
        ...

    def begin(self, job: Job) -> Any:
        """A handle."""
        ...

    def finished(self, handles: Sequence[Any], seconds: float) -> list[Any]:
        """Those that are over, after waiting at most so long for one."""
        ...

    def outcome(self, handle: Any) -> Outcome:
        """Or the error that ended it."""
        ...

    def lost(self, error: Exception) -> bool:
        """Whether the worker was lost, not the work wrong."""
        ...

    def close(self) -> None: ...


@dataclasses.dataclass(frozen=True)
class Tally:
    """Where a sweep stands, in members."""

    done: int
    running: int
    failed: int
    members: int
    seconds: float
    remaining: float | None  # seconds, from what was expected of the work so far

    @property
    def rate(self) -> float:
        """Members per second."""
        return self.done / max(self.seconds, 1e-9)


Watcher = Callable[[Tally], None]


@dataclasses.dataclass
class Drive:
    """Hands out jobs until none is left; yields what comes of them, an Outcome or a sentence."""

    crew: Crew
    watch: Watcher | None = None
    done: int = 0
    failed: int = 0
    members: int = 0
    begun: float = dataclasses.field(default_factory=time.perf_counter)
    spent: float = 0.0  # expected seconds of what is done
    warm: set[int] = dataclasses.field(default_factory=set)  # programs that have been compiled

    def __call__(
        self, jobs: Sequence[Job], there: Callable[[Job], Outcome | None]
    ) -> Iterator[tuple[Job, Outcome | str]]:
        missing = []
        for job in jobs:
            outcome = there(job)
            if outcome is None:
                missing.append(job)
            else:
                self.done += len(job.seeds)
                yield job, outcome
        yield from self._work(missing)

    def _work(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome | str]]:
        ahead = collections.deque([*self._warming(jobs), *jobs])
        later: list[tuple[float, Job]] = []
        running: dict[Any, Job] = {}
        while ahead or later or running:
            now = time.monotonic()
            ahead.extendleft(job for due, job in later if due <= now)
            later = [(due, job) for due, job in later if due > now]
            for job in self._ready(ahead, running):
                ahead.remove(job)
                running[self.crew.begin(job)] = job
            self._tell(running, ahead, later)
            if not running:  # everybody waits: for a pause to end, or for a node to come
                time.sleep(0.05)
            for handle in self.crew.finished(list(running), 0.5):
                job = running.pop(handle)
                try:
                    outcome: Outcome | str = self.crew.outcome(handle)
                except Exception as error:
                    if self.crew.lost(error) and job.tries < RETRIES:
                        _say(f"a worker was lost ({sentence(error)}): {len(job.seeds)} members begin again")
                        due = time.monotonic() + PAUSE * 2**job.tries
                        later.append((due, dataclasses.replace(job, tries=job.tries + 1)))
                        continue
                    if out_of_memory(error) and len(job.seeds) > 1 and not isinstance(error, SpecError):
                        _say(f"{len(job.seeds)} members do not fit into memory: they are trained in two halves")
                        ahead.extendleft(job.halves())
                        continue
                    outcome = sentence(error)
                if job.warming:
                    self.warm.add(job.program)
                    continue
                bad = isinstance(outcome, str)
                self.done, self.failed = self.done + (not bad) * len(job.seeds), self.failed + bad * len(job.seeds)
                self.spent += job.seconds
                yield job, outcome
        self._tell(running, ahead, later)

    def _warming(self, jobs: Sequence[Job]) -> list[Job]:
        """One process compiles a program before several load it."""
        count = collections.Counter(job.program for job in jobs)
        firsts = {job.program: job for job in reversed(jobs)}
        cold = [each for each in firsts if count[each] > 1 and self.crew.size > 1 and each not in self.warm]
        self.warm |= {each for each in firsts if each not in cold}
        return [dataclasses.replace(firsts[each], warming=True) for each in cold]

    def _ready(self, ahead: Sequence[Job], running: dict[Any, Job]) -> list[Job]:
        room = self.crew.size - len(running)
        good = (job for job in ahead if job.warming or job.program in self.warm)
        return [job for _, job in zip(range(room), good, strict=False)]

    def _tell(self, running: dict[Any, Job], ahead: Sequence[Job], later: list[tuple[float, Job]]) -> None:
        if self.watch is None:
            return
        waiting = [job for job in (*ahead, *(job for _, job in later), *running.values()) if not job.warming]
        left, seconds = sum(job.seconds for job in waiting), time.perf_counter() - self.begun
        remaining = seconds * left / self.spent if self.spent else None
        at_work = sum(len(job.seeds) for job in running.values() if not job.warming)
        self.watch(Tally(self.done, at_work, self.failed, self.members, seconds, remaining))


def _say(text: str) -> None:
    warnings.warn(text, stacklevel=3)
