"""sorites list [claims|figures|papers|tasks|models|cells], narrowed by column or by text"""

from typing import Any

from ..errors import require
from .common import all_claims, all_figures, console, emit, nearest, paper_named

WHAT = {
    "claims": ("every statement that is checked", "sorites list claims --paper wen --kind trend"),
    "figures": ("every figure, and how long it takes", "sorites list figures --paper log-icot"),
    "papers": ("where they come from", "sorites list papers"),
    "tasks": ("what can be learned", "sorites list tasks"),
    "models": ("who can learn it", "sorites list models"),
    "cells": ("task x model x supervision: trains, or why not", "sorites list cells --task parity --model gpt"),
}
FILTERS = ("paper", "kind", "task", "model", "supervision")  # columns that may be asked for by a value


def execute(options: Any) -> int:
    from rich.markup import escape
    from rich.table import Table

    if options.paper is not None:
        paper_named(options.paper)
    columns, rows = _rows(options.what)
    rows = _narrowed(options, columns, rows)
    taken = emit(options, [dict(zip(columns, row, strict=True)) for row in rows])
    table = Table(*columns, title=None, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(escape("" if value is None else str(value)) for value in row))
    if not taken:
        console(options).print(table)
    return 0


def _narrowed(options: Any, columns: list[str], rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    for name in FILTERS:
        wanted = getattr(options, name)
        if wanted is None:
            continue
        have = [each for each in FILTERS if each in columns]
        remedy = f"use {', '.join(f'--{each}' for each in have)}" if have else "leave it out"
        require(name in columns, f"--{name} needs a list with such a column: list {options.what or ''}; {remedy}")
        place = columns.index(name)
        known = dict.fromkeys(str(row[place]) for row in rows)
        if wanted not in known and name != "paper":  # a paper may have no figures
            raise nearest(name, wanted, known)
        rows = [row for row in rows if row[place] == wanted]
    if options.find is not None:
        rows = [row for row in rows if options.find.lower() in " ".join(map(str, row)).lower()]
    return rows


def _rows(what: str | None) -> tuple[list[str], list[tuple[Any, ...]]]:
    if what is None:
        return ["list", "what", "for example"], [(name, *words) for name, words in WHAT.items()]
    if what == "claims":
        return ["id", "paper", "label", "kind", "says"], [
            (c.id, c.paper, c.label, c.kind, c.says) for c in all_claims().values()
        ]
    if what == "figures":
        return ["id", "paper", "title", "seconds"], [
            (f.id, f.paper, f.title, f.seconds) for f in all_figures().values()
        ]
    if what == "papers":
        from ..papers.registry import papers

        return ["slug", "title", "authors"], [(p.slug, p.title, p.authors) for p in papers().values()]
    if what == "tasks":
        from ..training.cells import TASKS

        return ["task", "what"], list(TASKS.items())
    if what == "cells":
        from ..report.cells import table

        return ["task", "model", "supervision", "state", "learns", "why"], table()
    from ..models import MODELS

    return ["model", "what"], [(name, first_line(make)) for name, make in MODELS.items()]


def first_line(make: Any) -> str:
    """The first line of the module's own words."""
    import sys

    return (sys.modules[make.__module__].__doc__ or make.__module__).splitlines()[0]
