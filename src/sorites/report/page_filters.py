"""Search and filters: revealed by the script, without which they could do nothing."""

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from .page_words import UNFINISHED, VERDICTS, Verdict, unexpected

PRINTED = {"fails": "printed form fails", "inconclusive": "printed form left open", "holds": "printed form holds too"}
KEYS = (
    "<kbd>/</kbd> search <kbd>j</kbd> <kbd>k</kbd> next, previous claim <kbd>Enter</kbd> opens its details "
    "<kbd>Esc</kbd> clears"
)


def filters(verdicts: Sequence[Verdict]) -> str:
    """A search box and a choice for each of verdict, erratum, kind and paper that has more than one."""
    found = Counter(word for verdict in verdicts for word in _states(verdict))
    printed = Counter(verdict["erratum"]["printed_verdict"] for verdict in verdicts if verdict["erratum"])
    choices = {
        "verdict": ("Verdict", [(name, name, found[name]) for name in (*VERDICTS, "unexpected", *UNFINISHED)]),
        "erratum": ("Erratum", [(name, word, printed[name]) for name, word in PRINTED.items()]),
        "kind": ("Kind", _counted(verdict["kind"] for verdict in verdicts)),
        "paper": ("Paper", _counted(verdict["paper"] for verdict in verdicts)),
    }
    groups = "".join(_choice(field, name, options, len(verdicts)) for field, (name, options) in choices.items())
    return (
        '<form class="filters" role="search" hidden><label class="search"><span class="small">Search</span>'
        '<input type="search" name="search" autocomplete="off" spellcheck="false" '
        'placeholder="claims and figures: LI-14, filter, Theorem 7, eps"></label>'
        f'{groups}<button type="reset">clear</button><p class="shown" role="status"></p>'
        f'<p class="keys small">{KEYS}</p></form>'
    )


def _states(verdict: Verdict) -> list[str]:
    return [verdict["verdict"]] + ["unexpected"] * unexpected(verdict)


def _counted(words: Iterable[str]) -> list[tuple[str, str, int]]:
    return [(word, word, count) for word, count in Counter(words).items()]


def _choice(field: str, name: str, options: Sequence[tuple[str, str, int]], total: int) -> str:
    present = [(value, word, count) for value, word, count in options if count]
    if not present or (len(present) == 1 and present[0][2] == total):
        return ""
    listed = "".join(
        f'<option value="{escape(value)}">{escape(word)} ({count})</option>' for value, word, count in present
    )
    return (
        f'<label><span class="small">{name}</span><select name="{field}">'
        f'<option value="">all</option>{listed}</select></label>'
    )
