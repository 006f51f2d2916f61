"""What `sorites verify --json` recorded, one file per paper under docs/verdicts/, and how its numbers are written."""

import json
from pathlib import Path
from typing import Any

from sorites.papers.registry import papers
from sorites.report.page_values import plain

VERDICTS = Path(__file__).parents[1] / "verdicts"
Record = dict[str, Any]


def records() -> dict[str, Record]:
    """By the claim's id; a paper without a file has none."""
    files = [VERDICTS / f"{slug}.json" for slug in papers()]
    return {each["id"]: each for file in files if file.exists() for each in json.loads(file.read_text())}


def rows(record: Record) -> list[tuple[str, str, str, str]]:
    """Quantity, predicted, measured, tolerance; a nameless quantity is the claim itself."""
    columns = [record[name] for name in ("predicted", "measured", "tolerance")]
    if not isinstance(columns[1], dict):
        return [] if columns[1] is None and columns[0] is None else [("the claim", *map(plain, columns))]
    return [(name, *(plain(column[name]) for column in columns)) for name in columns[1]]


def judged(record: Record | None) -> str:
    """The verdict in words; the corrected statement and the printed form are never told in one breath."""
    if record is None:
        return "not recorded"
    erratum = record["erratum"]
    if erratum is None:
        return record["verdict"]
    printed = {"inconclusive": "is left open"}.get(erratum["printed_verdict"], erratum["printed_verdict"])
    return f"as corrected, {record['verdict']}; as printed, {printed}"
