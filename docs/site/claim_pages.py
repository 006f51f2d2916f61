"""A page for every claim of the ledger, and a table of them for every paper."""

import dataclasses
import inspect
from pathlib import Path
from typing import Any

from records import Record, judged, rows
from sorites.ledger import Claim
from sorites.ledger.verification import anywhere
from sorites.papers.paper import Paper
from sorites.papers.registry import NO_DIGEST, OTHER_CODE, outdated, outdated_mark
from sorites.report.mathematics import typeset
from sorites.report.page_values import duration, plain
from under_review import CLAIMS, note

KINDS = {
    "identity": "an identity: both sides are computed and must agree to rounding",
    "inequality": "an inequality: both sides are computed, without slack beyond rounding or sampling",
    "finite": "a prediction at finite size, with a tolerance written before the run",
    "trend": "a trend: a slope or an order, with its interval; constants are printed and not asserted",
    "uncheckable": "not checkable at any size that runs; what can be shown is shown",
}


def page(claim: Claim[Any], paper: Paper, record: Record | None) -> str:
    parts = [
        f"# {claim.id}: {claim.label}",
        f"[{paper.title}](../../papers/{paper.slug}.md)",
        *filter(None, [note([claim.id])]),
        f"> {typeset(claim.says)}",
        f"This is {KINDS[claim.kind]}.",
        *_verdict(claim, record),
        *_erratum(record),
        *_domain(claim),
        *_departures(claim, record),
        *_commands(claim),
        *_code(claim),
    ]
    return "\n\n".join(parts) + "\n"


def table(claims: list[Claim[Any]], found: dict[str, Record]) -> str:
    """Of one paper, with its table of contents; they stand on the paper's page."""
    lines = ["| claim | in the paper | says | verdict |", "|---|---|---|---|"]
    for claim in claims:
        link = f"[{claim.id}](../generated/claims/{claim.id}.md)"
        cells = (link, _cell(claim.label), typeset(claim.says), _judged(claim, found.get(claim.id)))
        lines.append("| " + " | ".join(cells) + " |")
    pages = "\n".join(f"../generated/claims/{claim.id}" for claim in claims)  # in the paper's order
    unknown = [claim.id for claim in claims if claim.id in found and outdated(claim, found[claim.id]) is None]
    if unknown:
        lines.append(f"\nThese verdicts were {NO_DIGEST}: {', '.join(unknown)}.")
    return "\n".join(lines) + f"\n\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"


def _judged(claim: Claim[Any], record: Record | None) -> str:
    other = record is not None and outdated(claim, record)
    return f"{judged(record)} ({OTHER_CODE})" if other else judged(record)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _verdict(claim: Claim[Any], record: Record | None) -> list[str]:
    if record is None:
        return ["## Verdict", f"Not recorded yet; `sorites verify {claim.id}` gives one."]
    seeds = f", {record['seeds']:,} members" if record["seeds"] else ""
    mark = outdated_mark(claim, record)
    facts = f"{record['scale']} scale{seeds}, {duration(record['seconds'])}{', ' + mark if mark else ''}"
    about = "corrected statement" if record["erratum"] else "statement"
    parts = ["## Verdict", f"The {about} above: **{record['verdict']}** ({facts})."]
    if record["verdict"] != record["expected"]:
        parts.append(f"Expected was: {record['expected']}.")
    if record["says"] != claim.says:
        parts.append(f"The record is of an earlier wording: {typeset(record['says'])}")
    numbers = [" | ".join((typeset(name), *rest)) for name, *rest in rows(record)]
    if numbers:
        head = "| quantity | predicted | measured | tolerance |\n|---|---|---|---|\n"
        parts.append(head + "\n".join(f"| {row} |" for row in numbers))
    return parts


def _erratum(record: Record | None) -> list[str]:
    if record is None or record["erratum"] is None:
        return []
    erratum = record["erratum"]
    outcomes = {"fails": "fails", "holds": "holds too"}
    printed = outcomes.get(erratum["printed_verdict"], "is neither shown nor refuted")
    if record["id"] in CLAIMS:
        printed = "is under review"
    return [
        "## Erratum",
        f"As printed: {typeset(erratum['printed'])}",
        f"As corrected here: {typeset(erratum['corrected'])}",
        f"The printed form **{printed}**; see also the [errata](../../errata.md).",
    ]


def _domain(claim: Claim[Any]) -> list[str]:
    quick = dataclasses.asdict(claim.parameters("quick"))
    if not quick:
        return []
    ranges = claim.domain.ranges if claim.domain else {}
    lines = ["| parameter | at quick scale | meant to hold for |", "|---|---|---|"]
    lines += [f"| `{name}` | {plain(value)} | {ranges.get(name, '')} |" for name, value in quick.items()]
    because = [f"Together: {typeset(claim.domain.because)}."] if claim.domain and claim.domain.because else []
    where = "Outside this domain the numbers are shown without a verdict." if claim.domain else ""
    return ["## Domain", "\n".join(lines), *because, *([where] if where else [])]


def _departures(claim: Claim[Any], record: Record | None) -> list[str]:
    departures = claim.departures if record is None else record["departures"]
    if not departures:
        return []
    revised = ["What is judged here, or its bar, was set or changed after numbers had been seen; which, stands below."]
    listed = "\n".join(f"- {typeset(each)}" for each in departures)
    return ["## Departures from the paper", *(revised if claim.revised else []), listed]


def _commands(claim: Claim[Any]) -> list[str]:
    lines = [f"sorites verify {claim.id}"]
    if claim.domain and claim.domain.ranges:
        lines += [f"sorites verify {claim.id} {_flags(claim)}", f"sorites verify {claim.id} --anywhere 3"]
    return ["## Commands", "```sh\n" + "\n".join(lines) + "\n```"]


def _flags(claim: Claim[Any]) -> str:
    """Another size of its domain, as one would type it."""
    size = dataclasses.asdict(anywhere(claim, 1, seed=0)[0])
    values = {name: size[name] for name in claim.domain.ranges}
    typed = {name: ",".join(map(str, each)) if isinstance(each, tuple) else each for name, each in values.items()}
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in typed.items() if value not in ("", None))


def _code(claim: Claim[Any]) -> list[str]:
    check = inspect.unwrap(getattr(claim.check, "func", claim.check))  # of a partial
    lines, first = inspect.getsourcelines(check)
    place = f"{Path(*check.__module__.split('.'))}.py"
    source = "".join(lines).rstrip()
    return [
        "## Code",
        f"`src/{place}`, line {first}: `{check.__name__}`.",
        f"<details><summary>The check</summary>\n\n```python\n{source}\n```\n\n</details>",
    ]
