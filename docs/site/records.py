"""The records that `sorites verify --json` wrote, one file per paper under docs/verdicts/, as text."""

import json
from pathlib import Path
from typing import Any

from sorites.papers.registry import papers
from sorites.report.page_values import plain
from under_review import CLAIMS

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
    """The verdict in words, apart for the corrected statement and the printed form; or that it is contested."""
    if record is None:
        return "not recorded"
    if record["id"] in CLAIMS:
        return "**under review**"
    erratum = record["erratum"]
    if erratum is None:
        return record["verdict"]
    printed = {"inconclusive": "is left open"}.get(erratum["printed_verdict"], erratum["printed_verdict"])
    return f"as corrected, {record['verdict']}; as printed, {printed}"
