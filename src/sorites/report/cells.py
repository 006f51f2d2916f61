"""The table of cells: which task trains on which model under which supervision, and which of them learn."""

import json

from ..training.cells import cells
from .figures import results_folder

Row = tuple[str, str, str, str, int | None, str]  # task, model, supervision, state, learns, why


def record() -> dict:
    """What `bench/cells.py` measured."""
    path = results_folder() / "cells.json"
    return json.loads(path.read_text()) if path.is_file() else {"cells": []}


def table() -> list[Row]:
    """One row per cell. learns: members of eight that reached the goal at the defaults; None where no run is
    recorded."""
    learns = {(row["task"], row["model"], row["supervision"]): row["learns"] for row in record()["cells"]}
    rows = []
    for cell in cells():
        name = (cell.task, cell.model, cell.supervision)
        rows.append((*name, cell.state, None if cell.run is None else learns.get(name), cell.why))
    return rows


INTRODUCTION = """# Cells: every task with every model under every supervision

{trains} of {all} cells train. A number is how many of {seeds} members reached the goal at the model's defaults
({device}); in {learned} cells at least one did, in {whole} all of them. `·` trains and has no recorded run; `–` is
refused, in a sentence below its table. Judged by the answer from padded thoughts (direct, icot, log-icot), from soft
thoughts (own-soft), else from its own greedy thoughts; self-training on LEGO by sentences of twice the length.
Measured by `bench/cells.py`, written by `bench/page.py`."""


def markdown() -> str:
    """docs/cells.md: a table per task, models by supervisions."""
    rows, found = table(), record()
    seeds = found.get("seeds", 8)
    lines = INTRODUCTION.format(
        trains=sum(row[3] == "trains" for row in rows), all=len(rows), seeds=seeds,
        device=found.get("device", "not recorded"),
        learned=sum(bool(row[4]) for row in rows), whole=sum(row[4] == seeds for row in rows),
    ).splitlines()  # fmt: skip
    supervisions = list(dict.fromkeys(row[2] for row in rows))
    for task in dict.fromkeys(row[0] for row in rows):
        lines += [
            "",
            f"## {task}",
            "",
            "| model | " + " | ".join(supervisions) + " |",
            "|---" * (len(supervisions) + 1) + "|",
        ]
        here = [row for row in rows if row[0] == task]
        refusals: dict[str, list[str]] = {}
        for model in dict.fromkeys(row[1] for row in here):
            own = [row for row in here if row[1] == model]
            lines.append(f"| {model} | " + " | ".join(_shown(row) for row in own) + " |")
            for row in own:
                if row[3] == "refused":
                    refusals.setdefault(row[5], []).append(f"{model} {row[2]}")
        lines += ["", *(f"- {why} ({_named(names, len(supervisions))})" for why, names in refusals.items())]
    return "\n".join(lines) + "\n"


def _shown(row: Row) -> str:
    return "–" if row[3] == "refused" else "·" if row[4] is None else str(row[4])


def _named(names: list[str], all_of_them: int) -> str:
    return names[0].split()[0] if len(names) == all_of_them else ", ".join(names)
