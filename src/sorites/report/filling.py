"""A page that fills while work goes on: every claim and figure is there from the start, and says what it waits for."""

import dataclasses
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..ledger import Claim, override
from ..papers.figure import Figure
from ..papers.paper import Paper
from .page import write_page
from .page_values import duration

# Seconds since the page was last written after which it is written again: when something is finished, when what runs
# is at something else, and when there is nothing new, so that a reader sees that work goes on.
FINISHED, NOTED, SILENT = 2.0, 5.0, 60.0
Record = dict[str, Any]


def paper_entry(paper: Paper) -> Record:
    """What the page says of a paper besides its claims."""
    picture = f"{paper.slug}/{paper.picture}" if paper.picture else ""
    known = ("slug", "title", "authors", "identifier", "about")
    return {name: getattr(paper, name) for name in known} | {"picture": picture}


def claim_to_come(claim: Claim[Any], scale: Any, overrides: dict[str, str], note: str = "") -> Record:
    """A verdict that is not there yet, with everything that is known before; the note stands beside "waiting"."""
    known = {name: getattr(claim, name) for name in ("id", "paper", "label", "kind", "says", "expected", "revised")}
    nothing = dict.fromkeys(("predicted", "measured", "tolerance", "erratum", "seconds"))
    parameters = dataclasses.asdict(override(claim.parameters(scale), overrides))
    departures = list(claim.departures)
    rest = {"departures": departures, "seeds": 0, "scale": scale, "parameters": parameters}
    return known | nothing | rest | {"verdict": "waiting", "note": note}


def figure_to_come(figure: Figure[Any], scale: str, command: str) -> Record:
    known = {name: getattr(figure, name) for name in ("id", "title", "caption")}
    nothing = dict.fromkeys(("finding", "png", "dark", "pdf", "data"))
    rest = {"command": command, "seeds": 0, "scale": scale, "claims": list(figure.claims)}
    return known | nothing | rest | {"state": "waiting", "note": ""}


class Filling:
    """Told from any thread; `verdicts` and `figures` are in the order they were given."""

    def __init__(
        self, path: Path, title: str, papers: Sequence[Paper], verdicts: Sequence[Record], figures: Sequence[Record],
        about: Mapping[str, Any],
    ):  # fmt: skip
        self.path, self.title, self.about = path, title, about
        self.papers = [paper_entry(paper) for paper in papers]
        self.verdicts = {record["id"]: record for record in verdicts}
        self.figures = {record["id"]: record for record in figures}
        self.done: set[str] = set()
        self.notes: dict[str, str] = {}  # what runs, and what it is at
        self.begun = self.written = time.monotonic()
        self._turn = threading.Lock()
        self._write(self.news(), running=True)

    def noted(self, id: str, note: str) -> None:
        """It runs, and is at this."""
        with self._turn:
            after = SILENT if self.notes.get(id) == note else NOTED
            self.notes[id] = note
            self._write_again(after)

    def finished(self, id: str, record: Record) -> None:
        with self._turn:
            (self.verdicts if id in self.verdicts else self.figures)[id] = record
            self.done.add(id)
            self.notes.pop(id, None)
            self._write_again(FINISHED)

    def end(self, about: Mapping[str, Any]) -> None:
        """The page as it stays."""
        with self._turn:
            self.about = about
            self._write(None, running=False)

    def stop(self) -> None:
        """Work ended early: what is there stays, and the page says so."""
        with self._turn:
            self.notes.clear()
            told = f"Stopped after {len(self.done)} of {self.count} claims and figures; "
            self._write(told + "the same command goes on where it was.", running=False)

    @property
    def count(self) -> int:
        return len(self.verdicts) + len(self.figures)

    def news(self) -> str:
        told = f"Running: {len(self.done)} of {self.count} claims and figures are done, after "
        told += f"{duration(round(time.monotonic() - self.begun))}. This page fills by itself."
        now = ", ".join(f"{id} ({note})" if note else id for id, note in self.notes.items())
        return f"{told} Now: {now}." if now else told

    def _write_again(self, after: float) -> None:
        if time.monotonic() - self.written >= after:
            self._write(self.news(), running=True)

    def _write(self, news: str | None, running: bool) -> None:
        verdicts = [self._stands(record, "verdict") for record in self.verdicts.values()]
        figures = [self._stands(record, "state") for record in self.figures.values()]
        write_page(
            self.path, title=self.title, verdicts=verdicts, figures=figures, about=self.about, papers=self.papers,
            news=news, running=running,
        )  # fmt: skip
        self.written = time.monotonic()

    def _stands(self, record: Record, field: str) -> Record:
        """What runs says so."""
        if record["id"] not in self.notes or record["id"] in self.done:
            return record
        return record | {field: "running", "note": self.notes[record["id"]]}
