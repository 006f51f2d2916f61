"""The plan of a sweep: which members share a compiled program, which train together, in what order, for how long."""

import dataclasses
import functools
import time
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import require
from ..runtime.devices import free_memory, members_of_a_group
from ..store.groups import split_evenly
from ..training import Run
from ..training.check import check
from ..training.cost import Cost, costs, passes
from ..training.memory import bytes_needed
from ..training.structure import structure_of

COMPILING = 3.0  # seconds of a stage's program, roughly
TOKEN = 2e-9  # seconds per token of a chain beside the matrix products, roughly what one core takes


@dataclasses.dataclass(frozen=True)
class Program:
    """Runs that one compiled program trains: they differ in arrays only."""

    number: int
    runs: tuple[int, ...]  # their places in the sweep
    costs: tuple[Cost, ...]  # of a step, by stage
    passes: int | None
    seconds: float  # of a member over the whole budget, roughly; it may leave earlier
    stages: int


@dataclasses.dataclass(frozen=True)
class Ensemble:
    """Members that train as one: (place of the run, seed) each."""

    program: int
    members: tuple[tuple[int, int], ...]
    seconds: float


@dataclasses.dataclass(frozen=True)
class SweepPlan:
    """What a sweep will train: its programs, and the ensembles of members that each one trains.

    Attributes:
        programs: The compiled programs; each trains the runs that differ in arrays only.
        ensembles: Members that train together, the most expensive ensemble first.
    """

    programs: tuple[Program, ...]
    ensembles: tuple[Ensemble, ...]

    @property
    def members(self) -> int:
        return sum(len(each.members) for each in self.ensembles)

    @property
    def seconds(self) -> float:
        """On one device, at most about."""
        return sum(each.seconds for each in self.ensembles) + COMPILING * sum(each.stages for each in self.programs)

    def __rich__(self):
        from rich.table import Table

        title = (
            f"{self.members:,} members, {len(self.programs):,} program{'s' * (len(self.programs) != 1)}, "
            f"{len(self.ensembles):,} ensembles; at most about {told(self.seconds)} on one device"
        )
        table = Table("program", "runs", "members", "ensembles", "at most", title=title, box=None, header_style="bold")
        for program in self.programs[:20]:
            mine = [each for each in self.ensembles if each.program == program.number]
            cells = (program.number, len(program.runs), sum(len(each.members) for each in mine), len(mine))
            table.add_row(*map(str, cells), told(sum(each.seconds for each in mine)))
        if len(self.programs) > 20:
            table.add_row("…", "", "", "", "")
        return table


def make_plan(runs: Sequence[Run], seeds: Sequence[int], speed: float | None = None) -> SweepPlan:
    """Every run from every seed. Each is checked before anything runs."""
    groups: dict[tuple, list[int]] = {}
    for place, run in enumerate(runs):
        groups.setdefault(structure_of(run), []).append(place)
    speed = measured_speed() if speed is None else speed
    programs, ensembles = [], []
    for number, places in enumerate(groups.values(), start=1):
        run = runs[places[0]]
        check(run)
        cost = tuple(costs(run))
        each = [_seconds(runs[place], cost, speed) for place in places]
        programs.append(Program(number, tuple(places), cost, passes(run), max(each), len(run.stages)))
        members = [(place, int(seed)) for place in places for seed in seeds]
        time_of = dict(zip(places, each, strict=True))
        for part in split_evenly(members, room_for(run)):
            ensembles.append(Ensemble(number, tuple(part), sum(time_of[place] for place, _ in part)))
    return SweepPlan(tuple(programs), tuple(sorted(ensembles, key=lambda each: -each.seconds)))


def _seconds(run: Run, costs: Sequence[Cost], speed: float) -> float:
    total = 0.0
    for stage, cost in zip(run.stages, costs, strict=True):
        tokens = cost.samples * stage.task.layout.positions * stage.task.layout.slots
        total += int(np.max(stage.steps)) * (cost.flops / speed + TOKEN * tokens)
    return total


def room_for(run: Run) -> int:
    """How many members one ensemble holds: what fits into half of the memory, and no more than is of use."""
    most = members_of_a_group(run.model.weights_count)
    one, free = bytes_needed(run), free_memory()
    if free is None:
        return most
    require(
        one <= free,
        f"out of memory: one member needs {one / 2**30:,.2f} GiB, {free / 2**30:,.2f} GiB are free; "
        "use a smaller model or batch",
    )
    return max(1, min(most, int(free / 2 / one)))


@functools.cache
def measured_speed(size: int = 512, seconds: float = 0.05) -> float:
    """Floating-point operations per second of a matrix product on this device."""
    matrix = jnp.ones((size, size))
    product = jax.jit(lambda matrix: matrix @ matrix)
    product(matrix).block_until_ready()
    begun, count = time.perf_counter(), 0
    while time.perf_counter() - begun < seconds:
        product(matrix).block_until_ready()
        count += 1
    return 2.0 * size**3 * count / (time.perf_counter() - begun)


def told(seconds: float) -> str:
    """90 -> `1.5 min`."""
    for unit, name in ((3600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * unit:
            return f"{seconds / unit:,.1f} {name}"
    return f"{seconds:,.0f} s"
