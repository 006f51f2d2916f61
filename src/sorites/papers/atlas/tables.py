"""The atlas' tables: a row per member, a row per point of its curve, and what they say arm by arm."""

from typing import Any

import numpy as np
import polars as pl

from ...statistics import median_time, wilson
from ..figure import Frames
from .trials import Columns


def frames_of(columns: Columns) -> Frames:
    """A row per member, and one per point of its curve; a refused cell is a row without a seed."""
    frame = pl.DataFrame({name: values.tolist() for name, values in columns.items()}, infer_schema_length=None)
    labels = [name for name in frame.columns if name.startswith("label") and name != "labels"]
    curves = frame.select(*labels, "seed", "curve_steps", "curve").explode("curve_steps", "curve")
    curves = curves.filter(pl.col("curve").is_not_nan()).with_columns(pl.col("curve_steps").cast(pl.Int32))
    missing = [
        pl.when(pl.col(name) >= 0).then(name)
        for name in ("seed", "solved_at", "samples", "labels", "thoughts", "passes")
    ]
    data = frame.drop("curve_steps", "curve").with_columns(*missing, pl.col("rate", "flops").fill_nan(None))
    return {
        "data": data,
        "curves": curves.with_columns(pl.col("curve").cast(pl.Float32), pl.col("seed").cast(pl.Int32)),
    }


def summary(frames: Frames, price: str = "samples") -> list[dict[str, Any]]:
    """Per arm: success with Wilson's interval, and the censored median of a price with the sign test's."""
    data, found = frames["data"], []
    names = [name for name in data.columns if name.startswith("label") and name != "labels"]
    for key, group in data.group_by(names, maintain_order=True):
        row: dict[str, Any] = {"labels": tuple(key), "why": group["why"][0], "rate": group["rate"][0]}
        if group["seed"][0] is None:
            found.append(row | {"members": 0})
            continue
        solved = group["solved"].to_numpy().astype(bool)
        spent = group[price].cast(float).fill_null(0.0).to_numpy()
        # Stages that are left early end a plan early: who ends without the goal has failed, whatever was left unspent.
        times = np.where(solved, spent, spent.max())
        low, high = wilson(int(solved.sum()), len(solved))
        row |= {"members": len(solved), "solved": int(solved.sum()), "low": low, "high": high}
        row |= {"median": median_time(times, solved), "passes": group["passes"][0]}
        found.append(row)
    return found
