"""The ledger of one paper: what each claim says, what was predicted and measured, the judgement, and its figures."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from .page_figures import anchor, gallery
from .page_mathematics import html
from .page_values import comparison, definitions, duration, plain
from .page_words import Verdict, badge, finished, judgement, unexpected

Entry = Mapping[str, Any]  # a figure as the page wants it


def table(
    verdicts: Sequence[Verdict], beside: Mapping[str, Sequence[Entry]], linked: Mapping[str, Sequence[str]]
) -> str:
    """One row for each claim, and below it the figures that belong beside it; `linked` are the ids of all of its
    figures. Roles are explicit because stacked cards on a phone undo `display: table`."""
    values = "<span>Quantity</span> <span>Predicted</span> <span>Measured</span> <span>Tolerance</span>"
    heads = "".join(
        f'<th scope="col" role="columnheader">{head}</th>'
        for head in ("Claim", "Says", f'<span class="columns">{values}</span>', "Verdict")
    )
    rows = "".join(
        row(verdict, linked.get(verdict["id"], ())) + _pictured(verdict, beside.get(verdict["id"], ()))
        for verdict in verdicts
    )
    return (
        '<table class="ledger" role="table"><thead role="rowgroup">'
        f'<tr role="row">{heads}</tr></thead><tbody role="rowgroup">{rows}</tbody></table>'
    )


def row(verdict: Verdict, figures: Sequence[str] = ()) -> str:
    name = escape(verdict["id"])
    style = " ".join(["unexpected"] * unexpected(verdict) + [verdict["verdict"]] * (not finished(verdict)))
    return (
        f'<tr role="row" id="{name}"{_class(style)}{_data(verdict)}>'
        f'<th scope="row" role="rowheader"><a class="id" href="#{name}">{name}</a>'
        f'<span class="label">{html(verdict["label"] or "")}</span>'
        f'<span class="small">{escape(verdict["kind"])}</span>{_links(figures)}</th>'
        f'<td role="cell" class="says"><p>{html(verdict["says"])}</p>{_more(verdict)}</td>'
        f'<td role="cell">{_numbers(verdict)}</td>'
        f'<td role="cell" class="judged">{_judged(verdict)}</td></tr>'
    )


def _class(style: str) -> str:
    return f' class="{style}"' if style else ""


def _data(verdict: Verdict) -> str:
    """What the reader may filter by, and the text that the search looks in: formulas as they are typed."""
    erratum = verdict["erratum"]
    facts = {
        "paper": verdict["paper"],
        "verdict": " ".join([verdict["verdict"]] + ["unexpected"] * unexpected(verdict)),
        "kind": verdict["kind"],
        "erratum": erratum["printed_verdict"] if erratum else "none",
        "search": " ".join(_searched(verdict)).lower(),
    }
    return "".join(f' data-{name}="{escape(value)}"' for name, value in facts.items())


def _searched(verdict: Verdict) -> list[str]:
    erratum, measured = verdict["erratum"] or {}, verdict["measured"]
    texts = [verdict[name] or "" for name in ("id", "paper", "label", "kind", "says")]
    texts += [erratum.get("printed", ""), erratum.get("corrected", ""), *verdict["departures"]]
    return texts + (list(measured) if isinstance(measured, Mapping) else [])


def _links(figures: Sequence[str]) -> str:
    if not figures:
        return ""
    links = ", ".join(f'<a href="#{escape(anchor(id))}">{escape(id.split("/")[1])}</a>' for id in figures)
    return f'<span class="small">figure{"s" if len(figures) > 1 else ""} {links}</span>'


def _numbers(verdict: Verdict) -> str:
    if not finished(verdict):
        return ""
    return comparison(verdict["predicted"], verdict["measured"], verdict["tolerance"])


def _judged(verdict: Verdict) -> str:
    seeds = verdict["seeds"]
    facts = [f"expected: {verdict['expected']}"] if unexpected(verdict) else []
    facts += [f"{seeds:,} seed{'' if seeds == 1 else 's'}"] if seeds else []
    facts += [duration(verdict["seconds"]), f"scale {verdict['scale']}"] if finished(verdict) else [verdict["note"]]
    facts += ["revised"] * bool(verdict.get("revised"))
    alarm = '<span class="alarm">unexpected</span>' if unexpected(verdict) else ""
    badges = " ".join(badge(outcome, words) for outcome, words in judgement(verdict))
    return badges + alarm + "".join(f'<span class="small">{escape(fact)}</span>' for fact in facts if fact)


def _pictured(verdict: Verdict, figures: Sequence[Entry]) -> str:
    """A row of its own; it is shown and hidden with its claim."""
    if not figures:
        return ""
    owner = escape(verdict["id"])
    return f'<tr role="row" class="pictured" data-of="{owner}"><td role="cell" colspan="4">{gallery(figures)}</td></tr>'


def _more(verdict: Verdict) -> str:
    """What a reader opens on demand: the erratum, the departures, the parameters and how to run it again."""
    parts = [_erratum(verdict["erratum"])] if verdict["erratum"] else []
    if departures := verdict["departures"]:
        items = "".join(f"<li>{html(sentence)}</li>" for sentence in departures)
        parts.append(_details(f"Departures ({len(departures)})", f"<ul>{items}</ul>"))
    command = escape(f"sorites verify {verdict['id']} --scale {verdict['scale']}")
    parameters = definitions(verdict["parameters"]) if verdict["parameters"] else ""
    parts.append(_details("Parameters" if parameters else "Command", f"{parameters}<p><code>{command}</code></p>"))
    return f'<div class="more">{"".join(parts)}</div>'


def _erratum(erratum: Verdict) -> str:
    body = (
        f"<dl><dt>As printed</dt><dd>{html(plain(erratum['printed']))}</dd>"
        f"<dt>Corrected, which is what the numbers judge</dt><dd>{html(plain(erratum['corrected']))}</dd></dl>"
    )
    return _details("Erratum to the printed form", body, "erratum")


def _details(summary: str, body: str, style: str = "") -> str:
    opening = f'<details class="{style}">' if style else "<details>"
    return f"{opening}<summary>{escape(summary)}</summary><div>{body}</div></details>"
