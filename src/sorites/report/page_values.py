"""Values as a reader wants them: four significant digits, and never a None or a NaN."""

import math
from collections.abc import Mapping
from html import escape
from typing import Any

from .page_mathematics import html

NOTHING = "\N{EM DASH}"
LARGEST_WRITTEN_OUT = 10**9  # integers beyond it are counts of a domain such as 2^40: the size is what matters


def number(value: int | float) -> str:
    """0.8695112 -> 0.8695, 0.00091188 -> 9.119e-4, 150000.0 -> 150,000; not a number -> a dash."""
    if isinstance(value, float) and math.isnan(value):
        return NOTHING
    if isinstance(value, float) and math.isinf(value):
        return "\N{INFINITY}" if value > 0 else "-\N{INFINITY}"
    if value == int(value) and abs(value) < LARGEST_WRITTEN_OUT:
        return f"{int(value):,}"
    if abs(value) >= 1e-3:
        digits, _, exponent = f"{value:.4g}".partition("e")
    else:
        digits, _, exponent = f"{value:.3e}".partition("e")
        digits = digits.rstrip("0").rstrip(".")
    return f"{digits}e{int(exponent)}" if exponent else digits


def plain(value: Any) -> str:
    """Any JSON value in words, unescaped."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {plain(part)}" for key, part in value.items()) or NOTHING
    if isinstance(value, list | tuple):
        return ", ".join(plain(part) for part in value) or NOTHING
    return str(value)


def duration(seconds: int | float | None) -> str:
    """Wall time at the precision anyone cares about: 0.042 s, 3.2 s, 2 min 5 s, 1 h 10 min."""
    if seconds is None or not math.isfinite(seconds):
        return NOTHING
    if seconds < 59.5:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, left = divmod(minutes, 60)
    return f"{hours} h {left} min" if hours else f"{minutes} min {rest} s"


def cell(value: Any) -> str:
    """One `td`; where rounding hid digits, hovering shows them all."""
    shown = plain(value)
    rounded = isinstance(value, float) and math.isfinite(value) and float(shown.replace(",", "")) != value
    hint = f' title="{escape(repr(float(value)))}"' if rounded else ""
    style = ' class="number"' if isinstance(value, int | float) else ""
    return f"<td{style}{hint}>{escape(shown)}</td>"


def definitions(pairs: Mapping[str, Any]) -> str:
    """A compact `dl` of escaped names and values."""
    items = "".join(
        f"<div><dt>{escape(str(name))}</dt><dd>{escape(plain(value))}</dd></div>" for name, value in pairs.items()
    )
    return f'<dl class="pairs">{items}</dl>'


def comparison(predicted: Any, measured: Any, tolerance: Any) -> str:
    """Prediction, measurement and tolerance side by side, one row for each quantity."""
    columns = (predicted, measured, tolerance)
    if all(column is None or column == {} for column in columns):
        return '<p class="none">no numbers</p>'
    rows = "".join(f"<tr>{_name(name)}{''.join(map(cell, values))}</tr>" for name, values in _rows(columns))
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("Quantity", "Predicted", "Measured", "Tolerance"))
    return (
        '<table class="values"><colgroup><col class="quantity"><col><col><col></colgroup>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _name(name: str) -> str:
    return f'<th scope="row">{html(name)}</th>' if name else "<td></td>"


def _rows(columns: tuple[Any, ...]) -> list[tuple[str, list[Any]]]:
    """Named rows of the objects, in the order first met; bare numbers stand in one nameless row."""
    names = dict.fromkeys(name for column in columns if isinstance(column, Mapping) for name in column)
    rows = [
        (str(name), [column.get(name) if isinstance(column, Mapping) else None for column in columns]) for name in names
    ]
    bare = [None if isinstance(column, Mapping) else column for column in columns]
    return rows if all(value is None for value in bare) else [("", bare), *rows]
