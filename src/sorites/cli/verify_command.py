"""sorites verify [ID ...] [--paper SLUG] [--<parameter> VALUE ...]"""

import dataclasses
from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from ..errors import SpecError, require
from ..ledger import Verdict, anywhere, verify, verify_at
from ..papers.registry import code
from .common import all_claims, console, emit, forget_programs, nearest, open_store, paper_named, progress
from .reproduce_command import telling
from .reproducing import finish, processes, units

MOST = 100_000  # sizes of one claim
MANY = 8  # claims up to which one process is enough: another takes seconds to start
MARKS = {
    "holds": "[green]✓ holds[/green]",
    "fails": "[red]✗ fails[/red]",
    "inconclusive": "[yellow]? inconclusive[/yellow]",
}


def execute(options: Any) -> int:
    chosen = select(options.ids, options.paper)
    check_overrides(chosen, options.scale, options.overrides)
    require(options.seed is None or options.anywhere is not None, "--seed belongs to --anywhere N; add it")
    require(
        options.anywhere is None or (1 <= options.anywhere <= MOST and not options.overrides),
        f"--anywhere draws 1 to {MOST:,} sizes: anywhere={options.anywhere}; use such a number, and no other parameter",
    )
    jobs = processes(1 if options.jobs is None and len(chosen) <= MANY else options.jobs)
    verdicts = one_by_one(chosen, options) if jobs == 1 else side_by_side(chosen, options, jobs)
    taken = emit(options, [verdict.record() for verdict in verdicts])
    if not taken:
        console(options).print(table(verdicts))
    other = options.overrides or options.anywhere
    bad = [v for v in verdicts if v.verdict == "fails" or not (v.as_expected or other)]
    return 1 if bad else 0


def one_by_one(chosen: list[Any], options: Any) -> list[Verdict]:
    store, verdicts = open_store(options), []
    with progress(options) as title:
        for number, claim in enumerate(chosen, start=1):
            title(f"{number}/{len(chosen)} {claim.id}")
            if number > 1 and claim.paper != chosen[number - 2].paper:
                forget_programs()
            verdicts += measured(claim, options, store)[0]
    return verdicts


def side_by_side(chosen: list[Any], options: Any, jobs: int) -> list[Verdict]:
    """In several processes; told in the order that was asked for."""
    open_store(options)  # refused here, where it cannot be written
    names = ("scale", "overrides", "store", "quiet", "anywhere", "seed")
    setting = SimpleNamespace(judge=measured, **{name: getattr(options, name) for name in names})
    gathered = Gathered(len(chosen))
    with telling(gathered, options) as tell:
        finish(units(chosen, []), setting, jobs, tell)
    return [verdict for claim in chosen for verdict in gathered.done[claim.id]]


class Gathered:
    """What the processes have said so far."""

    def __init__(self, count: int):
        self.count = count
        self.notes: dict[str, str] = {}
        self.done: dict[str, list[Verdict]] = {}

    def finished(self, id: str, verdicts: list[Verdict]) -> None:
        self.notes.pop(id, None)
        self.done[id] = verdicts

    def noted(self, id: str, note: str) -> None:
        self.notes[id] = note


def measured(claim: Any, options: Any, store: Any) -> tuple[list[Verdict], str]:
    """One verdict, or one for each drawn size, each stored at once; and how often each word was said."""
    source, found = code(claim.paper, claim.check), []
    for verdict in judged(claim, options, store):
        verdict = dataclasses.replace(verdict, source=source)
        store.put_verdict(verdict.record())
        found.append(verdict)
    words = Counter(verdict.verdict for verdict in found)
    return found, ", ".join(word if count == len(found) == 1 else f"{count} {word}" for word, count in words.items())


def judged(claim: Any, options: Any, store: Any) -> Iterator[Verdict]:
    if options.anywhere is None:
        yield verify(claim, options.scale, options.overrides, store)
        return
    for size in anywhere(claim, options.anywhere, options.seed or 0, options.scale):
        yield verify_at(claim, size, options.scale, {"anywhere": str(size)}, store)


def select(ids: list[str], paper: str | None) -> list[Any]:
    """The claims asked for; none named means all."""
    claims = all_claims() if paper is None else paper_named(paper).claims()
    for id in ids:
        if id not in claims:
            raise nearest("claim", id, claims)
    return [claims[id] for id in ids] if ids else list(claims.values())


def check_overrides(chosen: list[Any], scale: Any, overrides: dict[str, str]) -> None:
    """An override that no selected claim has is bad usage."""
    known = {field.name for claim in chosen for field in dataclasses.fields(claim.parameters(scale))}
    for name in overrides:
        if name not in known:
            names = ", ".join(f"--{each}" for each in sorted(known))
            raise SpecError(f"no selected claim has the parameter {name!r}; use {names}")


def table(verdicts: list[Verdict]):
    """The verdicts as people read them."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    found = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    found.add_column("claim", no_wrap=True)
    found.add_column("says", ratio=3)
    found.add_column("predicted → measured (± tolerance)", ratio=3)
    found.add_column("verdict", no_wrap=True)
    found.add_column("seeds", justify="right")
    found.add_column("s", justify="right")
    for v in verdicts:
        says = (
            escape(v.says)
            if v.erratum is None
            else f"{escape(v.says)}\n[dim]Erratum: the printed form {v.erratum['printed_verdict']}.[/dim]"
        )
        mark = MARKS[v.verdict] + ("" if v.as_expected else "\n[red]unexpected[/red]")
        found.add_row(
            f"{v.id}\n[dim]{v.kind}[/dim]", says, escape(numbers(v)), mark, str(v.seeds or ""), f"{v.seconds:.1f}"
        )
    return found


def numbers(verdict: Verdict) -> str:
    def text(value: float | None) -> str:
        return "·" if value is None else f"{value:.4g}"

    if not isinstance(verdict.measured, dict):
        return f"{text(verdict.predicted)} → {text(verdict.measured)} (± {text(verdict.tolerance)})"
    lines = []
    for name, measured in verdict.measured.items():
        tolerance = verdict.tolerance[name]
        slack = "" if tolerance is None else f" (± {text(tolerance)})"
        lines.append(f"{name}: {text(verdict.predicted[name])} → {text(measured)}{slack}")
    return "\n".join(lines)
