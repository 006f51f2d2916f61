"""The figures' rows as tables."""

import polars as pl

from ..figure import Frames, Training
from .grids import Complexity, Curves, Maps, Repetitions


def measure(size: Complexity | Maps | Curves | Repetitions, training: Training) -> Frames:
    return {name: pl.DataFrame(rows) for name, rows in size.tables(training.train).items() if rows}
