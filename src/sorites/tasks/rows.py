"""Rows of a file that somebody else wrote: the good ones, and for every other one its line and what is wrong."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ..errors import SpecError, require

T = TypeVar("T")
KINDS = (".jsonl", ".json", ".ndjson", ".parquet")


class Skipped(NamedTuple):
    line: int  # from 1; of a Parquet file the row
    why: str


def read_rows(path: str | Path, parse: Callable[[dict[str, Any]], T]) -> tuple[list[tuple[int, T]], list[Skipped]]:
    """Each row with its line as `parse` makes it of an object, and the rows that are none or that it refuses with a
    ValueError."""
    good, bad = [], []
    for line, row in _objects(Path(path)):
        try:
            if isinstance(row, str):
                row = json.loads(row)
            require(isinstance(row, dict), "it is no object")
            good.append((line, parse(row)))
        except json.JSONDecodeError as error:
            bad.append(Skipped(line, f"it is no JSON ({error.msg})"))
        except (ValueError, RecursionError) as refusal:
            bad.append(Skipped(line, str(refusal) or "it cannot be read"))
    require(bool(good or bad), f"rows are needed: {path} is empty; give at least one")
    few = "; ".join(f"line {line}: {why}" for line, why in bad[:3])
    require(bool(good), f"a row or more can be read: {path} has none ({few}); mend them")
    return good, bad


def passed_over(path: str | Path, skipped: list[Skipped]) -> str:
    """Which rows were passed over, in one sentence."""
    few = ", ".join(f"line {line} ({why})" for line, why in skipped[:10])
    more = f" and {len(skipped) - 10} more" if len(skipped) > 10 else ""
    return f"{len(skipped)} of the rows of {path} are passed over: {few}{more}"


def _objects(path: Path) -> Iterator[tuple[int, Any]]:
    require(path.is_file(), f"rows are a file of JSON lines or Parquet: {path} is none; check the path")
    if path.suffix == ".parquet":
        import polars as pl

        try:
            yield from enumerate(pl.read_parquet(path).iter_rows(named=True), start=1)
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = str(error).splitlines()[0]
            raise SpecError(f"{path} cannot be read as Parquet ({reason}); give another file") from None
        return
    with path.open(encoding="utf-8", errors="replace") as lines:
        yield from ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
