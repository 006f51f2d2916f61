"""A finding, and how its numbers are read from the records and written."""

import dataclasses
import json
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from records import records
from sorites.papers import registry
from sorites.store.tables import read_tables

ROOT = Path(__file__).parents[3]
FIGURES = ROOT / "results" / "figures"
Table = tuple[list[str], list[list[str]]]  # head and rows


@dataclasses.dataclass(frozen=True)
class Finding:
    title: str
    text: str
    table: Callable[[], Table]
    sources: tuple[str, ...]  # ids of claims and figures
    values: Callable[[], dict[str, str]] = dict
    picture: str = ""  # id of a figure in generate.PICTURES
    record: str = ""  # a file under results/ that is no figure's

    def words(self) -> str:
        return self.text.format(**self.values())


class Unsupported(ValueError):
    """A record that no longer says what a text says."""


def require(condition: Any, sentence: str) -> None:
    if not bool(condition):
        raise Unsupported(f"the record no longer supports: {sentence}; change the text in docs/site/findings")


def frame(figure: str, part: str = "data") -> pl.DataFrame:
    return pl.read_parquet(FIGURES / figure / f"{part}.parquet")


def parameters(figure: str) -> dict[str, Any]:
    return json.loads((FIGURES / figure / "about.json").read_text())["parameters"]


@cache
def recorded(name: str) -> Any:
    return json.loads((ROOT / "results" / f"{name}.json").read_text())


def measured(id: str) -> dict[str, float | None]:
    """A claim's measured quantities at quick scale."""
    return records()[id]["measured"]


def sentence(figure: str) -> str:
    """The finding that the figure itself states at paper scale."""
    found, frames = registry.figures()[figure], read_tables(FIGURES / figure)
    assert frames is not None
    assert found.find is not None
    return found.find(frames, found.sizes["paper"])


def ends(figure: str, *keys: str) -> pl.DataFrame:
    """The last evaluation of each member."""
    return frame(figure).sort("stage", "step").group_by(*keys, maintain_order=True).last()


def count(number: float | None) -> str:
    return "" if number is None else f"{number:,.0f}"


def listed(values: Iterable[str]) -> str:
    *most, last = values
    return f"{', '.join(most)} and {last}" if most else last
