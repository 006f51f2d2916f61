"""A section for each paper: what it asks, its key picture, and its ledger."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from .page_figures import gallery
from .page_mathematics import html
from .page_verdicts import table
from .page_words import Verdict

Entry = Mapping[str, Any]


def sections(papers: Sequence[Entry], verdicts: Sequence[Verdict], figures: Sequence[Entry]) -> str:
    """In the order of `papers`; whoever is not among them follows under its slug."""
    known = {paper["slug"]: paper for paper in papers}
    met = [*known, *(verdict["paper"] for verdict in verdicts), *(figure["id"].split("/")[0] for figure in figures)]
    found = []
    for slug in dict.fromkeys(met):
        own = [verdict for verdict in verdicts if verdict["paper"] == slug]
        drawn = [figure for figure in figures if figure["id"].split("/")[0] == slug]
        if own or drawn:
            found.append(section(known.get(slug, {"slug": slug}), own, drawn))
    return "".join(found)


def section(paper: Entry, verdicts: Sequence[Verdict], figures: Sequence[Entry]) -> str:
    """`paper` has slug, and where known title, authors, identifier, about and picture (the id of the figure that comes
    first)."""
    slug = escape(paper["slug"])
    here = {verdict["id"] for verdict in verdicts}
    beside: dict[str, list[Entry]] = {}
    linked: dict[str, list[str]] = {}
    first, rest = [], []
    for figure in figures:
        claims = [id for id in figure.get("claims", ()) if id in here]
        for id in claims:
            linked.setdefault(id, []).append(figure["id"])
        if figure["id"] == paper.get("picture"):
            first.append(figure)
        elif claims:
            beside.setdefault(claims[0], []).append(figure)
        else:
            rest.append(figure)
    parts = [
        f"<h2>{escape(paper.get('title') or paper['slug'])}</h2>",
        f'<p class="authors">{escape(_source(paper))}</p>',
        f'<p class="about">{html(paper["about"])}</p>' if paper.get("about") else "",
        gallery(first) if first else "",
        table(verdicts, beside, linked) if verdicts else "",
        f"<h3>{'More figures' if verdicts or first else 'Figures'}</h3>{gallery(rest)}" if rest else "",
    ]
    return f'<section id="paper-{slug}" class="paper" data-paper="{slug}">{"".join(parts)}</section>'


def _source(paper: Entry) -> str:
    facts = [paper.get("authors"), paper.get("identifier"), paper["slug"]]
    return " · ".join(str(fact) for fact in facts if fact)
