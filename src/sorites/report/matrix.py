"""The atlas as one table to read at a glance: task and model by supervision, with a switch for the price.

A section of HTML that needs nothing but itself: without its script it shows success and says why cells are empty, with
it switches the price and opens a cell's members.
"""

import json
import math
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..papers.atlas.tables import summary
from ..papers.figure import Frames

MATRICES = ("atlas/cells",)  # figures whose tables are cells
PRICES = {
    "samples": "chains",
    "labels": "labels",
    "thoughts": "own thoughts sampled",
    "flops": "FLOPs of training",
}
SWITCH = {"success": "success", **PRICES, "passes": "passes per answer"}
HINT = "Point at a cell, or walk with the arrow keys; click or Enter opens it."
KEY = "Prices are medians up to the goal; hatched and >: within the budget not half of the members came there."
CONTROLS = {"direct": "control: pause tokens, no curriculum", "shuffled labels": "control: nothing to learn"}


def beside(entry: Mapping[str, Any]) -> str:
    """What the page shows under a figure of cells, from the tables beside its picture; nothing under any other."""
    if entry["id"] not in MATRICES or not entry["png"]:
        return ""
    import polars as pl

    picture = Path(entry["png"])
    tables = {"data": picture.with_suffix(".parquet"), "curves": picture.with_name(f"{picture.stem}-curves.parquet")}
    return section({name: pl.read_parquet(path) for name, path in tables.items() if path.exists()})


def section(frames: Frames, name: str = "cells", title: str = "Which teaching works where") -> str:
    """One self-contained fragment; several may stand on a page, each with a name of its own."""
    cells = _cells(frames)
    across = list(dict.fromkeys(cell["labels"][2] for cell in cells))
    down = list(dict.fromkeys(tuple(cell["labels"][:2]) for cell in cells))
    places = {tuple(cell["labels"]): number for number, cell in enumerate(cells)}
    heads = "".join(f'<th scope="col">{escape(each)}{_control(each)}</th>' for each in across)
    body = "".join(
        f'<tr><th scope="row">{escape(task)}<small>{escape(model)}</small></th>'
        + "".join(f"<td>{_field(cells, places.get((task, model, each)))}</td>" for each in across)
        + "</tr>"
        for task, model in down
    )
    data = json.dumps({"cells": cells, "prices": PRICES}, separators=(",", ":"), allow_nan=False)
    data = data.replace("<", "\\u003c")  # no text of a cell ends the element that it stands in
    return (
        f'<section class="matrix" aria-label="{escape(title)}"><style>{_asset("matrix.css")}</style>'
        f"{_switch(name)}"
        f'<div class="scroll"><table style="--across: {len(across)}">'
        f'<thead><tr><th scope="col">task<small>model</small></th>{heads}</tr></thead>'
        f'<tbody>{body}</tbody></table></div><p class="line" hidden>{HINT}</p>'
        '<div class="panel" role="region" aria-label="The chosen cell" aria-live="polite" hidden></div>'
        f'{_refusals(cells)}<script type="application/json">{data}</script>'
        f"<script>{_asset('matrix.js')}</script></section>"
    )


def _cells(frames: Frames) -> list[dict[str, Any]]:
    """Every cell as plain data: intervals, medians of every price, its members' curves or, without, their times."""
    tables = {price: summary(frames, price) for price in PRICES}
    groups = _members(frames)
    found = []
    for number, row in enumerate(tables["samples"]):
        labels = list(row["labels"])
        cell: dict[str, Any] = {"labels": labels, "why": row["why"], "members": row["members"]}
        cell["command"] = f"sorites figure atlas/cells --pairs {labels[0]}/{labels[1]} --supervisions '{labels[2]}'"
        if row["members"]:
            members = groups[row["labels"]]
            cell |= {"solved": row["solved"], "low": round(row["low"], 4), "high": round(row["high"], 4)}
            cell |= {"rate": float(f"{row['rate']:.3g}"), "passes": row["passes"], "reached": members["solved"]}
            cell["medians"] = {price: _median(rows[number]["median"]) for price, rows in tables.items()}
            if members["curves"]:
                cell |= {"curves": members["curves"], "metric": "the goal's metric on held-out chains"}
            else:
                cell["times"] = {price: members[price] for price in PRICES}
        found.append(cell)
    return found


def _members(frames: Frames) -> dict[tuple[str, ...], dict[str, Any]]:
    """By cell: whether each member reached the goal, what it cost, and its curve as steps and percents."""
    labels, found = ["label1", "label2", "label3"], {}
    for key, group in frames["data"].drop_nulls("seed").group_by(labels, maintain_order=True):
        found[key] = {name: group[name].to_list() for name in ("solved", "seed", *PRICES)} | {"curves": []}
    if "curves" in frames:
        named = frames["curves"].group_by([*labels, "seed"], maintain_order=True)
        points = {
            key: [group["curve_steps"].to_list(), (100 * group["curve"]).round().cast(int).to_list()]
            for key, group in named
        }
        for key, members in found.items():
            members["curves"] = [points.get((*key, seed), [[], []]) for seed in members["seed"]]
    return found


def _median(middle: Any) -> list[float | None]:
    """The median or None, a lower bound of it, and its interval, None where it is open."""
    low, high = middle.interval.low, middle.interval.high
    values = (middle.value, middle.bound, low or math.inf, high)
    return [float(f"{value:.4g}") if math.isfinite(value) else None for value in values]


def _field(cells: list[dict[str, Any]], number: int | None) -> str:
    if number is None:
        return ""
    cell = cells[number]
    name = ", ".join(cell["labels"])
    if not cell["members"]:
        said = escape(f"{name}: refused: {cell['why']}")
        return f'<button type="button" data-cell="{number}" data-refused title="{said}" aria-label="{said}">–</button>'
    share = cell["solved"] / cell["members"]
    said = (
        f"{name}: {cell['solved']} of {cell['members']} members at the goal ({cell['low']:.2f} to {cell['high']:.2f})"
    )
    place = f"--share:{share:.3f};--low:{cell['low']};--high:{cell['high']};--at:{share:.3f}"
    return (
        f'<button type="button" data-cell="{number}" aria-label="{escape(said)}" style="{place}">'
        f"<b>{cell['solved']}/{cell['members']}</b><small>{cell['low']:.2f}–{cell['high']:.2f}</small>"
        '<span class="span" aria-hidden="true"><i></i><u></u></span></button>'
    )


def _switch(name: str) -> str:
    """Radio buttons of one group, which the arrow keys walk."""
    group, items = f"price-{escape(name)}", ""
    for value, word in SWITCH.items():
        checked = " checked" if value == "success" else ""
        items += f'<label><input type="radio" name="{group}" value="{value}"{checked}>{word}</label>'
    return f'<fieldset hidden><legend>Show</legend>{items}</fieldset><p class="key">{escape(KEY)}</p>'


def _control(name: str) -> str:
    return f"<small>{CONTROLS[name]}</small>" if name in CONTROLS else ""


def _refusals(cells: list[dict[str, Any]]) -> str:
    """For readers without the script, and to search."""
    reasons: dict[str, list[str]] = {}
    for cell in cells:
        if not cell["members"]:
            reasons.setdefault(cell["why"], []).append(" · ".join(cell["labels"]))
    if not reasons:
        return ""
    items = "".join(f"<li>{escape(why)} ({escape('; '.join(names))})</li>" for why, names in reasons.items())
    return f"<details><summary>Why cells are empty</summary><ul>{items}</ul></details>"


def _asset(name: str) -> str:
    return files("sorites.report").joinpath(name).read_text(encoding="utf-8")
