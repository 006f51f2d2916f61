"""From what the jobs brought to the members' rows of a table."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..training import History
from ..training.cost import spent, tokens
from .grids import Point
from .plan import Program, SweepPlan
from .work import Job, Outcome

if TYPE_CHECKING:
    import polars

COUNTS = ("samples", "labels", "thoughts")


class Part:
    """A job and its history; `kept` are the places in it that count."""

    def __init__(self, job: Job, outcome: Outcome):
        self.job, self.history, self.seconds = job, outcome.history, outcome.seconds
        self.rows, self.kept = np.array(job.rows), np.arange(len(job.rows))
        solved, diverged = self.history.solved_at >= 0, np.asarray(self.history.diverged, bool)
        self.ended_by = np.where(solved, "goal", np.where(diverged, "divergence", "budget")).astype(object)

    def without(self, rows: set[int]) -> "Part":
        """Those who are not trained further."""
        chosen = np.array([row not in rows for row in self.rows.tolist()], bool)
        self.rows, self.kept, self.ended_by = self.rows[chosen], self.kept[chosen], self.ended_by[chosen]
        return self

    def histories(self) -> History:
        """Of those who count."""
        if len(self.kept) == len(self.history.seeds):
            return self.history
        names = ("seeds", "solved_at", "samples", "diverged", "censored")
        secrets = None if self.history.secrets is None else self.history.secrets[self.kept]
        metrics = {name: values[self.kept] for name, values in self.history.metrics.items()}
        fields = {name: getattr(self.history, name)[self.kept] for name in names}
        return dataclasses.replace(self.history, metrics=metrics, secrets=secrets, **fields)

    def costs(self, program: Program) -> np.ndarray:
        """[member, quantity]: samples, labels, thoughts, flops; labels are the run's own, flops its program's."""
        steps = spent(self.job.runs[0], self.history)[self.kept]
        costs = np.array(
            [
                [(*tokens(stage), each.flops) for stage, each in zip(run.stages, program.costs, strict=False)]
                for run in self.job.runs
            ]
        )
        which = np.array(self.job.which)[self.kept]
        return np.einsum("ms,msq->mq", steps.astype(float), costs[which])


def columns() -> "dict[str, polars.DataType | type[polars.DataType]]":
    """The columns of a member beside the parameters, and their types."""
    import polars as pl

    kinds = {"member": pl.String, "seed": pl.Int64, "solved": pl.Boolean, "solved_at": pl.Int64}
    kinds |= {**dict.fromkeys(COUNTS, pl.Int64), "flops": pl.Float64, "passes": pl.Int64, "seconds": pl.Float64}
    return kinds | {"diverged": pl.Boolean, "ended_by": pl.String}


def rows_of(
    points: Sequence[Point], members: Sequence[tuple[int, int]], plan: SweepPlan, parts: Sequence[Part]
) -> "polars.DataFrame":
    """One row per member, in the order of the sweep; those of failed ensembles are missing."""
    import polars as pl

    frames = [pl.DataFrame(schema={"row": pl.UInt32, **columns()})]
    for part in parts:
        program, kept = plan.programs[part.job.program - 1], part.kept
        solved, costs = part.history.solved_at[kept], part.costs(program)
        ids = [part.job.ids[place] for place in kept] if part.job.ids else [None] * len(kept)
        frames.append(
            pl.DataFrame(
                {
                    "row": pl.Series(part.rows, dtype=pl.UInt32),
                    "member": pl.Series(ids, dtype=pl.String),
                    "seed": pl.Series(part.history.seeds[kept], dtype=pl.Int64),
                    "solved": solved >= 0,
                    "solved_at": pl.Series([None if step < 0 else int(step) for step in solved], dtype=pl.Int64),
                    **{name: costs[:, place].astype(np.int64) for place, name in enumerate(COUNTS)},
                    "flops": costs[:, 3],
                    "passes": pl.Series([program.passes] * len(kept), dtype=pl.Int64),
                    "seconds": pl.Series([part.seconds[place] for place in kept], dtype=pl.Float64),
                    "diverged": np.asarray(part.history.diverged, bool)[kept],
                    "ended_by": pl.Series(list(part.ended_by), dtype=pl.String),
                }
            )
        )  # fmt: skip
    named = pl.DataFrame([dict(point) for point in points], infer_schema_length=None, strict=False)
    found = pl.concat(frames).sort("row")
    places = pl.Series([members[row][0] for row in found["row"]], dtype=pl.UInt32)
    return pl.concat([named[places], found.drop("row")], how="horizontal")
