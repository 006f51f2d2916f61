"""sorites reproduce: every claim and figure, then one page. Finished work is taken from the store."""

import dataclasses
import os
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..errors import require
from ..ledger import override, verify
from ..papers.registry import code
from ..papers.registry import papers as all_papers
from .common import all_claims, all_figures, emit, forget_programs, open_store, paper_named, progress
from .figure_command import command, sized
from .stopping import follow_parent


def execute(options: Any) -> int:
    from ..report.figures import make_figure
    from ..report.page import write_page

    jobs = min(2, os.cpu_count() or 1) if options.jobs is None else options.jobs
    require(jobs >= 1, f"work needs at least one process: jobs={jobs}; use 1 or more")
    papers = [paper_named(options.paper)] if options.paper else list(all_papers().values())
    store, out, begun = open_store(options), Path(options.out), time.perf_counter()
    claims = [claim for paper in papers for claim in paper.claims().values()]
    figures = [each for paper in papers for each in paper.figures().values() if options.paper or not each.apart]
    setting = SimpleNamespace(**{name: getattr(options, name) for name in ("scale", "overrides", "store", "quiet")})
    trained, taken = finish(units(claims, figures), setting, jobs)

    verdicts = [judged(claim, setting, store) for claim in claims]
    made = []
    for figure in figures:
        own = own_overrides(figure, setting)
        words = command(figure, SimpleNamespace(scale=options.scale, overrides=own))
        size = sized(figure, options.scale, own)
        made.append(make_figure(figure, size, options.scale, store, out / "figures", words))
    page = write_page(
        out / "index.html",
        title="sorites: what reproduces",
        verdicts=verdicts,
        figures=[each.record(out) for each in made],
        about=about(options, time.perf_counter() - begun),
    )
    bad = [v for v in verdicts if v["verdict"] == "fails" or not (v["verdict"] == v["expected"] or options.overrides)]
    if not emit(options, {"page": str(page), "verdicts": verdicts, "figures": [each.figure.id for each in made]}):
        print(counted(store, trained, taken))
        print(page.resolve())
    return 1 if bad else 0


def units(claims: Iterable[Any], figures: Iterable[Any]) -> list[list[str]]:
    """Ids that share compiled programs (their code is in one file) stay in one process; longest first."""
    groups: dict[str, list[str]] = {}
    weights: dict[str, float] = {}
    for claim in claims:
        place, seeded = claim.check.__module__, "seeds" in claim.flags
        groups.setdefault(place, []).append(claim.id)
        weights[place] = weights.get(place, 0) + (15 if seeded else 4)
    for figure in figures:
        place = figure.measure.__module__
        groups.setdefault(place, []).append(figure.id)
        weights[place] = weights.get(place, 0) + figure.seconds
    return [groups[place] for place in sorted(groups, key=lambda place: -weights[place])]


def counted(store: Any, trained: int, taken: int) -> str:
    """How much was trained, and that nothing was trained in vain."""
    members = [id for folder in store.folders() if folder.has_models for id in folder.ids]
    twice = len(members) - len(set(members))
    return f"{trained:,} members trained, {taken:,} taken from the store, {twice:,} in the store twice"


def finish(work: list[list[str]], setting: Any, jobs: int) -> tuple[int, int]:
    """Bring every verdict and table into the store; returns how many members were trained and how many were there."""
    if jobs == 1:
        with progress(setting):
            done = [finish_unit(ids, setting) for ids in work]
    else:
        pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=follow_parent)
        try:
            done = [each.result() for each in [pool.submit(finish_unit, ids, setting) for ids in work]]
        except BaseException:  # what is finished is in the store: nobody is waited for
            workers = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.kill()
            raise
        pool.shutdown()
    return sum(trained for trained, _ in done), sum(taken for _, taken in done)


def finish_unit(ids: list[str], setting: Any) -> tuple[int, int]:
    from ..report.figures import tables
    from ..training import use_compilation_cache

    use_compilation_cache()
    store, claims, figures = open_store(setting), all_claims(), all_figures()
    for id in ids:
        begun = time.perf_counter()
        if id in claims:
            outcome = judged(claims[id], setting, store)["verdict"]
        else:
            size = sized(figures[id], setting.scale, own_overrides(figures[id], setting))
            outcome = tables(figures[id], size, setting.scale, store)[1]
        if not setting.quiet:
            print(f"{id:<22} {outcome:<14} {time.perf_counter() - begun:6.1f} s", file=sys.stderr, flush=True)
    forget_programs()
    return store.trained, store.taken


def own_overrides(figure: Any, setting: Any) -> dict[str, str]:
    """Of what was overridden, what the figure has."""
    known = {field.name for field in dataclasses.fields(figure.sizes["quick"])}
    return {name: value for name, value in setting.overrides.items() if name in known}


def judged(claim: Any, setting: Any, store: Any) -> dict[str, Any]:
    """The verdict, from the store if the same source judged the same parameters."""
    parameters = dataclasses.asdict(override(claim.parameters(setting.scale), setting.overrides))
    last = store.last_verdict(claim.id)
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in parameters.items()}
    source = code(claim.paper, claim.check)
    wanted = {"source": source, "scale": setting.scale, "parameters": plain}
    if last and all(last.get(name) == value for name, value in wanted.items()):
        return {name: value for name, value in last.items() if name not in ("source", "created")}
    record = verify(claim, setting.scale, setting.overrides, store).record()
    store.put_verdict(record | {"source": source})
    return record


def about(options: Any, seconds: float) -> dict[str, Any]:
    from ..store.provenance import provenance

    found = provenance(seconds)
    words = ["sorites reproduce", f"--scale {options.scale}", *([f"--paper {options.paper}"] if options.paper else [])]
    words += [f"--{name} {value}" for name, value in options.overrides.items()]
    return {
        "version": found["versions"].get("sorites"),
        "commit": found["commit"],
        "created": found["created"][:19] + " UTC",
        "device": f"{found['device']['count']} x {found['device']['kind']} ({found['platform']})",
        "command": " ".join(words),
        "seconds": round(seconds, 1),
        "packages": found["versions"],
    }
