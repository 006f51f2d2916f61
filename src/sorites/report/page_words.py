"""Judgements in words that cannot be misread: what was found, and about which form of the statement."""

from collections.abc import Mapping
from html import escape
from typing import Any

Verdict = Mapping[str, Any]  # one object of `sorites verify --json`; unfinished, its verdict is one of UNFINISHED

VERDICTS = ("holds", "fails", "inconclusive")
UNFINISHED = ("running", "waiting")
ALONE = {"holds": "Holds", "fails": "Fails", "inconclusive": "Inconclusive"}
FORM = {"holds": "holds", "fails": "fails", "inconclusive": "is left open"}
ICONS = {  # shapes, so that no verdict is told by colour alone
    "holds": "M2.5 8.6 6.4 12.4 13.5 4.2",
    "fails": "M3.5 3.5 12.5 12.5M12.5 3.5 3.5 12.5",
    "inconclusive": "M5 5.8a3 3 0 1 1 4.3 2.7C8.3 9 8 9.6 8 10.6M8 13.6v.2",
    "running": "M8 2.5a5.5 5.5 0 1 1-5.5 5.5",
    "waiting": "M3.5 8v.2M8 8v.2M12.5 8v.2",
}


def finished(verdict: Verdict) -> bool:
    return verdict["verdict"] not in UNFINISHED


def unexpected(verdict: Verdict) -> bool:
    return finished(verdict) and verdict["verdict"] != verdict["expected"]


def judgement(verdict: Verdict) -> list[tuple[str, str]]:
    """(outcome, words), one pair for the statement and, where the printed form is another, one for that."""
    outcome, erratum = verdict["verdict"], verdict["erratum"]
    if not finished(verdict):
        return [(outcome, outcome.capitalize())]
    foreseen = ", as expected" if outcome != "holds" and not unexpected(verdict) else ""
    if not erratum:
        return [(outcome, ALONE[outcome] + foreseen)]
    printed = erratum["printed_verdict"]
    too = " too" if printed == outcome else ""
    return [(outcome, f"Corrected form {FORM[outcome]}{foreseen};"), (printed, f"as printed it {FORM[printed]}{too}")]


def badge(outcome: str, words: str) -> str:
    """The outcome as a drawn sign, and the words."""
    path = ICONS.get(outcome, ICONS["inconclusive"])
    icon = f'<svg viewBox="0 0 16 16" aria-hidden="true"><path d="{path}"/></svg>'
    return f'<span class="badge {escape(outcome)}">{icon}{escape(words)}</span>'
