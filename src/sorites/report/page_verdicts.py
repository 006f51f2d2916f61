"""The verdict table: what each claim says, what was predicted, what was measured, and the judgement."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from .page_values import comparison, definitions, duration, plain

Verdict = Mapping[str, Any]  # one object of `sorites verify --json`

WORDING = {"inconclusive": "is inconclusive"}
VERDICTS = ("holds", "fails", "inconclusive")
ICONS = {  # shapes, so that no verdict is told by colour alone
    "holds": "M2.5 8.6 6.4 12.4 13.5 4.2",
    "fails": "M3.5 3.5 12.5 12.5M12.5 3.5 3.5 12.5",
    "inconclusive": "M5 5.8a3 3 0 1 1 4.3 2.7C8.3 9 8 9.6 8 10.6M8 13.6v.2",
}


def unexpected(verdict: Verdict) -> bool:
    return verdict["verdict"] != verdict["expected"]


def badge(name: str) -> str:
    """The verdict as a drawn sign and its word."""
    path = ICONS.get(name, ICONS["inconclusive"])
    icon = f'<svg viewBox="0 0 16 16" aria-hidden="true"><path d="{path}"/></svg>'
    return f'<span class="badge {escape(name)}">{icon}{escape(name)}</span>'


def flags(verdict: Verdict) -> list[str]:
    """What, besides verdict and paper, the reader may filter by."""
    named = {"unexpected": unexpected(verdict), "erratum": bool(verdict["erratum"])}
    return [name for name, present in named.items() if present]


def table(verdicts: Sequence[Verdict]) -> str:
    """All claims, one row each; roles are explicit because stacked cards on a phone undo `display: table`."""
    values = "<span>Quantity</span> <span>Predicted</span> <span>Measured</span> <span>Tolerance</span>"
    heads = "".join(
        f'<th scope="col" role="columnheader">{head}</th>'
        for head in ("Claim", "Says", f'<span class="columns">{values}</span>', "Verdict")
    )
    return (
        '<table class="ledger" role="table"><thead role="rowgroup">'
        f'<tr role="row">{heads}</tr></thead>'
        f'<tbody role="rowgroup">{"".join(map(row, verdicts))}</tbody></table>'
    )


def row(verdict: Verdict) -> str:
    name = escape(verdict["id"])
    marks = flags(verdict)
    style = ' class="unexpected"' if "unexpected" in marks else ""
    return (
        f'<tr role="row" id="{name}"{style} data-verdict="{escape(verdict["verdict"])}"'
        f' data-paper="{escape(verdict["paper"])}" data-flags="{" ".join(marks)}">'
        f'<th scope="row" role="rowheader"><a class="id" href="#{name}">{name}</a>'
        f'<span class="label">{escape(verdict["label"] or "")}</span>'
        f'<span class="small">{escape(verdict["paper"])} · {escape(verdict["kind"])}</span></th>'
        f'<td role="cell" class="says"><p>{escape(verdict["says"])}</p>{_more(verdict)}</td>'
        f'<td role="cell">{comparison(verdict["predicted"], verdict["measured"], verdict["tolerance"])}</td>'
        f'<td role="cell" class="judged">{_judged(verdict)}</td></tr>'
    )


def _judged(verdict: Verdict) -> str:
    seeds = verdict["seeds"]
    facts = [f"{seeds:,} seed{'' if seeds == 1 else 's'}"] if seeds else []
    facts += [duration(verdict["seconds"]), f"scale {verdict['scale']}"]
    alarm = '<span class="alarm">unexpected</span>' if unexpected(verdict) else ""
    if alarm:
        facts.insert(0, f"expected: {verdict['expected']}")
    return badge(verdict["verdict"]) + alarm + "".join(f'<span class="small">{escape(fact)}</span>' for fact in facts)


def _more(verdict: Verdict) -> str:
    """What a reader opens on demand: the erratum, the departures, the parameters and how to run it again."""
    parts = [_erratum(verdict["erratum"])] if verdict["erratum"] else []
    if departures := verdict["departures"]:
        items = "".join(f"<li>{escape(sentence)}</li>" for sentence in departures)
        parts.append(_details(f"Departures ({len(departures)})", f"<ul>{items}</ul>"))
    command = escape(f"sorites verify {verdict['id']} --scale {verdict['scale']}")
    parameters = definitions(verdict["parameters"]) if verdict["parameters"] else ""
    parts.append(_details("Parameters" if parameters else "Command", f"{parameters}<p><code>{command}</code></p>"))
    return f'<div class="more">{"".join(parts)}</div>'


def _erratum(erratum: Verdict) -> str:
    judged = plain(erratum["printed_verdict"])
    body = (
        f"<dl><dt>As printed</dt><dd>{escape(plain(erratum['printed']))}</dd>"
        f"<dt>Corrected</dt><dd>{escape(plain(erratum['corrected']))}</dd>"
        f"<dt>Verdict on the printed form</dt><dd>{badge(judged)}</dd></dl>"
    )
    return _details(f"Erratum: the printed form {WORDING.get(judged, judged)}", body, "erratum")


def _details(summary: str, body: str, style: str = "") -> str:
    opening = f'<details class="{style}">' if style else "<details>"
    return f"{opening}<summary>{escape(summary)}</summary><div>{body}</div></details>"
