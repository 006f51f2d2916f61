"""A grid: points of named parameters, and the function that makes a run of each."""

import dataclasses
import difflib
import inspect
import itertools
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..errors import SpecError, require
from ..training import Run

Point = Mapping[str, Any]
PLAIN = (int, float, str, bool)  # what a parameter's column can hold
TAKEN = ("run", "member", "seed", "stage", "step")  # columns that a table has anyway


@dataclasses.dataclass(frozen=True)
class Grid:
    """Points, each a call of `make`. `so.grid(make, rate=(0.1, 0.2), bits=(8, 16))` has four."""

    make: Callable[..., Run]
    points: tuple[Point, ...]

    def __post_init__(self):
        known = inspect.signature(self.make).parameters
        every = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in known.values())
        hints = _hints(self.make)
        for point in self.points:
            for name, value in point.items():
                if name not in known and not every:
                    near = difflib.get_close_matches(name, known, 1, 0)
                    remedy = f"did you mean {near[0]!r}?" if near else "it takes none"
                    raise SpecError(f"a parameter is one that {_named(self.make)} takes: {name!r}; {remedy}")
                _fits(name, value, hints.get(name))

    def __len__(self) -> int:
        return len(self.points)

    def zipped(self, **axes: Sequence[Any]) -> "Grid":
        """Every point with every row of these axes, which go together: bits=(8, 16), sparsity=(4, 8) are two rows."""
        lengths = {name: len(values) for name, values in axes.items()}
        require(len(set(lengths.values())) == 1, f"axes that go together are equally long: {lengths}; make them so")
        rows = [dict(zip(axes, row, strict=True)) for row in zip(*axes.values(), strict=True)]
        return Grid(self.make, tuple({**point, **row} for point in self.points for row in rows))

    def where(self, condition: Callable[..., bool]) -> "Grid":
        """The points at which `condition`, called with the parameters that it names, holds."""
        asked = inspect.signature(condition).parameters
        kept = []
        for point in self.points:
            missing = [name for name in asked if name not in point]
            require(not missing, f"a condition asks for parameters of the grid: {missing[:1]}; use {', '.join(point)}")
            if condition(**{name: point[name] for name in asked}):
                kept.append(point)
        return Grid(self.make, tuple(kept))

    def __add__(self, other: "Grid") -> "Grid":
        require(self.make is other.make, "grids are joined where one function makes their runs; sweep the others apart")
        return Grid(self.make, (*self.points, *other.points))

    def runs(self) -> list[Run]:
        """One run per point; what `make` refuses is said with the point."""
        made = []
        for point in self.points:
            try:
                run = self.make(**point)
            except SpecError as refusal:
                raise SpecError(f"{_told(point)}: {refusal}") from None
            except TypeError as error:
                raise SpecError(f"{_told(point)}: {_named(self.make)} cannot be called so ({error})") from error
            require(isinstance(run, Run), f"{_told(point)}: {_named(self.make)} returned no Run; let it return one")
            made.append(run)
        return made


def grid(make: Callable[..., Run], /, **axes: Any) -> Grid:
    """The product of the axes."""
    values = {}
    for name, axis in axes.items():
        require(
            isinstance(axis, Iterable) and not isinstance(axis, str | bytes),
            f"an axis is a list of values: {name}={axis!r}; write {name}=({axis!r},)",
        )
        values[name] = list(axis)
    return Grid(make, tuple(dict(zip(axes, row, strict=True)) for row in itertools.product(*values.values())))


def points_of(what: "Grid | Mapping[str, Any] | Iterable[Any]") -> tuple[tuple[Point, ...], list[Run]]:
    """Parameters and runs; runs without parameters are told apart by a column `run`."""
    if isinstance(what, Grid):
        points, runs = what.points, what.runs()
    elif isinstance(what, Mapping):
        points, runs = tuple({"run": str(name)} for name in what), list(what.values())
    else:
        runs = list(what)
        points = tuple({"run": number} for number in range(len(runs)))
    require(len(runs) > 0, "a sweep needs a run: it has none; widen its axes or its condition")
    wrong = [type(run).__name__ for run in runs if not isinstance(run, Run)]
    require(not wrong, f"a sweep is made of Runs: {wrong[:1]}; use a Grid, or a list or dict of Runs")
    names = [tuple(point) for point in points]
    require(
        len({frozenset(each) for each in names}) == 1,
        f"every point has the same parameters: {names[0]} and others; name them all at every point",
    )
    same = len(points) - len({tuple(sorted((k, repr(v)) for k, v in point.items())) for point in points})
    require(same == 0, f"a point is there once: {same} are there twice; leave them out")
    return points, runs


def _hints(make: Callable[..., Run]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(make)
    except (NameError, TypeError):
        return {}


def _fits(name: str, value: Any, hint: Any) -> None:
    require(name not in TAKEN, f"a table has a column of that name already: {name!r}; rename the parameter")
    plain = isinstance(value, PLAIN) or value is None
    require(plain, f"a parameter is a number, a string or a bool: {name}={value!r}; make the rest inside the function")
    if hint not in PLAIN or value is None:
        return
    right = isinstance(value, int | float if hint is float else hint) and (hint is bool) == isinstance(value, bool)
    require(right, f"{name} is a {hint.__name__}: {name}={value!r}; give it one")


def _named(make: Callable[..., Run]) -> str:
    return getattr(make, "__name__", "make")


def _told(point: Point) -> str:
    return ", ".join(f"{name}={value}" for name, value in point.items())
