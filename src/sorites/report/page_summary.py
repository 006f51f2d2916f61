"""The counts at the head of the page."""

from collections import Counter
from collections.abc import Sequence
from html import escape

from .page_words import VERDICTS, Verdict, finished, unexpected

WORDS = {"holds": ("holds", "hold"), "fails": ("fails", "fail"), "inconclusive": ("inconclusive",) * 2}


def summary(verdicts: Sequence[Verdict]) -> str:
    """One sentence over everything, the surprises by name, then a line for each paper."""
    judged = [verdict for verdict in verdicts if finished(verdict)]
    if not verdicts:
        return '<p class="verdict-line">No claim was checked.</p>'
    lines = "".join(_paper(paper, verdicts) for paper in dict.fromkeys(verdict["paper"] for verdict in verdicts))
    return (
        f'<p class="verdict-line"><strong>{_plural(len(judged), "claim")}</strong> checked: '
        f"{_counts(judged, ', ')}.</p>{_errata(judged)}{_surprises(judged)}"
        f'<ul class="papers">{lines}</ul>'
    )


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _counts(verdicts: Sequence[Verdict], between: str) -> str:
    tally = Counter(verdict["verdict"] for verdict in verdicts)
    return between.join(f"{tally[name]} {WORDS[name][tally[name] != 1]}" for name in VERDICTS)


def _errata(verdicts: Sequence[Verdict]) -> str:
    """A verdict judges the corrected statement: said once, in words, before the first of them is read."""
    tally = Counter(verdict["erratum"]["printed_verdict"] for verdict in verdicts if verdict["erratum"])
    if not tally:
        return ""
    count = sum(tally.values())
    forms = {"fails": ("fails", "fail"), "inconclusive": ("is left open", "are left open"), "holds": ("holds", "hold")}
    parts = [f"{tally[name]} {words[tally[name] != 1]}" for name, words in forms.items() if tally[name]]
    return (
        f'<p class="verdict-line">{_plural(count, "statement")} {"was" if count == 1 else "were"} corrected before '
        f"checking; the verdict is on the corrected form, and of the printed forms {' and '.join(parts)}.</p>"
    )


def _surprises(verdicts: Sequence[Verdict]) -> str:
    odd = [verdict for verdict in verdicts if unexpected(verdict)]
    if not odd:
        return '<p class="calm">Every verdict is the expected one.</p>' if verdicts else ""
    items = ", ".join(
        f'<a href="#{escape(verdict["id"])}">{escape(verdict["id"])}</a> '
        f"({escape(verdict['verdict'])}, expected: {escape(verdict['expected'])})"
        for verdict in odd
    )
    count = "1 verdict is" if len(odd) == 1 else f"{len(odd)} verdicts are"
    return f'<p class="surprise"><strong>{count} not the expected one:</strong> {items}.</p>'


def _paper(paper: str, verdicts: Sequence[Verdict]) -> str:
    own = [verdict for verdict in verdicts if verdict["paper"] == paper]
    judged, open_ones = [verdict for verdict in own if finished(verdict)], sum(not finished(each) for each in own)
    tally = Counter(verdict["verdict"] if finished(verdict) else "waiting" for verdict in own)
    bar = "".join(
        f'<i class="{name}" style="flex-grow:{tally[name]}"></i>' for name in (*VERDICTS, "waiting") if tally[name]
    )
    odd = sum(map(unexpected, judged))
    surprises = f"<strong>{odd} unexpected</strong>" if odd else "0 unexpected"
    to_come = f" · {open_ones} to come" if open_ones else ""
    return (
        f'<li><a class="name" href="#paper-{escape(paper)}">{escape(paper)}</a>'
        f'<span class="bar" aria-hidden="true">{bar}</span>'
        f"<span>{_counts(judged, ' · ')} · {surprises}{to_come}</span></li>"
    )
