"""sorites list claims|figures|papers|tasks|models|cells"""

from typing import Any

from ..errors import require
from .common import all_claims, all_figures, console, emit, paper_named


def execute(options: Any) -> int:
    from rich.markup import escape
    from rich.table import Table

    if options.paper is not None:
        paper_named(options.paper)
        papers = options.what in ("claims", "figures")
        require(papers, f"--paper chooses among claims or figures: {options.what}; leave it out")
    columns, rows = _rows(options.what, options.paper)
    taken = emit(options, [dict(zip(columns, row, strict=True)) for row in rows])
    table = Table(*columns, title=None, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(escape(str(value)) for value in row))
    if not taken:
        console(options).print(table)
    return 0


def _rows(what: str, paper: str | None = None) -> tuple[list[str], list[tuple[Any, ...]]]:
    if what == "claims":
        claims = [each for each in all_claims().values() if paper in (None, each.paper)]
        return ["id", "paper", "label", "kind", "says"], [(c.id, c.paper, c.label, c.kind, c.says) for c in claims]
    if what == "figures":
        figures = [each for each in all_figures().values() if paper in (None, each.paper)]
        return ["id", "title", "seconds"], [(f.id, f.title, f.seconds) for f in figures]
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
