"""What an ensemble leaves behind: measurements with named axes, and the trained models."""

import dataclasses
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..atomic import atomic_write
from ..display.html import html_table
from ..display.summary import summary
from ..errors import require

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEDIANS = "median at the end of each stage; of a level, the lowest"
LISTED = "arrays"  # first in the file, the names of the others: a spoilt directory of a zip may hide some


@dataclasses.dataclass(frozen=True, eq=False)
class History:
    """Measurements of every member at every evaluation. NaN: the member had already stopped."""

    seeds: np.ndarray  # [member]
    stage: np.ndarray  # [record], from 1
    step: np.ndarray  # [record]
    metrics: dict[str, np.ndarray]  # [member, record, ...level]
    solved_at: np.ndarray  # [member], -1 where never
    samples: np.ndarray  # [member]
    diverged: np.ndarray  # [member]
    censored: np.ndarray  # [member], True where the clock ended it before its budget did
    secrets: np.ndarray | None = None  # [member, ...]

    def last(self, metric: str) -> np.ndarray:
        """The final measurement of every member; NaN where it diverged."""
        values = last_measured(self._metric(metric))
        values[np.asarray(self.diverged, bool)] = np.nan
        return values

    def _metric(self, name: str) -> np.ndarray:
        require(name in self.metrics, f"a metric is one of {', '.join(self.metrics)}: {name!r}; use one of these")
        return self.metrics[name]

    def entry(self, stage: int, metric: str) -> np.ndarray:
        """The measurement on entry to a stage, before its first step."""
        return self._metric(metric)[:, np.flatnonzero(self.stage == stage)[0]]

    def end(self, stage: int, metric: str) -> np.ndarray:
        """The last measurement that every member made in a stage."""
        return last_measured(self._metric(metric)[:, self.stage == stage])

    def steps_taken(self, stage: int | None = None) -> np.ndarray:
        """Count the steps of every member, up to where it left its stages or diverged.

        Args:
            stage: a number from 1; None for all stages together.

        Returns:
            A number for each member.
        """
        if stage is None:
            return np.sum([self.steps_taken(int(each)) for each in np.unique(self.stage)], axis=0)
        here = self.stage == stage
        steps = self.step[here] - self.step[here][0]
        measured = np.zeros((len(self.seeds), len(steps)), bool)
        for values in self.metrics.values():
            measured |= ~np.isnan(values[:, here].reshape(*measured.shape, -1)).all(axis=-1)
        return np.max(np.where(measured, steps, 0), axis=1)

    def frame(self) -> "polars.DataFrame":
        """One row per member and evaluation; a metric over levels becomes columns `name.1`, `name.2`, ..."""
        import polars as pl

        members, records = len(self.seeds), len(self.step)
        columns = {
            "seed": np.repeat(self.seeds, records),
            "stage": np.tile(self.stage, members),
            "step": np.tile(self.step, members),
        }
        for name, values in self.metrics.items():
            flat = values.reshape(members * records, -1)
            names = [name] if values.ndim == 2 else [f"{name}.{index + 1}" for index in range(flat.shape[1])]
            columns |= dict(zip(names, flat.T, strict=True))
        frame = pl.DataFrame(columns)
        return frame.with_columns(pl.col(pl.Float32, pl.Float64).fill_nan(None))

    def members(self) -> "polars.DataFrame":
        """One row per member: when it was solved, the steps that it took and their cost, whether it diverged."""
        import polars as pl

        solved = [None if step < 0 else int(step) for step in self.solved_at]
        return pl.DataFrame(
            {
                "seed": self.seeds,
                "solved_at": solved,
                "steps": self.steps_taken(),
                "samples": self.samples,
                "diverged": self.diverged,
                "censored": self.censored,
            }
        )

    def save(self, path: str | Path) -> Path:
        """Write .npz with numpy alone (no pickle); `History.load` and `sorites runs import` read it."""
        path = Path(path)
        buffer = io.BytesIO()
        arrays: dict[str, Any] = self._arrays()
        np.savez_compressed(buffer, **{LISTED: np.array(list(arrays))}, **arrays)
        with atomic_write(path) as draft:
            draft.write_bytes(buffer.getvalue())
        return path

    @classmethod
    def load(cls, path: str | Path) -> "History":
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            names = [name for name in stored.files if name != LISTED]
            listed = stored[LISTED].tolist() if LISTED in stored.files else names  # older files have no list
            require(
                {*names} == {*listed},
                f"a history holds what it lists: {path} lacks {sorted({*listed} - {*names})}; save it again",
            )
            fields = {name: stored[name] for name in names if not name.startswith("metric:")}
            metrics = {name[7:]: stored[name] for name in names if name.startswith("metric:")}
        return cls(metrics=metrics, **fields)

    def _arrays(self) -> dict[str, np.ndarray]:
        named = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "metrics"}
        arrays = {name: value for name, value in named.items() if value is not None}
        return arrays | {f"metric:{name}": value for name, value in self.metrics.items()}

    def plot(
        self, metric: str = "own.loss", ax: "Axes | None" = None, label: str | None = None, log: bool = False
    ) -> "Figure":
        """Median and 10-90 % band of a metric over the members, stage lines included; returns the figure. label: in the
        legend, so that several histories can share one `ax`; log: a logarithmic vertical axis."""
        from ..drawing import band, new_figure, stage_lines, style

        values = self._metric(metric)
        said = label or f"{len(self.seeds)} seeds, median and 10–90 %"
        with style():
            axes: Any = new_figure().subplots() if ax is None else ax
            for level in range(values[0, 0].size):
                named = said if values.ndim == 2 else f"level {level + 1}" + (f", {label}" if label else "")
                band(axes, self.step, values.reshape(*values.shape[:2], -1)[:, :, level], named)
            starts = [int(self.step[self.stage == stage][0]) for stage in np.unique(self.stage)]
            stage_lines(axes, starts[1:])
            axes.set(xlabel="training step", ylabel=metric.replace("_", " "), yscale="log" if log else "linear")
            axes.legend()
        return axes.figure

    def __repr__(self) -> str:
        return f"History({summary(self)})"

    def _repr_html_(self) -> str:
        return html_table(f"{summary(self)}. Below: {MEDIANS}.", *self._medians())

    def __rich__(self):
        from rich.table import Table

        count, (heading, rows) = len(self.seeds), self._medians()
        table = Table(*heading, title=f"{count} member{'s' if count > 1 else ''}, {MEDIANS}")
        for row in rows:
            table.add_row(*row)
        return table

    def _medians(self) -> tuple[list[str], list[list[str]]]:
        """Return heading and rows of the table that this prints."""
        count = len(self.seeds)
        stages = np.unique(self.stage)
        steps = [f"stage {stage}, {_range(self.steps_taken(int(stage)))}" for stage in stages]
        rows = []
        for name in self.metrics:
            ends = [self.end(int(stage), name).reshape(count, -1) for stage in stages]
            lowest = [_median([np.nanmin(row) for row in end if not np.isnan(row).all()]) for end in ends]
            rows.append([name, *lowest])
        return ["metric", *steps], rows


def _range(steps: np.ndarray) -> str:
    """The steps that members took: one number, or the least and the most."""
    least, most = int(steps.min()), int(steps.max())
    return f"{most} steps" if least == most else f"{least} to {most} steps"


def _median(values: list) -> str:
    return f"{np.median(values):.4g}" if values else "·"


def last_measured(values: np.ndarray) -> np.ndarray:
    """Along the record axis, the last entry that is not NaN; NaN where there is none."""
    missing = np.isnan(values.reshape(*values.shape[:2], -1)).all(axis=-1)
    seen = np.logical_not(missing)
    final = np.where(seen.any(axis=-1), seen.shape[1] - 1 - seen[:, ::-1].argmax(axis=1), -1)
    return values[np.arange(len(values)), final]
