"""What a sweep found: one row per member, one per evaluation, parameters as columns."""

import dataclasses
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..display.html import html_table
from ..errors import require
from ..statistics import median_time, wilson
from .rows import Part

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas  # pyright: ignore[reportMissingImports]
    import polars

MEASURED = ("share", "low", "high", "median", "median_low", "median_high", "bound")  # beside the counts, in a summary
COSTS = ("samples", "labels", "thoughts", "flops", "solved_at")  # to the goal, or to the end where it was not reached


@dataclasses.dataclass(frozen=True, eq=False)
class Table:
    """`members` has the parameters, the seed, and:

    solved, solved_at (steps; null: never). samples, labels, thoughts, flops: spent up to the goal, or up to the end
    where it was not reached, when they are lower bounds. passes: forward passes per answer, in the goal's reading.
    seconds: the member's share of its ensemble's. ended_by: goal, budget, divergence, or the ending with its look, as
    `halving at 200`: all but the first are right-censored.
    """

    members: "polars.DataFrame"
    parameters: tuple[str, ...]
    parts: tuple[Part, ...] = ()
    failed: tuple[tuple[int, str], ...] = ()  # how many members, and why
    taken: int = 0  # members that were in the store

    @functools.cached_property
    def evaluations(self) -> "polars.DataFrame":
        """One row per member and evaluation that it made; a metric over levels becomes `name.1`, `name.2`, ..."""
        import polars as pl

        frames, order = (
            [],
            {row: place for place, row in enumerate(sorted(r for part in self.parts for r in part.rows))},
        )
        for part in self.parts:
            history = part.histories()
            frame = history.frame().drop("seed")
            metrics = [name for name in frame.columns if name not in ("stage", "step")]
            places = np.array([order[row] for row in part.rows])
            row = pl.Series("row", np.repeat(places, len(history.step)), dtype=pl.UInt32)
            frames.append(frame.insert_column(0, row).filter(~pl.all_horizontal(pl.col(metrics).is_null())))
        if not frames:
            kinds = {name: self.members.schema[name] for name in (*self.parameters, "member", "seed")}
            return pl.DataFrame(schema={**kinds, "stage": pl.Int64, "step": pl.Int64})
        records = pl.concat(frames, how="diagonal_relaxed").sort("row", maintain_order=True)
        named = self.members.select(*self.parameters, "member", "seed")[records["row"]]
        return pl.concat([named, records.drop("row")], how="horizontal")

    @property
    def failure(self) -> str:
        """How many members failed and why, in one line; empty where none did."""
        reasons: dict[str, int] = {}
        for count, why in self.failed:
            reasons[why] = reasons.get(why, 0) + count
        return "; ".join(f"{count:,} members failed: {why}" for why, count in reasons.items())

    def pandas(self) -> "pandas.DataFrame":
        """The members."""
        try:
            import pandas as pd  # pyright: ignore[reportMissingImports]
        except ImportError:
            require(
                False, "a pandas frame needs pandas, which is missing; install it, or use .members, which is polars"
            )
            raise
        return pd.DataFrame(self.members.to_dict(as_series=False))

    def summary(self, by: str | Sequence[str] | None = None, of: str = "samples") -> "polars.DataFrame":
        """Per value of the parameters `by` (default: all): the share that reached the goal with Wilson's interval, and
        the censored median of a cost with the interval of the sign test (null: beyond the budget)."""
        import polars as pl

        names = list(self.parameters) if by is None else [by] if isinstance(by, str) else list(by)
        for name in names:
            self.require_column(name, self.parameters)
        self.require_column(of, COSTS)
        rows = []
        groups = self.members.group_by(names, maintain_order=True) if names else [((), self.members)]
        for key, group in groups if len(self.members) else ():
            rows.append({**dict(zip(names, key, strict=True)), **measured(group, of)})
        kinds = {name: self.members.schema[name] for name in names}
        kinds |= {**dict.fromkeys(("members", "solved"), pl.Int64), **dict.fromkeys(MEASURED, pl.Float64)}
        return pl.DataFrame(rows, schema=kinds)

    def plot(self, x: str, y: str = "solved", color: str | None = None, ax: Any = None) -> "matplotlib.figure.Figure":
        """Lines of `y` (solved, or a cost) against a parameter, one per value of the parameter `color`; or, where `y`
        is a parameter too, a heat map of `color` (default solved). Intervals are those of `summary`; a median beyond
        the budget is an open triangle at its lower bound."""
        from .picture import heat_map, lines

        require(
            len(self.members) > 0, f"a plot needs members: {self.failure or 'there are none'}; fix that and sweep again"
        )
        self.require_column(x, self.parameters)
        return (heat_map if y in self.parameters else lines)(self, x, y, color, ax)

    def require_column(self, name: str, known: Sequence[str]) -> None:
        require(name in known, f"a column here is one of {', '.join(known)}: {name!r}; use one of these")

    def write(self, folder: str | Path) -> Path:
        """members.parquet and evaluations.parquet."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.members.write_parquet(folder / "members.parquet")
        self.evaluations.write_parquet(folder / "evaluations.parquet")
        return folder

    def __repr__(self) -> str:
        return f"Table({self._counts()}; one row per {', '.join(self.parameters) or 'member'})"

    def _repr_html_(self) -> str:
        heading, rows = self._summary()
        return html_table(self._counts(), heading, rows)

    def __rich__(self):
        from rich.table import Table as Drawn

        heading, rows = self._summary()
        table = Drawn(*heading, box=None, header_style="bold")
        for row in rows:
            table.add_row(*row)
        return table

    def _counts(self) -> str:
        solved = int(self.members["solved"].sum()) if "solved" in self.members.columns else 0
        failed = sum(count for count, _ in self.failed)
        parts = [f"{len(self.members):,} members", f"{solved:,} solved", *([f"{failed:,} failed"] if failed else [])]
        return ", ".join(parts)

    def _summary(self) -> tuple[list[str], list[list[str]]]:
        """Return heading and rows of the table that this prints: `summary()`, at most 40 rows of it."""
        heading = [*self.parameters, "solved", "95 %", "median samples", "95 %"]
        if "solved" not in self.members.columns:  # every ensemble failed
            return heading, []
        found, rows = self.summary(), []
        for row in found.head(40).iter_rows(named=True):
            times = "·" if row["median"] is None else f"{row['median']:,.0f}"
            high = "∞" if row["median_high"] is None else f"{row['median_high']:,.0f}"
            rows.append([
                *(f"{row[name]:.4g}" if isinstance(row[name], float) else str(row[name]) for name in self.parameters),
                f"{row['solved']}/{row['members']}", f"{row['low']:.2f} – {row['high']:.2f}", times,
                f"{row['median_low']:,.0f} – {high}",
            ])  # fmt: skip
        return heading, rows if len(found) <= 40 else [*rows, ["…"] * len(heading)]


def measured(group: "polars.DataFrame", of: str) -> dict[str, Any]:
    """Success and a cost of some members, each with its interval."""
    solved = group["solved"].to_numpy().astype(bool)
    cost = "samples" if of == "solved" else of
    times = group[cost].cast(float).fill_null(np.inf).to_numpy()
    share, middle = wilson(int(solved.sum()), len(solved)), median_time(times, solved)
    finite = [value if np.isfinite(value) else None for value in (middle.value, *middle.interval, middle.bound)]
    return {
        "members": len(solved), "solved": int(solved.sum()), "share": float(solved.mean()), "low": share.low,
        "high": share.high, "median": finite[0], "median_low": finite[1], "median_high": finite[2], "bound": finite[3],
    }  # fmt: skip
