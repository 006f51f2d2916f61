"""sorites list claims|figures|papers|tasks|models"""

from typing import Any

from .common import all_claims, all_figures, console, emit


def execute(options: Any) -> int:
    from rich.markup import escape
    from rich.table import Table

    columns, rows = _rows(options.what)
    taken = emit(options, [dict(zip(columns, row, strict=True)) for row in rows])
    table = Table(*columns, title=None, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(escape(str(value)) for value in row))
    if not taken:
        console(options).print(table)
    return 0


def _rows(what: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    if what == "claims":
        claims = all_claims().values()
        return ["id", "paper", "label", "kind", "says"], [(c.id, c.paper, c.label, c.kind, c.says) for c in claims]
    if what == "figures":
        figures = all_figures().values()
        return ["id", "title", "seconds"], [(f.id, f.title, f.seconds) for f in figures]
    if what == "papers":
        from ..papers.paper import PAPERS

        return ["slug", "title", "authors"], [(p.slug, p.title, p.authors) for p in PAPERS.values()]
    if what == "tasks":
        from ..tasks import GATES

        text = "sparse Boolean function over secret bits; decomposition tree or serial"
        lego = ("lego", "state tracking under a group action, named C6, D4, S5, A5/itself, Q8, C2xC3 and the like")
        return ["task", "what"], [*((name, f"{name}: {text}") for name in GATES), lego]
    from ..models import MODELS

    return ["model", "what"], [(name, (make.__module__)) for name, make in MODELS.items()]
