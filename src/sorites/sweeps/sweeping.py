"""`so.sweep`: runs by seeds, planned, trained, and gathered into one table."""

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from ..errors import SpecError, require
from ..store import Store
from ..store.reservation import sweep_mark
from ..training import Run
from ..training.progress import Listener
from ..training.seeds import checked_seeds
from .drive import Crew, Drive, Watcher
from .endings import AbstractEnding
from .grids import Grid, Point, points_of
from .local import Here, Processes, processes_here
from .plan import SweepPlan, make_plan
from .rounds import Rounds
from .rows import rows_of
from .table import Table

Runs = Grid | Mapping[str, Any] | Iterable[Any]  # of Runs


def plan_of(what: Runs, seeds: Sequence[int]) -> tuple[tuple[Point, ...], list[Run], SweepPlan]:
    """Points, runs and plan: everything is built and checked, nothing is trained."""
    seeds = checked_seeds(seeds)
    points, runs = points_of(what)
    return points, runs, make_plan(runs, seeds)


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
    weights: bool = False,
    watch: Watcher | None = None,
    progress: Listener | bool | None = None,
    start: Callable[[], None] | None = None,
    planned: tuple[tuple[Point, ...], list[Run], SweepPlan] | None = None,
) -> Table:
    """Train every run from every seed and return the table.

    The runs are trained as they are given, so their members are those of `Store.train(run, seeds)`. A member that has
    reached the goal trains to the end of its last stage, unless the run is `run.until_goal()`.

    Args:
        what: A `Grid`, or a list or dict of Runs.
        seeds: The seeds from which every run is trained.
        store: Where finished members are found and kept. A killed sweep that is started again continues there.
        ending: A rule that ends members early: `Halving`, `Futility` or a subclass of `AbstractEnding`.
        engine: "local" for processes on this machine, "ray" for a cluster.
        processes: How many local processes; by default one per device.
        address: The address of a Ray cluster; by default that in RAY_ADDRESS, else one is started on loopback.
        resources: What one Ray task takes, for example {"num_gpus": 0.5}.
        weights: Store the trained weights too.
        watch: Called with a `Tally` whenever the counts of members change.
        progress: As for `train`, for each ensemble that is trained in this process. Other processes report nothing.
        start: Called once in each new local process.
        planned: The result of `plan_of(what, seeds)`, if it is already there.

    Returns:
        A table with one row per member and its costs. Ensembles that failed are listed in `Table.failed`.

    Raises:
        SpecError: If a run cannot be trained, a seed is given twice, an ending has no goal, polars is missing, or a
            Ray cluster does not answer or stops answering.

    Example:
        >>> import sorites as so
        >>> def make(rate):
        ...     return so.run_named("parity", "gated", "direct", rate=rate).until_goal()
        >>> table = so.sweep(so.grid(make, rate=(0.1, 1.0)), seeds=range(2))  # doctest: +SKIP
    """
    require(  # before hours of training, not after
        importlib.util.find_spec("polars") is not None,
        "a table is made with polars, which is missing; install it, or use `train` and keep `History.save`",
    )
    points, runs, plan = planned or plan_of(what, seeds)
    require(
        ending is None or all(run.goal for run in runs),
        "early stopping compares members by their goal: a run has none; use Run(..., goal=Until(...))",
    )
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
    with ExitStack() as stack:
        try:
            mark = stack.enter_context(sweep_mark(store.root.absolute()))
        except OSError as error:
            raise SpecError(
                f"a store is a folder that can be written: {store.root} ({error.strerror}); give another"
            ) from None
        yield mark
