"""sorites runs list|show|diff|query|check|export|import"""

from pathlib import Path
from typing import Any

from ..errors import SpecError
from .common import console, emit, open_store

NEEDS = {
    "list": (0, "nothing more"),
    "show": (1, "an id"),
    "diff": (2, "two ids"),
    "query": (1, "one SQL sentence over the tables runs, members and history"),
    "check": (0, "nothing more"),
    "export": (None, "a path, then ids (none: all)"),
    "import": (1, "a path: an archive made by export, or an .npz made by History.save"),
}


def execute(options: Any) -> int:
    from .. import store as shelf

    wanted, words = NEEDS[options.action]
    given = options.arguments
    if (wanted is not None and len(given) != wanted) or (wanted is None and not given):
        raise SpecError(f"sorites runs {options.action} takes {words}: got {len(given)}; give it {words}")
    store = open_store(options)
    if options.action in ("list", "query"):
        frame = shelf.list_runs(store) if options.action == "list" else shelf.query(store, given[0])
        return _print(options, frame.to_dicts())
    if options.action == "show":
        return _print(options, shelf.show_run(store, given[0]))
    if options.action == "diff":
        rows = [{"where": where, given[0]: a, given[1]: b} for where, a, b in shelf.diff_runs(store, *given)]
        return _print(options, rows)
    if options.action == "check":
        found = [{"path": str(each.path), "problem": each.problem} for each in shelf.check(store)]
        _print(options, found or [{"path": str(store.root), "problem": "none"}])
        return 1 if found else 0
    if options.action == "export":
        return _print(options, {"written": str(shelf.export(store, given[1:], Path(given[0])))})
    return _print(options, {"adopted": shelf.adopt(store, Path(given[0]))})


def _print(options: Any, value: Any) -> int:
    if emit(options, value):
        return 0
    screen = console(options)
    if isinstance(value, list):
        from rich.table import Table

        table = Table(*(value[0] if value else ["empty"]), box=None, pad_edge=False, header_style="bold")
        for row in value:
            table.add_row(*("" if cell is None else str(cell) for cell in row.values()))
        screen.print(table)
    else:
        from rich.pretty import Pretty

        screen.print(Pretty(value))
    return 0
