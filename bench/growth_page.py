"""Growth and roofline for docs/speed.md: two pictures and two sections, from results/growth-*.json.

`bench/growth.py` makes the records, `bench/page.py` writes the page.
"""

import json
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from sorites.drawing import COLOURS, QUIET, new_figure, style

ROOT = Path(__file__).parents[1]
CURVES = {"members": "members", "bits": "bits", "length": "length of the chain", "layers": "layers"}
ADAM_BYTES = 8 * 4  # per weight and step: read and write weight and two moments, write and read the gradient, float32
INKS = tuple(COLOURS.values())

GROWTH = """\
## Growth

Each panel varies one size and times one training step without evaluations. A dashed line starts at the first
point and grows as the floating-point operations of the step's matrix products. Where time stays below it, fixed costs
or idle cores dominate the small sizes; where time rises above it, work other than products (random draws, softmax,
Adam) grows faster.

![Time of a training step; dashed: growth of the matrix products](growth.png)

The table gives the growth from the first to the last point of each curve. A GPT with one layer is much cheaper
than one with two: it uses token tables and computes the supervised positions only.
"""
ROOFLINE = """\
## Roofline

The picture compares wen's GPT with two limits of the machine. The solid grey line is the rate at which the fastest
measured matrix product would do the products of a step. The dotted line is the rate at which memory could move
what Adam reads and writes; activations are not counted.

![Member-steps per second against width, with the machine's limits](roofline.png)

The table gives the fraction of the solid line that a training step reaches. On the H200 one small model leaves
most of the GPU unused, and training members side by side uses it better.
"""


def read_records() -> list[dict]:
    """The records of `bench/growth.py`, one per machine."""
    return [json.loads(path.read_text()) for path in sorted((ROOT / "results").glob("growth-*.json"))]


def curve_points(record: dict, curve: str) -> dict[str, list[dict]]:
    """The points of a curve, by the name of the series, sorted along the axis."""
    found: dict[str, list[dict]] = {}
    for point in record["points"]:
        if point["curve"] == curve:
            found.setdefault(point["series"], []).append(point)
    return {name: sorted(points, key=lambda point: point["at"]) for name, points in found.items()}


def device(record: dict) -> str:
    return f"{record['cores']} CPU cores" if record["device"] == "cpu" else record["device"]


def limit(record: dict, name: str) -> float:
    """A limit of the machine, "flops" or "bytes" per second: the better of two measurements."""
    return max(record["limits"][when][name] for when in ("before", "after"))


def _column(points: list[dict], name: str) -> np.ndarray:
    return np.array([point[name] for point in points], float)


def _set_ticks(ax: Axes, points: list[dict]) -> None:
    values = sorted({point["at"] for point in points})
    ax.set_xticks(values, [str(value) for value in values], fontsize=7)
    ax.minorticks_off()


def draw_growth(records: list[dict]) -> None:
    """Draw docs/growth.png: milliseconds per step against each size, a row of panels per machine."""
    with style():
        figure = new_figure(9.0, 3.4 * len(records) + 0.6)
        rows = np.atleast_2d(figure.subplots(len(records), len(CURVES)))
        for record, row in zip(records, rows, strict=True):
            for ax, (curve, label) in zip(row, CURVES.items(), strict=True):
                series = curve_points(record, curve)
                for ink, (name, points) in zip(INKS, series.items(), strict=False):
                    at, seconds, flops = (_column(points, each) for each in ("at", "seconds", "flops"))
                    ax.loglog(at, 1e3 * seconds, "o-", color=ink, label=name, markersize=4)
                    ax.loglog(at, 1e3 * seconds[0] * flops / flops[0], "--", color=ink, linewidth=1)
                ax.set(xlabel=label)
                _set_ticks(ax, [point for points in series.values() for point in points])
                ax.legend(fontsize=7, loc="upper left")
                low, high = ax.get_ylim()
                ax.set_ylim(low, high * (high / low) ** 0.35)  # room for the legend
            row[0].set(ylabel="ms per step", title=f"{device(record)}; dashed: growth of the matrix products")
        figure.savefig(ROOT / "docs" / "growth.png", dpi=figure.dpi, facecolor="white")


def draw_roofline(records: list[dict]) -> None:
    """Draw docs/roofline.png: member-steps per second against width, below two limits of the machine."""
    with style():
        figure = new_figure(4.6 * len(records) + 0.4, 4.2)
        for record, ax in zip(records, np.atleast_1d(figure.subplots(1, len(records))), strict=True):
            series = curve_points(record, "width")
            for ink, (name, points) in zip(INKS, series.items(), strict=False):
                at, seconds, members = (_column(points, each) for each in ("at", "seconds", "members"))
                ax.loglog(at, members / seconds, "o-", color=ink, label=name, markersize=4)
            points = next(iter(series.values()))
            at, flops, weights = (_column(points, each) for each in ("at", "flops", "weights"))
            products, memory = limit(record, "flops"), limit(record, "bytes")
            ax.loglog(at, products * _column(points, "members") / flops, color=QUIET,
                      label=f"limit of matrix products, {products / 1e9:,.0f} GFLOP/s")  # fmt: skip
            ax.loglog(at, memory / (ADAM_BYTES * weights), ":", color=QUIET,
                      label=f"limit of memory for Adam, {memory / 1e9:,.0f} GB/s")  # fmt: skip
            ax.set(xlabel="width of the GPT", ylabel="members x steps per second", title=device(record))
            _set_ticks(ax, points)
            low, high = ax.get_ylim()
            ax.set_ylim(low / (high / low) ** 0.35, high)  # room for the legend
            ax.legend(fontsize=8, loc="lower left")
        figure.savefig(ROOT / "docs" / "roofline.png", dpi=figure.dpi, facecolor="white")


def _factor(value: float) -> str:
    return f"x {value:,.0f}" if value >= 100 else f"x {value:.3g}"


def growth_section(records: list[dict]) -> str:
    """The section *Growth*, with a row for each curve of each machine."""
    lines = [GROWTH, "| machine | what grows | model | from | to | time | products |", "|---|---|---|---|---|---|---|"]
    for record in records:
        for curve in (*CURVES, "width"):
            for name, points in curve_points(record, curve).items():
                first, last = points[0], points[-1]
                model = f"GPT, {name}" if curve == "width" else name
                factors = [_factor(last[each] / first[each]) for each in ("seconds", "flops")]
                cells = [device(record), CURVES.get(curve, curve), model, f"{first['at']:,}", f"{last['at']:,}"]
                lines.append(f"| {' | '.join(cells + factors)} |")
    return "\n".join([*lines, ""])


def roofline_section(records: list[dict]) -> str:
    """The section *Roofline*, with a row for each width."""
    columns = {
        f"{device(record)}, {name}": {p["at"]: p["flops"] / p["seconds"] / limit(record, "flops") for p in points}
        for record in records
        for name, points in curve_points(record, "width").items()
    }
    lines = [ROOFLINE, f"| width | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    for width in sorted({width for fractions in columns.values() for width in fractions}):
        cells = [f"{100 * each[width]:.2g} %" if width in each else "" for each in columns.values()]
        lines.append(f"| {width:,} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])
