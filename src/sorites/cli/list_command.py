"""sorites list [claims|figures|papers|tasks|models|cells], narrowed by column or by text"""

from collections.abc import Callable
from typing import Any

from ..errors import require
from ..papers import registry
from .common import all_claims, all_figures, console, emit, nearest, open_store
from .index import Rows, kept

WHAT = {
    "claims": ("every statement that is checked", "sorites list claims --paper wen --kind trend"),
    "figures": ("every figure, and how long it takes", "sorites list figures --paper log-icot"),
    "papers": ("where they come from", "sorites list papers"),
    "tasks": ("what can be learned", "sorites list tasks"),
    "models": ("who can learn it", "sorites list models"),
    "cells": ("task x model x supervision: trains, or why not", "sorites list cells --task parity --model gpt"),
}
UNFOLDED = 10**6  # columns: more than any row has
FILTERS = ("paper", "kind", "task", "model", "supervision")  # columns that may be asked for by a value


def execute(options: Any) -> int:
    from rich.markup import escape
    from rich.table import Table

    if options.paper is not None:
        slugs = [row[0] for row in _rows("papers")[1]]
        if options.paper not in slugs:
            raise nearest("paper", options.paper, slugs)
    columns, rows = _rows(options.what)
    rows = _narrowed(options, columns, rows)
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    if options.what == "claims" and options.store:
        columns = [*columns, "last verdict"]
        records = _with_last_verdicts(records, open_store(options))
        rows = [tuple(record[name] for name in columns) for record in records]
    taken = emit(options, records)
    table = Table(*columns, title=None, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(escape("" if value is None else str(value)) for value in row))
    if not taken:
        _print(table, console(options))
    return 0


def _print(table: Any, screen: Any) -> None:
    """To a pipe or a file, a line for each row."""
    if screen.is_terminal:
        screen.print(table)
        return
    screen.width = screen.measure(table, options=screen.options.update(width=UNFOLDED)).maximum
    with screen.capture() as printed:
        screen.print(table)
    screen.out("\n".join(line.rstrip() for line in printed.get().splitlines()), highlight=False)


def _with_last_verdicts(records: list[dict[str, Any]], store: Any) -> list[dict[str, Any]]:
    """Only claims that have a verdict are loaded: the digest of their code takes time."""
    from .last_verdict import last_verdict

    newest = {record["id"]: record for record in store.verdicts()}

    def last(paper: str, id: str) -> dict[str, Any]:
        claim = registry.papers()[paper].claims()[id] if id in newest else None
        return last_verdict(claim, newest.get(id))

    return [record | last(record["paper"], record["id"]) for record in records]


def _narrowed(options: Any, columns: list[str], rows: Rows) -> Rows:
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


def _rows(what: str | None) -> tuple[list[str], Rows]:
    if what is None:
        return ["list", "what", "for example"], [(name, *words) for name, words in WHAT.items()]
    columns, make = LISTS[what]
    return columns, kept(what, make)


def _claims() -> Rows:
    return [(claim.id, claim.paper, claim.label, claim.kind, claim.says) for claim in all_claims().values()]


def _figures() -> Rows:
    return [(figure.id, figure.paper, figure.title, figure.seconds) for figure in all_figures().values()]


def _papers() -> Rows:
    return [(paper.slug, paper.title, paper.authors) for paper in registry.papers().values()]


def _tasks() -> Rows:
    from ..training.cells import TASKS

    return list(TASKS.items())


def _models() -> Rows:
    from ..models import MODELS

    return [(name, first_line(make)) for name, make in MODELS.items()]


def _cells() -> Rows:
    from ..report.cells import table

    return list(table())


LISTS: dict[str, tuple[list[str], Callable[[], Rows]]] = {
    "claims": (["id", "paper", "label", "kind", "says"], _claims),
    "figures": (["id", "paper", "title", "seconds"], _figures),
    "papers": (["slug", "title", "authors"], _papers),
    "tasks": (["task", "what"], _tasks),
    "models": (["model", "what"], _models),
    "cells": (["task", "model", "supervision", "state", "learns", "why"], _cells),
}


def first_line(make: Any) -> str:
    """The first line of the module's own words."""
    import sys

    return (sys.modules[make.__module__].__doc__ or make.__module__).splitlines()[0]
