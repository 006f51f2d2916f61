"""A table drawn: lines with intervals, or a heat map; whoever is censored is seen to be."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..drawing import new_figure, style
from .table import COSTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .table import Table

WORDS = {"solved": "share of members at the goal", "solved_at": "steps to the goal"}


def _words(name: str) -> str:
    return WORDS.get(name, f"{name} to the goal")


def lines(table: "Table", x: str, y: str, color: str | None, ax: Any) -> "Figure":
    """`y` against `x`, one line per value of `color`."""
    table.require_column(y, ("solved", *COSTS))
    if color is not None:
        table.require_column(color, table.parameters)
    with style():
        axes: Any = new_figure().subplots() if ax is None else ax
        found = table.summary([x] if color is None else [x, color], "samples" if y == "solved" else y)
        numeric = found[x].dtype.is_numeric()
        names = sorted(found[x].unique().to_list()) if numeric else found[x].unique(maintain_order=True).to_list()
        for value in [None] if color is None else found[color].unique(maintain_order=True).to_list():
            here = found if color is None else found.filter(found[color].eq_missing(value))
            here = here.sort(x) if numeric else here
            places = here[x].to_numpy() if numeric else np.array([names.index(each) for each in here[x]])
            label = None if color is None else f"{color} {value:g}" if isinstance(value, float) else f"{color} {value}"
            (_shares if y == "solved" else _medians)(axes, places, here, label)
        if numeric and len(names) > 2 and min(names) > 0 and max(names) / min(names) >= 20:
            axes.set_xscale("log")
        if not numeric:
            axes.set_xticks(range(len(names)), [str(name) for name in names])
        axes.set(xlabel=x, ylabel=_words(y))
        if color is not None:
            axes.legend()
    return axes.figure


def _shares(axes: Any, places: np.ndarray, here: Any, label: str | None) -> None:
    share, low, high = (here[name].to_numpy() for name in ("share", "low", "high"))
    (line,) = axes.plot(places, share, marker="o", markersize=4, label=label)
    axes.vlines(places, low, high, color=line.get_color(), alpha=0.6)
    axes.set_ylim(-0.03, 1.03)


def _medians(axes: Any, places: np.ndarray, here: Any, label: str | None) -> None:
    """An interval without an upper end goes on as a dotted line to the top."""
    columns = [here[name].cast(float).fill_null(np.nan).to_numpy() for name in ("median", "median_low", "median_high")]
    middle, low, high = columns
    bound = here["bound"].cast(float).fill_null(np.nan).to_numpy()
    (line,) = axes.plot(places, middle, marker="o", markersize=4, label=label)
    beyond = np.isnan(middle)
    axes.plot(places[beyond], bound[beyond], linestyle="", marker="^", fillstyle="none", color=line.get_color())
    if np.nanmax(np.where(beyond, bound, middle)) > 0:
        axes.set_yscale("log")
    whole = np.isfinite(high) & (low > 0)
    axes.vlines(places[whole], low[whole], high[whole], color=line.get_color(), alpha=0.6)
    start = np.where(low > 0, low, np.where(beyond, bound, middle))
    for place, first in zip(places[~np.isfinite(high)], start[~np.isfinite(high)], strict=True):
        axes.annotate(
            "", xy=(place, 1.0), xycoords=axes.get_xaxis_transform(), xytext=(place, first), textcoords="data",
            arrowprops={"arrowstyle": "-", "linestyle": ":", "color": line.get_color(), "alpha": 0.6},
        )  # fmt: skip


def heat_map(table: "Table", x: str, y: str, color: str | None, ax: Any) -> "Figure":
    """`color` over two parameters; every field says how many of its members reached the goal."""
    color = color or "solved"
    table.require_column(color, ("solved", *COSTS))
    found = table.summary([x, y], "samples" if color == "solved" else color)
    across, up = (sorted(found[name].unique().to_list(), key=_order) for name in (x, y))
    shares = np.full((len(up), len(across)), np.nan)
    said: dict[tuple[int, int], str] = {}
    for row in found.iter_rows(named=True):
        place = up.index(row[y]), across.index(row[x])
        value = row["share"] if color == "solved" else row["median"]
        shares[place] = np.nan if value is None else value if color == "solved" else np.log10(max(value, 1))
        said[place] = f"{row['solved']}/{row['members']}"
    with style():
        width = max(4.8, min(12.0, 1.8 + 0.6 * len(across)))
        axes: Any = new_figure(width, max(3.2, 1.4 + 0.32 * len(up))).subplots() if ax is None else ax
        limits = (0.0, 1.0) if color == "solved" or np.isnan(shares).all() else (None, None)
        image = axes.imshow(shares, origin="lower", aspect="auto", vmin=limits[0], vmax=limits[1])
        axes.set_facecolor("#E4E3DE")  # a median beyond the budget has no colour
        axes.grid(False)
        if len(said) <= 240:
            for (row, column), text in said.items():
                value = shares[row, column]
                dark = not np.isnan(value) and image.norm(value) < 0.6
                axes.text(column, row, text, ha="center", va="center", fontsize=7, color="white" if dark else "black")
        axes.set_xticks(range(len(across)), [_short(value) for value in across], rotation=45 if len(across) > 8 else 0)
        axes.set_yticks(range(len(up)), [_short(value) for value in up])
        axes.set(xlabel=x, ylabel=y)
        words = _words(color) if color == "solved" else f"log10 of {_words(color)}, median; grey: beyond the budget"
        axes.figure.colorbar(image, ax=axes, label=words)
    return axes.figure


def _order(value: Any) -> tuple[bool, Any]:
    return (isinstance(value, str), value)


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
