"""A history as two Parquet tables, and back without loss.

history.parquet: one row per member and evaluation. members.parquet: one row per member. Parquet has no
arrays of several axes, so `shapes` goes into meta.json beside them.
"""

import importlib.util
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import require
from ..training import History
from .folder import TABLES

if TYPE_CHECKING:
    import polars


def require_packages() -> None:
    """A bare machine trains without these; say so before hours of training, not after."""
    for package in ("polars", "safetensors"):
        require(
            importlib.util.find_spec(package) is not None,
            f"the store reads and writes with {package}, which is missing; install it, or train without a "
            "store and keep `History.save`",
        )


def shapes(history: History) -> dict[str, Any]:
    """The axes of metrics and secrets beyond member and record."""
    secrets = history.secrets
    return {
        "metrics": {name: list(values.shape[2:]) for name, values in history.metrics.items()},
        "secret": None if secrets is None else {"shape": list(secrets.shape[1:]), "dtype": str(secrets.dtype)},
    }


def tables_of(ids: list[str], history: History) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What a folder keeps of a history: its part of meta.json, and its tables."""
    meta = {"shapes": shapes(history), "solved": int((history.solved_at >= 0).sum())}
    return meta, dict(zip(TABLES, (history_bytes(ids, history), members_bytes(ids, history)), strict=True))


def history_bytes(ids: Sequence[str], history: History) -> bytes:
    import polars as pl

    members = pl.Series("member", [each for each in ids for _ in history.step], dtype=pl.String)
    return _parquet(history.frame().insert_column(0, members))


def members_bytes(ids: Sequence[str], history: History) -> bytes:
    """`solved_at` is null where never, `secret` is flat."""
    import polars as pl

    frame = pl.DataFrame(
        {
            "member": list(ids),
            "seed": history.seeds,
            "solved_at": history.solved_at,
            "samples": history.samples,
            "diverged": history.diverged,
            "censored": history.censored,
        }
    ).with_columns(pl.when(pl.col("solved_at") >= 0).then("solved_at"))
    if history.secrets is not None:
        flat = history.secrets.reshape(len(ids), -1)
        frame = frame.with_columns(pl.Series("secret", [pl.Series(row) for row in flat]))
    return _parquet(frame)


def history_from(history: bytes, members: bytes, shapes: dict[str, Any]) -> History:
    """The inverse of the two above."""
    import polars as pl

    records, each = pl.read_parquet(io.BytesIO(history)), pl.read_parquet(io.BytesIO(members))
    count = len(each)
    first = records[: len(records) // count]
    metrics = {}
    for name, shape in shapes["metrics"].items():
        columns = [name] if not shape else [f"{name}.{index + 1}" for index in range(int(np.prod(shape)))]
        values = [_floats(records[column]) for column in columns]
        metrics[name] = np.stack(values, axis=1).reshape(count, len(first), *shape)
    secret = shapes["secret"]
    secrets = None
    if secret is not None:
        secrets = np.array(each["secret"].to_list(), secret["dtype"]).reshape(count, *secret["shape"])
    return History(
        seeds=_column(each, "seed"),
        stage=_column(first, "stage"),
        step=_column(first, "step"),
        metrics=metrics,
        solved_at=each["solved_at"].fill_null(-1).to_numpy(writable=True),
        samples=_column(each, "samples"),
        diverged=_column(each, "diverged"),
        censored=_column(each, "censored"),
        secrets=secrets,
    )


def _floats(column: "polars.Series") -> np.ndarray:
    """A metric, NaN where a row has none; filling takes longer than the rest, so only where it is needed."""
    return (column.fill_null(float("nan")) if column.null_count() else column).to_numpy()


def _column(frame: "polars.DataFrame", name: str) -> np.ndarray:
    return frame[name].to_numpy(writable=True)


def _parquet(frame: "polars.DataFrame") -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()
