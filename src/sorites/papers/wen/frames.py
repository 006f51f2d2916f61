"""The figures' rows as tables."""

import polars as pl

from ..figure import Frames, Training
from .grids import Complexity, Curves, Maps, Passes


def measure(size: Complexity | Maps | Curves | Passes, training: Training) -> Frames:
    return {name: pl.DataFrame(rows) for name, rows in size.tables(training.teach).items() if rows}
