"""sorites reproduce: every claim and figure, then one page. Finished work is taken from the store."""

import dataclasses
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..ledger import verify
from ..ledger.claim import SCALES
from ..papers.paper import PAPERS
from .common import console, emit, open_store, paper_named, progress
from .figure_command import command, sized
from .verify_command import source


def execute(options: Any) -> int:
    from ..report.figures import make_figure
    from ..report.page import write_page

    papers = [paper_named(options.paper)] if options.paper else list(PAPERS.values())
    store, out, begun = open_store(options), Path(options.out), time.perf_counter()
    claims = [claim for paper in papers for claim in paper.claims().values()]
    figures = [figure for paper in papers for figure in paper.figures().values()]
    verdicts, made, screen = [], [], console(options, taken=True)
    with progress(options) as title:
        for number, claim in enumerate(claims, start=1):
            title(f"claim {number}/{len(claims)} {claim.id}")
            verdicts.append(judged(claim, options, store))
            screen.print(
                f"{claim.id:<6} {verdicts[-1]['verdict']:<12} {verdicts[-1]['seconds']:6.1f} s",
                highlight=False,
            )
        for number, figure in enumerate(figures, start=1):
            title(f"figure {number}/{len(figures)} {figure.id}")
            known = {f.name for f in dataclasses.fields(figure.sizes["quick"])}
            own = {name: value for name, value in options.overrides.items() if name in known}
            size = sized(figure, options.scale, own)
            words = command(figure, SimpleNamespace(scale=options.scale, overrides=own))
            made.append(make_figure(figure, size, options.scale, store, out / "figures", words))
            screen.print(f"{figure.id}: {made[-1].origin}", highlight=False)
    page = write_page(
        out / "index.html", title="sorites: what reproduces", verdicts=verdicts,
        figures=[each.record(out) for each in made], about=about(options, time.perf_counter() - begun),
    )  # fmt: skip
    unexpected = [verdict["id"] for verdict in verdicts if verdict["verdict"] != verdict["expected"]]
    if not emit(options, {"page": str(page), "verdicts": verdicts, "figures": [each.figure.id for each in made]}):
        print(page.resolve())
    return 1 if unexpected else 0


def judged(claim: Any, options: Any, store: Any) -> dict[str, Any]:
    """The verdict, from the store if the same source judged the same parameters."""
    from ..ledger import override

    assert options.scale in SCALES
    parameters = dataclasses.asdict(override(claim.parameters(options.scale), options.overrides))
    last = store.last_verdict(claim.id)
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in parameters.items()}
    if last and last.get("source") == source() and last["scale"] == options.scale and last["parameters"] == plain:
        return {name: value for name, value in last.items() if name not in ("source", "created")}
    record = verify(claim, options.scale, options.overrides).record()
    store.put_verdict(record | {"source": source()})
    return record


def about(options: Any, seconds: float) -> dict[str, Any]:
    from ..store.provenance import provenance

    found = provenance(seconds)
    return {
        "version": found["versions"].get("sorites"),
        "commit": found["commit"],
        "created": found["created"][:19] + " UTC",
        "device": f"{found['device']['count']} x {found['device']['kind']} ({found['platform']})",
        "command": f"sorites reproduce --scale {options.scale}"
        + (f" --paper {options.paper}" if options.paper else ""),
        "seconds": round(seconds, 1),
        "packages": found["versions"],
    }
