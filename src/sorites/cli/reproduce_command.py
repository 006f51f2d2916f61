"""sorites reproduce: every claim and figure, on one page that fills as they finish. Finished work is taken from the
store."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..papers.registry import papers as all_papers
from .common import all_claims, all_figures, emit, open_store, paper_named
from .figure_command import command
from .last_verdict import last_verdict
from .reproducing import News, Tell, finish, judged, own_overrides, processes, units

TITLE = "sorites: what reproduces"


def execute(options: Any) -> int:
    from ..report.filling import Filling, claim_to_come, figure_to_come

    jobs = processes(options.jobs)
    papers = [paper_named(options.paper)] if options.paper else list(all_papers().values())
    store, out, begun = open_store(options), Path(options.out), time.perf_counter()
    claims = list((papers[0].claims() if options.paper else all_claims()).values())
    drawn = (papers[0].figures() if options.paper else all_figures()).values()
    figures = [each for each in drawn if options.paper or not each.apart]
    names = ("scale", "overrides", "store", "quiet", "out")
    setting = SimpleNamespace(judge=judged, **{name: getattr(options, name) for name in names})

    def words(figure: Any) -> str:
        return command(figure, SimpleNamespace(scale=options.scale, overrides=own_overrides(figure, setting)))

    page = Filling(
        out / "index.html", TITLE, papers,
        [claim_to_come(claim, options.scale, options.overrides, before(claim, store)) for claim in claims],
        [figure_to_come(figure, options.scale, words(figure)) for figure in figures],
        {"command": written(options)},
    )  # fmt: skip
    if not options.quiet:
        print(f"the page fills while this runs: {page.path.resolve()}", file=sys.stderr, flush=True)
    try:
        with telling(page, options) as tell:
            trained, taken = finish(units(claims, figures), setting, jobs, tell)
    except BaseException:
        page.stop()
        raise
    page.end(about(options, time.perf_counter() - begun))
    verdicts = list(page.verdicts.values())
    bad = [v for v in verdicts if v["verdict"] == "fails" or not (v["verdict"] == v["expected"] or options.overrides)]
    if not emit(options, {"page": str(page.path), "verdicts": verdicts, "figures": list(page.figures)}):
        print(counted(store, trained, taken))
        print(page.path.resolve())
    return 1 if bad else 0


def before(claim: Any, store: Any) -> str:
    """What the store says of a claim that is still to be judged."""
    found = last_verdict(claim, store.last_verdict(claim.id))["last verdict"]
    return f"last verdict: {found}" if found else ""


@contextmanager
def telling(page: Any, options: Any) -> Iterator[Tell]:
    """News go to the page, and to standard error: a line for whatever is finished, and on a terminal a bar with what is
    running, compilation too."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    screen = Console(stderr=True, quiet=options.quiet)
    bar = Progress(
        MofNCompleteColumn(), BarColumn(bar_width=24), TimeElapsedColumn(), TextColumn("{task.description}"),
        console=screen, transient=True, disable=options.quiet or not screen.is_terminal,
    )  # fmt: skip

    def tell(news: News) -> None:
        what, id, content = news
        if what == "finished":
            record, outcome, seconds, compiled = content
            page.finished(id, record)
            share = f", {compiled:.1f} s compiling" if compiled >= 0.1 else ""
            line = f"{id:<22} {outcome:<14} {seconds:6.1f} s{share}"
            screen.print(line, highlight=False, markup=False, soft_wrap=True)
        else:
            page.noted(id, content or "")
        now = " · ".join(f"{id} {note}".rstrip() for id, note in tuple(page.notes.items()))
        bar.update(line_of_all, completed=len(page.done), description=now)

    with bar:
        line_of_all = bar.add_task("starting", total=page.count)
        yield tell


def counted(store: Any, trained: int, taken: int) -> str:
    """How much was trained, and that nothing was trained in vain."""
    members = [id for folder in store.folders() if folder.has_models for id in folder.ids]
    twice = len(members) - len(set(members))
    return f"{trained:,} members trained, {taken:,} taken from the store, {twice:,} in the store twice"


def written(options: Any) -> str:
    words = ["sorites reproduce", f"--scale {options.scale}", *([f"--paper {options.paper}"] if options.paper else [])]
    return " ".join([*words, *(f"--{name} {value}" for name, value in options.overrides.items())])


def about(options: Any, seconds: float) -> dict[str, Any]:
    from ..store.origin import provenance

    found = provenance(seconds)
    return {
        "version": found["versions"].get("sorites"),
        "commit": found["commit"],
        "created": found["created"][:19] + " UTC",
        "device": f"{found['device']['count']} x {found['device']['kind']} ({found['platform']})",
        "command": written(options),
        "seconds": round(seconds, 1),
        "packages": found["versions"],
    }
