"""The figures' rows as tables."""

import polars as pl

from ...training import Lab
from ..figure import Frames
from .grids import Complexity, Curves, Maps, Repetitions


def measure(size: Complexity | Maps | Curves | Repetitions, lab: Lab) -> Frames:
    return {name: pl.DataFrame(rows) for name, rows in size.tables(lab).items() if rows}
