"""sorites sweep FILE.py[:NAME]: the grid, dict or list of Runs of that name (default: `sweep`), from the file's `seeds`
and under its `ending`, where it has these."""

import operator
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import SpecError, require
from .common import console, emit, nearest, open_store
from .run_command import MANY, module_of, own_errors
from .stopping import follow_parent

TESTS = {"<=": operator.le, ">=": operator.ge, "!=": operator.ne, "=": operator.eq, "<": operator.lt, ">": operator.gt}


def execute(options: Any) -> int:
    from ..runtime import use_compilation_cache
    from ..store import identities
    from ..sweeps import Grid, plan_of, sweep
    from ..sweeps.endings import AbstractEnding

    use_compilation_cache()
    path, _, name = options.file.partition(":")
    module, name = module_of(path, "a sweep"), name or "sweep"
    if not hasattr(module, name):
        raise nearest(f"name in {path}", name, [each for each in vars(module) if not each.startswith("_")])
    what: Any = getattr(module, name)
    ending = getattr(module, "ending", None)
    with own_errors(path):
        what = what() if callable(what) and not isinstance(what, Grid) else what
    known = ending is None or isinstance(ending, AbstractEnding)
    require(known, f"an ending is so.Halving, so.Futility or one's own: {path}:ending={ending!r}; use one of these")
    require(
        isinstance(what, Iterable | Grid), f"a sweep is a Grid, or a dict or list of Runs: {path}:{name} is {what!r}"
    )
    seeds = seeds_of(options, getattr(module, "seeds", range(8)))
    with own_errors(path):
        points, runs, plan = plan_of(chosen(what, options.only, options.limit), seeds)
    screen = console(options, taken=options.json == "-")
    screen.print(plan)
    if options.dry_run:
        return _told(options, plan)
    store = open_store(options)
    if options.resume:
        found = [folder for folder in store.folders() if folder.has_tables]
        there = {each for folder in found for each in folder.ids}
        wanted = {each.id for run in runs for each in identities(run, seeds)}
        require(
            bool(there & wanted) or bool(ending and there) or any((store.root / "checkpoints").glob("*.npz")),
            f"--resume goes on with a sweep: {store.root} has no member of this one; check --store, or leave it out",
        )
    with _live(options, plan) as (watch, progress):
        table = sweep(
            what, seeds, store, ending=ending, engine=options.engine, processes=options.jobs, address=options.address,
            weights=options.weights, watch=watch, progress=progress, start=follow_parent, planned=(points, runs, plan),
        )  # fmt: skip
    if options.out:
        table.write(options.out)
    if not emit(options, table.members.to_dicts()):
        screen.print(table)
        done = f"{len(table.members):,} members, {table.taken:,} of them taken from the store"
        screen.print(f"{done}; {int(table.members['solved'].sum()):,} at the goal.", highlight=False)
    for count, why in table.failed:
        print(f"sorites: {count} members failed: {why}", file=sys.stderr)
    return 1 if table.failed else 0


def seeds_of(options: Any, seeds: Any) -> list[int]:
    """Of the file, or as many as --seeds says."""
    given = options.overrides.get("seeds")
    try:
        found = list(range(int(given))) if given is not None else list(seeds)
    except (TypeError, ValueError):
        raise SpecError(f"seeds are whole numbers: seeds={given or seeds!r}; use range(16), or --seeds 16") from None
    require(0 < len(found) <= MANY, f"a sweep has 1 to {MANY:,} seeds: {len(found)}; use others")
    return found


def chosen(what: Any, only: list[str], limit: int | None) -> Any:
    """The points that fit every word of `only`, and of these the first `limit`."""
    from ..sweeps.grids import Grid

    if only:
        require(isinstance(what, Grid), "--only chooses points of a Grid by their parameters; make the sweep one")
        for part in ",".join(only).split(","):
            what = _where(what, part)
    require(limit is None or limit >= 1, f"a sweep needs a run: --limit {limit}; use 1 or more")
    if limit is not None and isinstance(what, Grid):
        return Grid(what.make, what.points[:limit])
    if limit is not None:
        return dict(list(what.items())[:limit]) if isinstance(what, dict) else list(what)[:limit]
    return what


def _where(grid: Any, part: str) -> Any:
    """`bits=16`, `rate>=0.1`, `model=gpt|gated`."""
    found = re.fullmatch(r"\s*(\w+)\s*(<=|>=|!=|=|<|>)\s*(.+?)\s*", part)
    require(found is not None, f"--only is a list of comparisons: {part!r}; write for example 'bits=16, rate>=0.1'")
    assert found is not None
    name, test, text = found.groups()
    known = list(grid.points[0]) if grid.points else []
    require(name in known, f"--only compares a parameter of the grid: {name!r}; use one of {', '.join(known)}")

    def fits(value: Any) -> bool:
        return any(_compared(value, test, each.strip()) for each in text.split("|"))

    kept = tuple(point for point in grid.points if fits(point[name]))
    require(len(kept) > 0, f"--only leaves a point: {part.strip()!r} leaves none; it has "
            f"{', '.join(map(str, dict.fromkeys(point[name] for point in grid.points)))}")  # fmt: skip
    return type(grid)(grid.make, kept)


def _compared(value: Any, test: str, text: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return TESTS[test](str(value), text)
    try:
        return TESTS[test](value, float(text))
    except ValueError:
        raise SpecError(f"--only compares a number with a number: {text!r}; write one") from None


def _told(options: Any, plan: Any) -> int:
    programs = [{"program": each.number, "runs": len(each.runs), "seconds": each.seconds} for each in plan.programs]
    ensembles = len(plan.ensembles)
    emit(options, {"members": plan.members, "ensembles": ensembles, "seconds": plan.seconds, "programs": programs})
    return 0


@contextmanager
def _live(options: Any, plan: Any) -> Iterator[Any]:
    """A line on standard error that both the sweep and the ensemble at work report to."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    from ..sweeps.plan import told

    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[detail]}"),
        console=Console(stderr=True), transient=True, disable=options.quiet,
    )  # fmt: skip
    with bar:
        line = bar.add_task("sweep", total=plan.members, detail="")
        inner = bar.add_task("ensemble", total=None, detail="", visible=False)

        def watch(now: Any) -> None:
            left = "" if now.remaining is None else f" · {told(now.remaining)} left"
            detail = (
                f"{now.done:,} done · {now.running:,} running · {now.failed:,} failed · {now.rate:,.1f} members/s{left}"
            )
            bar.update(line, completed=now.done, detail=detail)

        def listen(now: Any) -> None:
            detail = f"stage {now.stage}/{now.stages} · {now.solved}/{now.members} solved"
            bar.update(inner, total=now.steps, completed=now.step, detail=detail, visible=True)

        yield watch, listen
