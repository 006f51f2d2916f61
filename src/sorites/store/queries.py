"""SQL over what a store holds."""

import io
from typing import TYPE_CHECKING

from ..errors import SpecError
from .catalogue import list_runs
from .folder import TABLES, Damaged
from .sql import checked
from .store import Store

if TYPE_CHECKING:
    import polars


def query(store: Store, sql: str) -> "polars.DataFrame":
    """Run one SQL query over the tables `runs`, `members` and `history` of a store.

    Args:
        store: the store.
        sql: a SELECT, with or without WITH, or SHOW TABLES. In `members` and `history` the column `run` is the id of
            the folder.

    Returns:
        The rows that the query selects.

    Raises:
        SpecError: where the query reads anything else than these tables, is too long, or is no SQL, and where a file of
            the store is damaged.
    """
    import polars as pl

    text, named = checked(sql)
    tables: dict[str, pl.LazyFrame] = {"runs": list_runs(store).lazy()}
    for name, table in zip(("history", "members"), TABLES, strict=True):
        frames = _frames(store, table) if name in named else []  # many histories take a while
        empty = pl.LazyFrame(schema={"member": pl.String, "seed": pl.Int64, "run": pl.String})
        tables[name] = pl.concat([empty, *frames], how="diagonal_relaxed")
    try:
        return pl.SQLContext(tables).execute(text, eager=True)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise SpecError(
            f"a query is SQL over runs, members and history: {sql!r} ({reason}); "
            "see the columns with SELECT * FROM runs LIMIT 1"
        ) from None


def _frames(store: Store, table: str) -> "list[polars.LazyFrame]":
    """That table of every folder, from bytes whose hash is right."""
    import polars as pl

    try:
        return [
            pl.read_parquet(io.BytesIO(folder.read(table))).lazy().with_columns(run=pl.lit(folder.path.name))
            for folder in store.folders()
            if folder.has_tables
        ]
    except Damaged as damage:
        raise SpecError(f"a query reads what was written: {damage}; see `sorites runs check`") from None
