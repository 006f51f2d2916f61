"""The local engine: this process, or one process per device."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

from ..errors import require
from ..runtime import use_compilation_cache
from ..runtime.devices import accelerators
from ..store import Store
from ..training.progress import Listener
from .work import Job, Outcome, work


class Here:
    """This process."""

    size = 1

    def __init__(self, store: Store | None = None, progress: Listener | bool | None = None):
        self._store, self._progress = store, progress

    def begin(self, job: Job) -> int:
        self._job = job
        return id(job)

    def finished(self, handles: Sequence[int], seconds: float) -> list[int]:
        return list(handles)

    def outcome(self, handle: int) -> Outcome:
        return work(self._job, self._store, self._progress)

    def lost(self, error: Exception) -> bool:
        return False

    def close(self) -> None:
        pass


class Processes:
    """One process per device, or that many on one; `start` is called in each when it begins."""

    def __init__(self, processes: int, start: Callable[[], None] | None = None):
        require(processes >= 1, f"work needs at least one process: processes={processes}; use 1 or more")
        self.size, self._start, self._pools = processes, start, {}
        self._where: dict[Future, int] = {}

    def begin(self, job: Job) -> Future:
        place = min(set(range(self.size)) - set(self._where.values()))
        if place not in self._pools:
            self._pools[place] = ProcessPoolExecutor(
                1, get_context("spawn"), initializer=_begin, initargs=(place if accelerators() else None, self._start)
            )
        future = self._pools[place].submit(work, job, None, False)
        self._where[future] = place
        return future

    def finished(self, handles: Sequence[Future], seconds: float) -> list[Future]:
        return list(wait(handles, seconds, FIRST_COMPLETED).done)

    def outcome(self, handle: Future) -> Outcome:
        place = self._where.pop(handle)
        try:
            return handle.result()
        except BrokenProcessPool:
            self._pools.pop(place).shutdown(wait=False)
            raise

    def lost(self, error: Exception) -> bool:
        return isinstance(error, BrokenProcessPool)

    def close(self) -> None:
        """Whoever is still at work is not waited for: what is finished is in the store."""
        for pool in self._pools.values():
            workers = list((pool._processes or {}).values())
            pool.shutdown(wait=not self._where, cancel_futures=True)
            for worker in workers if self._where else []:
                worker.kill()


def processes_here() -> int:
    """As many as there are accelerators; a CPU is one device."""
    return max(accelerators(), 1)


def _begin(device: int | None, start: Callable[[], None] | None) -> None:
    if device is not None:  # before the device is first used in this process
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        names: Any = visible.split(",") if visible else [str(number) for number in range(device + 1)]
        os.environ["CUDA_VISIBLE_DEVICES"] = names[device]
    if start is not None:
        start()
    use_compilation_cache()
