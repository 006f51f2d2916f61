"""Draw docs/growth.png and docs/roofline.png from the records of `bench/growth.py`, and say what they show.

    python bench/growth_page.py [RECORD.json ...]

Without a record: every results/growth-*.json. `bench/page.py` puts the words into docs/bench.md.
"""

import json
import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from sorites.drawing import COLOURS, QUIET, new_figure, style

ROOT = Path(__file__).parents[1]
CURVES = {"members": "members", "bits": "bits", "length": "length of the chain", "layers": "layers"}
MOVED = 8 * 4  # bytes a weight and step: Adam reads and writes it and two moments, and its slope, in float32
INKS = tuple(COLOURS.values())


def records(files: list[str]) -> list[dict]:
    found = [Path(file) for file in files] or sorted((ROOT / "results").glob("growth-*.json"))
    return [json.loads(path.read_text()) for path in found]


def series(record: dict, curve: str) -> dict[str, list[dict]]:
    """The points of a curve by series, along its axis."""
    found: dict[str, list[dict]] = {}
    for point in record["points"]:
        if point["curve"] == curve:
            found.setdefault(point["series"], []).append(point)
    return {name: sorted(points, key=lambda point: point["at"]) for name, points in found.items()}


def device(record: dict) -> str:
    return f"{record['cores']} CPU cores" if record["device"] == "cpu" else record["device"]


def column(points: list[dict], name: str) -> np.ndarray:
    return np.array([point[name] for point in points], float)


def limit(record: dict, name: str) -> float:
    """Of the machine, the better of the measurements before and after."""
    return max(record["limits"][when][name] for when in ("before", "after"))


def ticked(ax: Axes, points: list[dict]) -> None:
    """A tick at every place that was measured."""
    places = sorted({point["at"] for point in points})
    ax.set_xticks(places, [str(place) for place in places], fontsize=7)
    ax.minorticks_off()


def growth(recorded: list[dict]) -> None:
    """Milliseconds of a step; the dashed line has theory's growth and begins at the first point."""
    with style():
        figure = new_figure(9.0, 3.4 * len(recorded) + 0.6)
        rows = np.atleast_2d(figure.subplots(len(recorded), len(CURVES)))
        for record, row in zip(recorded, rows, strict=True):
            for ax, (curve, words) in zip(row, CURVES.items(), strict=True):
                for ink, (name, points) in zip(INKS, series(record, curve).items(), strict=False):
                    at, taken, flops = (column(points, each) for each in ("at", "seconds", "flops"))
                    ax.loglog(at, 1e3 * taken, "o-", color=ink, label=name, markersize=4)
                    ax.loglog(at, 1e3 * taken[0] * flops / flops[0], "--", color=ink, linewidth=1)
                ax.set(xlabel=words)
                ticked(ax, [point for points in series(record, curve).values() for point in points])
                ax.legend(fontsize=7, loc="upper left")
                low, high = ax.get_ylim()
                ax.set_ylim(low, high * (high / low) ** 0.35)  # room for the legend
            row[0].set(ylabel="ms per step", title=f"{device(record)}; dashed: growth of the matrix products")
        figure.savefig(ROOT / "docs" / "growth.png", dpi=figure.dpi, facecolor="white")


def roofline(recorded: list[dict]) -> None:
    """Member-steps a second against width, under what products and memory allow."""
    with style():
        figure = new_figure(4.6 * len(recorded) + 0.4, 4.2)
        for record, ax in zip(recorded, np.atleast_1d(figure.subplots(1, len(recorded))), strict=True):
            for ink, (name, points) in zip(INKS, series(record, "width").items(), strict=False):
                at, taken, members = (column(points, each) for each in ("at", "seconds", "members"))
                ax.loglog(at, members / taken, "o-", color=ink, label=name, markersize=4)
            points = next(iter(series(record, "width").values()))
            at, flops, weights = (column(points, each) for each in ("at", "flops", "weights"))
            ax.loglog(at, limit(record, "flops") * column(points, "members") / flops, color=QUIET,
                      label=f"limit of products, {limit(record, 'flops') / 1e9:,.0f} GFLOP/s")  # fmt: skip
            ax.loglog(at, limit(record, "bytes") / (MOVED * weights), ":", color=QUIET,
                      label=f"limit of memory for Adam, {limit(record, 'bytes') / 1e9:,.0f} GB/s")  # fmt: skip
            ax.set(xlabel="width of the GPT", ylabel="members x steps per second", title=device(record))
            ticked(ax, points)
            low, high = ax.get_ylim()
            ax.set_ylim(low / (high / low) ** 0.35, high)  # room for the legend
            ax.legend(fontsize=8, loc="lower left")
        figure.savefig(ROOT / "docs" / "roofline.png", dpi=figure.dpi, facecolor="white")


def words(recorded: list[dict]) -> str:
    """The section of docs/bench.md."""
    lines = [
        "## How cost grows, and the roof above it\n",
        "One step without evaluations, compiled before; theory counts the matrix products of the traced step",
        "(`sorites.training.price`). `python bench/growth.py --out FILE.json` measures, `bench/growth_page.py`",
        "draws.\n",
        "![Time of a step; dashed: theory's growth from the first point](growth.png)\n",
    ]
    for record in recorded:
        lines.append(f"**{device(record)}**, {record['seconds']:.0f} s in all. From the first to the last point:\n")
        lines.append("| grows | what | from | to | time | products |\n|---|---|---|---|---|---|")
        for curve in (*CURVES, "width"):
            for name, points in series(record, curve).items():
                first, last = points[0], points[-1]
                factors = [last[each] / first[each] for each in ("seconds", "flops")]
                times = (f"x {factor:,.0f}" if factor >= 100 else f"x {factor:.3g}" for factor in factors)
                lines.append(f"| {' | '.join((curve, name, str(first['at']), str(last['at']), *times))} |")
        lines.append("")
    lines.append("![Members x steps a second against width, with the machine's limits](roofline.png)\n")
    for record in recorded:
        best = limit(record, "flops")
        shares = [
            f"{name}: " + ", ".join(f"{100 * p['flops'] / p['seconds'] / best:.2g} % at {p['at']}" for p in points)
            for name, points in series(record, "width").items()
        ]
        lines += [
            f"**{device(record)}**, share of the fastest measured product ({best / 1e9:,.0f} GFLOP/s"
            f"{', TF32' if 'NVIDIA' in record['device'] else ''}) that a",
            f"training step reaches, by width. {'; '.join(shares)}.",
            f"Memory, measured at {limit(record, 'bytes') / 1e9:,.1f} GB/s, bounds Adam alone (weight, two moments and",
            f"slope, {MOVED} bytes a weight); activations are not in that line.\n",
        ]
    lines += [
        "Theory does not count draws, keys, Adam, softmax, nor the start of kernels: where time grows less than",
        "products, these may be a large part of a step. One layer is read through token tables and at taught positions",
        "only: the second costs far more.\n",
    ]
    return "\n".join(lines)


def main() -> None:
    recorded = records(sys.argv[1:])
    growth(recorded)
    roofline(recorded)
    print(words(recorded))


if __name__ == "__main__":
    main()
