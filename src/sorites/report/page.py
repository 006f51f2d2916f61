"""One self-contained page of verdicts and figures: opened from disk, it needs nothing but itself."""

import time
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..atomic import atomic_write
from .page_filters import filters
from .page_papers import sections
from .page_summary import summary
from .page_values import duration, plain
from .page_words import Verdict

PROMISE = (
    "How does a transformer come to reason in chains, and what does each way of teaching it buy? "
    "Theory papers made runnable and checkable: every claim below was computed, set beside what the theory "
    "predicts, and judged by a threshold written before the run. Where one was set or changed after numbers had "
    "been seen, the verdict is marked as revised and its departures say why."
)
# The browser itself refuses any request to the network, whatever the texts on the page may contain.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; form-action 'none'"
REFRESH = 5  # seconds after which an unfinished page looks at itself again
Entries = Sequence[Mapping[str, Any]]


def write_page(
    path: Path | str,
    *,
    title: str,
    verdicts: Sequence[Verdict],
    figures: Entries,
    about: Mapping[str, Any],
    papers: Entries = (),
    news: str | None = None,
    running: bool = False,
) -> Path:
    """Write the page; a kill at any moment leaves the old page or the new one."""
    path = Path(path)
    page = document(
        title=title, verdicts=verdicts, figures=figures, about=about, papers=papers, news=news, running=running
    )
    with atomic_write(path) as draft:
        draft.write_text(page, encoding="utf-8")
    return path


def document(
    *,
    title: str,
    verdicts: Sequence[Verdict],
    figures: Entries,
    about: Mapping[str, Any],
    papers: Entries = (),
    news: str | None = None,
    running: bool = False,
) -> str:
    """The whole page as text. news: where the work stands, above everything; running: more will come, so an open page
    reads itself again."""
    body = (
        _header(title, verdicts, figures, news),
        f"<main>{filters(verdicts) if verdicts else ''}{sections(papers, verdicts, figures)}</main>",
        _footer(about),
    )
    again = f'<noscript><meta http-equiv="refresh" content="{2 * REFRESH}"></noscript>\n' if running else ""
    live = f' data-refresh="{REFRESH}" data-written="{time.time():.0f}"' if running else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'{again}<title>{escape(title)}</title>\n<link rel="icon" href="data:,">\n'
        f"<style>\n{_asset('page.css')}</style>\n</head>\n<body{live}>\n"
        + "\n".join(body)
        + f"\n<script>\n{_asset('page.js')}</script>\n</body>\n</html>\n"
    )


def _asset(name: str) -> str:
    return files("sorites.report").joinpath(name).read_text(encoding="utf-8")


def _header(title: str, verdicts: Sequence[Verdict], figures: Entries, news: str | None) -> str:
    slugs = dict.fromkeys([*(each["paper"] for each in verdicts), *(each["id"].split("/")[0] for each in figures)])
    links = [(f"paper-{slug}", slug) for slug in slugs]
    places = "".join(
        f'<a href="#{escape(place)}">{escape(name)}</a>' for place, name in [*links, ("about", "Provenance")]
    )
    told = f'<p class="news" role="status">{escape(news)}</p>' if news else ""
    return (
        f'<header><nav aria-label="Sections"><span class="mark">sorites</span>{places}</nav>{told}'
        f'<h1>{escape(title)}</h1><p class="promise">{PROMISE}</p>{summary(verdicts)}</header>'
    )


def _footer(about: Mapping[str, Any]) -> str:
    """Provenance: enough to make this page again, or to know why another one differs."""
    facts = {name: plain(value) for name, value in about.items() if name not in ("packages", "command")}
    if about.get("seconds") is not None:
        facts["seconds"] = duration(about["seconds"])
    names = {"seconds": "took"}
    items = "".join(
        f"<div><dt>{escape(names.get(name, name))}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items()
    )
    command = f'<p class="command"><code>{escape(about["command"])}</code></p>' if about.get("command") else ""
    packages = about.get("packages")
    versions = packages.items() if isinstance(packages, Mapping) else ()
    listed = ", ".join(f"{name} {version}" for name, version in versions) or (plain(packages) if packages else "")
    return (
        f'<footer id="about"><h2>Provenance</h2>{command}<dl class="pairs">{items}</dl>'
        f"{f'<p>Packages: {escape(listed)}</p>' if listed else ''}</footer>"
    )
