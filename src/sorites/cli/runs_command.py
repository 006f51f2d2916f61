"""sorites runs list|show|diff|query|check|compact|export|import"""

import sys
from pathlib import Path
from typing import Any

from ..errors import SpecError
from .common import console, emit, open_store

SHOWN_MEMBERS = 6  # members that `show` writes out
NEEDS = {
    "list": (0, "nothing more"),
    "show": (1, "an id"),
    "diff": (2, "two ids"),
    "query": (1, "one SQL sentence over the tables runs, members and history"),
    "check": (0, "nothing more"),
    "compact": (0, "nothing more"),
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
    if options.action != "import" and not store.root.is_dir() and options.store:
        raise SpecError(f"a store is a folder: {store.root} is none; give another with --store DIR")
    if options.action in ("list", "query"):
        frame = shelf.list_runs(store) if options.action == "list" else shelf.query(store, given[0])
        return _list(options, frame.to_dicts()) if options.action == "list" else _print(options, frame.to_dicts())
    if options.action == "show":
        return _show(options, shelf.show_run(store, given[0]))
    if options.action == "diff":
        rows = [{"where": where, given[0]: a, given[1]: b} for where, a, b in shelf.diff_runs(store, *given)]
        return _print(options, rows)
    if options.action == "check":
        found = [{"path": str(each.path), "problem": each.problem} for each in shelf.check(store)]
        for sentence in shelf.mixtures(store):
            print(f"sorites: {sentence}", file=sys.stderr)
        _print(options, found or [{"path": str(store.root), "problem": "none"}])
        return 1 if found else 0
    if options.action == "compact":
        before, after = shelf.compact(store)
        return _print(options, {"folders": after, "before": before})
    if options.action == "export":
        return _print(options, {"written": str(shelf.export(store, given[1:], Path(given[0])))})
    return _print(options, {"adopted": shelf.adopt(store, Path(given[0]))})


def _list(options: Any, rows: list[dict[str, Any]]) -> int:
    """Ids whole, so that they can be copied."""
    if emit(options, rows):
        return 0
    from rich.text import Text

    lines = [("id", "task", "model", "seeds", "solved", "created", "s")]
    for row in rows:
        solved = "" if row["solved"] is None else f"{row['solved']}/{row['members']}"
        seconds = "" if row["seconds"] is None else f"{row['seconds']:,.1f}"
        created = (row["created"] or "")[:16].replace("T", " ")
        lines.append((row["id"], row["task"] or "", row["model"] or "", row["seeds"], solved, created, seconds))
    screen = console(options)
    if not rows:
        screen.print("The store is empty; train something first.")
        return 0
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    room = max(12, screen.width - sum(widths) + widths[1] - 2 * (len(widths) - 1))  # for the task
    widths[1] = min(widths[1], room)
    for number, line in enumerate(lines):
        task = line[1] if len(line[1]) <= room else line[1][: room - 1] + "…"
        text = "  ".join(f"{cell:<{width}}" for cell, width in zip((line[0], task, *line[2:]), widths, strict=True))
        screen.print(Text(text.rstrip(), "bold" if number == 0 else ""), soft_wrap=True)
    return 0


def _show(options: Any, found: dict[str, Any]) -> int:
    """What was trained, where and when, and how every member ended."""
    if emit(options, found):
        return 0
    from rich.markup import escape
    from rich.table import Table

    from ..store import words

    screen, meta = console(options), found["meta"]

    def say(name: str, value: Any) -> None:
        screen.print(f"[bold]{name:<9}[/bold] {escape(str(value))}", highlight=False, soft_wrap=True)

    say("run", found["id"])
    say("folder", found["path"])
    device = meta.get("device") or {}
    say("made", f"{str(meta.get('created'))[:19]} UTC in {meta.get('seconds')} s on {device.get('kind')}, "
        f"commit {str(meta.get('commit'))[:9]}, jax {(meta.get('versions') or {}).get('jax')}")  # fmt: skip
    if isinstance(code := meta.get("code"), dict):
        others = sorted(name for name in code if name.split(".")[0] != "sorites")
        count = f"{len(code) - len(others)} modules of sorites"
        say("code", ", ".join([count, *others]) + "; their digests with --json")
    for number, run in enumerate(found["runs"], start=1):
        screen.print()
        if not isinstance(run, dict) or "stages" not in run:
            say("spec", words(run))
            continue
        say("model" if len(found["runs"]) == 1 else f"model {number}", words(run["model"]))
        say("goal", words(run["goal"]) if run.get("goal") else "none")
        for place, stage in enumerate(run["stages"], start=1):
            say(f"stage {place}", words(stage["task"]))
            for name, value in stage.items():
                if name not in ("kind", "task"):
                    screen.print(f"          {escape(name)}: {escape(words(value))}", highlight=False, soft_wrap=True)
    rows = found.get("outcomes") or []
    if rows:
        screen.print()
        first = rows[:SHOWN_MEMBERS]
        table = Table("", *(f"seed {row['seed']}" for row in first), box=None, pad_edge=False, header_style="bold")
        for name in (name for name in rows[0] if name not in ("member", "seed")):
            table.add_row(name, *(_short(row[name]) for row in first))
        screen.print(table)
        for row in first:
            screen.print(f"seed {row['seed']} is member {row['member']}", highlight=False)
        if len(rows) > SHOWN_MEMBERS:
            screen.print(f"and {len(rows) - SHOWN_MEMBERS} more; all with --json", highlight=False)
    return 0


def _short(value: Any) -> str:
    if value is None:
        return "·"
    return f"{value:.4g}" if isinstance(value, float) else escape_markup(value)


def escape_markup(value: Any) -> str:
    from rich.markup import escape

    return escape(str(value))


def _print(options: Any, value: Any) -> int:
    if emit(options, value):
        return 0
    screen = console(options)
    if isinstance(value, list):
        from rich.table import Table

        names = [escape_markup(name) for name in (value[0] if value else ["empty"])]
        table = Table(*names, box=None, pad_edge=False, header_style="bold")
        for row in value:
            table.add_row(*("" if cell is None else escape_markup(cell) for cell in row.values()))
        screen.print(table)
    else:
        from rich.pretty import Pretty

        screen.print(Pretty(value))
    return 0
