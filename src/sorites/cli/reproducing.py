"""The work of `sorites reproduce` and `verify`: claims judged and figures drawn, here or in several processes, each
told at once."""

import dataclasses
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..errors import require
from ..ledger import override, verify
from ..papers.registry import code
from ..runtime import collect_garbage_rarely, single_threaded_children, use_compilation_cache
from ..runtime.process import has_accelerator
from .common import all_claims, all_figures, forget_programs, open_store
from .compiling import compiling
from .figure_command import command, sized
from .stopping import follow_parent

TICK = 0.5  # seconds between two words about what is running
MOST = 6  # processes: more would wait for the longest unit
ROOM = 3 * 2**30  # bytes of memory for each; up to 1.8 x 2^30 were taken
# started, noted or finished; an id; nothing, a note, or (record, outcome, seconds, compiling)
News = tuple[str, str, Any]
Tell = Callable[[News], None]


def processes(asked: int | None) -> int:
    """As many as asked for, or one for every core that there is work and memory for; an accelerator is for one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    fitting = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // ROOM if hasattr(os, "sysconf") else cores
    jobs = (1 if has_accelerator() else max(1, min(MOST, cores, fitting))) if asked is None else asked
    require(jobs >= 1, f"work needs at least one process: jobs={jobs}; use 1 or more")
    return jobs


def units(claims: Iterable[Any], figures: Iterable[Any]) -> list[list[str]]:
    """Ids that share compiled programs (their code is in one file) stay in one process; longest first."""
    groups: dict[str, list[str]] = {}
    weights: dict[str, float] = {}
    for claim in claims:
        place, seeded = claim.check.__module__, "seeds" in claim.flags
        groups.setdefault(place, []).append(claim.id)
        weights[place] = weights.get(place, 0) + (15 if seeded else 4)
    for figure in figures:
        place = figure.measure.__module__
        groups.setdefault(place, []).append(figure.id)
        weights[place] = weights.get(place, 0) + figure.seconds
    return [groups[place] for place in sorted(groups, key=lambda place: -weights[place])]


def finish(work: list[list[str]], setting: Any, jobs: int, tell: Tell) -> tuple[int, int]:
    """Bring every verdict and table into the store; returns how many members were trained and how many were there."""
    if jobs == 1:
        done = [finish_unit(ids, setting, tell) for ids in work]
    else:
        context = get_context("spawn")
        news = context.SimpleQueue()
        pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin_worker, initargs=(news,))
        try:
            with single_threaded_children():
                futures = [pool.submit(_finish_there, ids, setting) for ids in work]
            done = _heard(futures, news, tell)
        except BaseException:  # what is finished is in the store: nobody is waited for
            workers = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.kill()
            raise
        pool.shutdown()
    return sum(trained for trained, _ in done), sum(taken for _, taken in done)


def _heard(futures: list[Future[tuple[int, int]]], news: Any, tell: Tell) -> list[tuple[int, int]]:
    """Pass on what the workers say until all are done; the first error ends it."""
    waiting = set(futures)
    while waiting:
        done, waiting = wait(waiting, timeout=TICK / 2)
        while not news.empty():
            tell(news.get())
        for future in done:
            future.result()
    return [future.result() for future in futures]


_NEWS: list[Any] = []  # in a worker, the queue that it was given: only a process that begins can inherit one


def _begin_worker(news: Any) -> None:
    follow_parent()
    collect_garbage_rarely()
    _NEWS.append(news)


def _finish_there(ids: list[str], setting: Any) -> tuple[int, int]:
    return finish_unit(ids, setting, _NEWS[0].put)


def finish_unit(ids: list[str], setting: Any, tell: Tell) -> tuple[int, int]:
    use_compilation_cache()
    store, claims, figures = open_store(setting), all_claims(), all_figures()
    with noting(tell) as running:
        for id in ids:
            running.id, running.note, running.compiled, begun = id, "", 0.0, time.perf_counter()
            tell(("started", id, None))
            if id in claims:
                record, outcome = setting.judge(claims[id], setting, store)
            else:
                record, outcome = drawn(figures[id], setting, store)
            running.id = None
            tell(("finished", id, (record, outcome, time.perf_counter() - begun, running.compiled)))
    forget_programs()
    return store.trained, store.taken


@contextmanager
def noting(tell: Tell) -> Iterator[SimpleNamespace]:
    """Say twice a second what the running claim or figure is at; XLA compiles without holding other threads up."""
    from ..training import reporting

    running, over = SimpleNamespace(id=None, note="", compiled=0.0), threading.Event()

    def train(now: Any) -> None:
        part = f"{now.step / max(now.steps, 1):.0%}"
        running.note = f"stage {now.stage} of {now.stages}, {part}, {now.solved} of {now.members} solved"

    def compile(begins: bool, seconds: float) -> None:
        running.note = "compiling" if begins else ""
        running.compiled += seconds

    def tick() -> None:
        while not over.wait(TICK):
            if (id := running.id) is not None:
                tell(("noted", id, running.note))

    ticking = threading.Thread(target=tick, daemon=True)
    ticking.start()
    try:
        with reporting(train), compiling(compile):
            yield running
    finally:
        over.set()
        ticking.join()


def drawn(figure: Any, setting: Any, store: Any) -> tuple[dict[str, Any], str]:
    """The figure as the page wants it, and where its tables came from."""
    from ..report.figures import make_figure

    own, out = own_overrides(figure, setting), Path(setting.out)
    words = command(figure, SimpleNamespace(scale=setting.scale, overrides=own))
    size = sized(figure, setting.scale, own)
    made = make_figure(figure, size, setting.scale, store, out / "figures", words, dark=True)
    return made.record(out), made.origin


def own_overrides(figure: Any, setting: Any) -> dict[str, str]:
    """Of what was overridden, what the figure has."""
    known = {field.name for field in dataclasses.fields(figure.sizes["quick"])}
    return {name: value for name, value in setting.overrides.items() if name in known}


def judged(claim: Any, setting: Any, store: Any) -> tuple[dict[str, Any], str]:
    """The verdict's record and its word, from the store if the same source judged the same parameters.

    The digest of the source ignores docstrings, so a stored record may have old words; the page shows the words of now.
    """
    parameters = dataclasses.asdict(override(claim.parameters(setting.scale), setting.overrides))
    last = store.last_verdict(claim.id)
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in parameters.items()}
    source = code(claim.paper, claim.check)
    wanted = {"source": source, "scale": setting.scale, "parameters": plain}
    if last and all(last.get(name) == value for name, value in wanted.items()):
        words = {name: getattr(claim, name) for name in ("label", "kind", "says", "expected", "revised")}
        return {name: value for name, value in last.items() if name != "created"} | words, last["verdict"]
    record = verify(claim, setting.scale, setting.overrides, store).record() | {"source": source}
    store.put_verdict(record)
    return record, record["verdict"]
