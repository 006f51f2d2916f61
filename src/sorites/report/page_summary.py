"""The counts at the head of the page, and the buttons that narrow the table to them."""

from collections import Counter
from collections.abc import Sequence
from html import escape

from .page_verdicts import VERDICTS, Verdict, flags, unexpected

WORDS = {"holds": ("holds", "hold"), "fails": ("fails", "fail"), "inconclusive": ("inconclusive",) * 2}


def summary(verdicts: Sequence[Verdict]) -> str:
    """One sentence over everything, the surprises by name, then a line for each paper."""
    if not verdicts:
        return '<p class="verdict-line">No claim was checked.</p>'
    return (
        f'<p class="verdict-line"><strong>{_plural(len(verdicts), "claim")}</strong> checked: '
        f"{_counts(verdicts, ', ')}.{_errata(verdicts)}</p>{_surprises(verdicts)}"
        f'<ul class="papers">{"".join(_paper(paper, verdicts) for paper in papers(verdicts))}</ul>'
    )


def papers(verdicts: Sequence[Verdict]) -> list[str]:
    return list(dict.fromkeys(verdict["paper"] for verdict in verdicts))


def filters(verdicts: Sequence[Verdict]) -> str:
    """Buttons that the script reveals: without it they could do nothing, so they stay hidden."""
    tally = Counter(verdict["verdict"] for verdict in verdicts)
    tally.update(flag for verdict in verdicts for flag in flags(verdict))
    kinds = [(name, name, tally[name]) for name in (*VERDICTS, "unexpected", "erratum") if tally[name]]
    every = ("", "all", len(verdicts))
    groups = _group("verdict", "Verdict", [every, *kinds])
    sources = Counter(verdict["paper"] for verdict in verdicts)
    if len(sources) > 1:
        groups += _group("paper", "Paper", [every, *((name, name, count) for name, count in sources.items())])
    return f'<div class="filters" hidden>{groups}<p class="shown" role="status"></p></div>'


def _group(field: str, name: str, choices: Sequence[tuple[str, str, int]]) -> str:
    buttons = "".join(
        f'<button type="button" data-field="{field}" data-value="{escape(value)}"'
        f' aria-pressed="{"false" if value else "true"}">{escape(label)} <span>{count}</span></button>'
        for value, label, count in choices
    )
    return f'<div role="group" aria-label="Filter by {field}"><span class="small">{name}</span>{buttons}</div>'


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _counts(verdicts: Sequence[Verdict], between: str) -> str:
    tally = Counter(verdict["verdict"] for verdict in verdicts)
    return between.join(f"{tally[name]} {WORDS[name][tally[name] != 1]}" for name in VERDICTS)


def _errata(verdicts: Sequence[Verdict]) -> str:
    count = sum(bool(verdict["erratum"]) for verdict in verdicts)
    return f" {count} {'carries' if count == 1 else 'carry'} an erratum to the printed statement." if count else ""


def _surprises(verdicts: Sequence[Verdict]) -> str:
    odd = [verdict for verdict in verdicts if unexpected(verdict)]
    if not odd:
        return '<p class="calm">Every verdict is the expected one.</p>'
    items = ", ".join(
        f'<a href="#{escape(verdict["id"])}">{escape(verdict["id"])}</a> '
        f"({escape(verdict['verdict'])}, expected: {escape(verdict['expected'])})"
        for verdict in odd
    )
    count = "1 verdict is" if len(odd) == 1 else f"{len(odd)} verdicts are"
    return f'<p class="surprise"><strong>{count} not the expected one:</strong> {items}.</p>'


def _paper(paper: str, verdicts: Sequence[Verdict]) -> str:
    own = [verdict for verdict in verdicts if verdict["paper"] == paper]
    tally = Counter(verdict["verdict"] for verdict in own)
    bar = "".join(f'<i class="{name}" style="flex-grow:{tally[name]}"></i>' for name in VERDICTS if tally[name])
    odd = sum(map(unexpected, own))
    surprises = f"<strong>{odd} unexpected</strong>" if odd else "0 unexpected"
    return (
        f'<li><span class="name">{escape(paper)}</span><span class="bar" aria-hidden="true">{bar}</span>'
        f"<span>{_counts(own, ' · ')} · {surprises}</span></li>"
    )
