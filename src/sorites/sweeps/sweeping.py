"""`so.sweep`: runs by seeds, planned, trained, and gathered into one table."""

import dataclasses
import importlib.util
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import SpecError, require
from ..store import Store
from ..training import Run
from ..training.progress import Listener
from .drive import Crew, Drive, Watcher
from .endings import AbstractEnding
from .grids import Grid, Point, points_of
from .local import Here, Processes, processes_here
from .plan import SweepPlan, make_plan
from .rounds import Rounds
from .rows import rows_of
from .table import Table

Runs = Grid | Mapping[str, Any] | Iterable[Any]  # of Runs


def plan_of(what: Runs, seeds: Sequence[int], retire: bool = True) -> tuple[tuple[Point, ...], list[Run], SweepPlan]:
    """Points, runs and plan: everything is built and checked, nothing is trained."""
    require(not isinstance(seeds, int), f"seeds are a list: seeds={seeds}; use range({seeds})")
    require(len(seeds) > 0, "a sweep needs at least one seed: seeds=0; use 1 or more")
    require(len(set(seeds)) == len(seeds), "a seed is there once; leave out what is there twice")
    points, runs = points_of(what)
    runs = [retired(run) for run in runs] if retire else runs
    return points, runs, make_plan(runs, seeds)


def retired(run: Run) -> Run:
    """Who reaches the goal in the last stage leaves, where the run says nothing else."""
    last = run.stages[-1]
    if last.until is not None or run.goal is None:
        return run
    return Run(run.model, (*run.stages[:-1], dataclasses.replace(last, until=run.goal)), run.goal)


def sweep(
    what: Runs,
    seeds: Sequence[int],
    store: Store | None = None,
    *,
    ending: AbstractEnding | None = None,
    engine: str = "local",
    processes: int | None = None,
    address: str | None = None,
    resources: Mapping[str, float] | None = None,
    retire: bool = True,
    weights: bool = False,
    watch: Watcher | None = None,
    progress: Listener | None = None,
    start: Callable[[], None] | None = None,
    planned: tuple[tuple[Point, ...], list[Run], SweepPlan] | None = None,
) -> Table:
    """Train every run from every seed and return the table.

    store: where finished members are found and kept, so that a sweep goes on where it was killed; weights: theirs too.
    ending: a rule that ends members early. engine: local (`processes`, default one per device) or ray (`address` of a
    cluster, `resources` of a task such as num_gpus). retire: who reaches the goal leaves, in runs whose last stage says
    nothing else. watch is told where the sweep stands, start is called in each new process, planned is what `plan_of`
    made of the same.
    """
    require(  # before hours of training, not after
        importlib.util.find_spec("polars") is not None,
        "a table is made with polars, which is missing; install it, or use `train` and keep `History.save`",
    )
    points, runs, plan = planned or plan_of(what, seeds, retire)
    require(ending is None or all(run.goal for run in runs), "an ending looks at the goal: a run has none; give it one")
    crew = _crew(engine, processes, address, resources, store, progress, start)
    try:
        with _marked(store, crew) as mark:
            named = store is not None or not isinstance(crew, Here)  # who compares ids, or stores by them
            rounds = Rounds(runs, list(seeds), plan, store, ending, weights, mark, named)
            parts, failed = rounds.run(Drive(crew, watch, members=plan.members))
            members = rows_of(points, rounds.members, plan, parts)
            return Table(members, tuple(points[0]), tuple(parts), failed, rounds.taken)
    finally:
        crew.close()


def _crew(engine: str, processes: int | None, address, resources, store, progress, start) -> Crew:
    require(engine in ("local", "ray"), f"an engine is local or ray: engine={engine!r}; use one of the two")
    if engine == "ray":
        from .cluster import Cluster

        return Cluster(address, resources)
    require(address is None, f"an address is that of a Ray cluster: address={address!r}; use it with engine ray")
    processes = processes_here() if processes is None else processes
    return Here(store, progress) if processes == 1 else Processes(processes, start)


@contextmanager
def _marked(store: Store | None, crew: Crew) -> Iterator[Path | None]:
    """A file in the store by which a worker elsewhere knows that it sees the same folder."""
    if store is None or isinstance(crew, Here):
        yield None
        return
    mark = store.root.absolute() / "running" / f"{uuid.uuid4().hex}.sweep"
    try:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError as error:
        raise SpecError(
            f"a store is a folder that can be written: {store.root} ({error.strerror}); give another"
        ) from None
    try:
        yield mark
    finally:
        mark.unlink(missing_ok=True)
