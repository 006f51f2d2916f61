"""Recorded tables are always drawn, and the caption says by which code they were made."""

import dataclasses
import json
import sys

import polars as pl
import pytest

from sorites.papers import registry
from sorites.papers.registry import figures, measuring_code, recording_code
from sorites.report import figures as report
from sorites.report.figures import Made, recorded, recorded_note, tables
from sorites.store import Store
from sorites.store.tables import read_about, write_tables

FRAMES = {"data": pl.DataFrame({"x": [1]})}


@pytest.fixture
def figure():
    return figures()["lego/epochs"]


@pytest.fixture
def place(tmp_path, monkeypatch, figure):
    """Where the figure is recorded; writes it with a digest and a commit."""
    monkeypatch.setattr(report, "results_folder", lambda: tmp_path)
    folder = tmp_path / "figures" / figure.paper / figure.name

    def write(code, commit):
        write_tables(folder, FRAMES, dataclasses.asdict(figure.sizes["quick"]), code)
        about = read_about(folder) | {"commit": commit}
        (folder / "about.json").write_text(json.dumps(about))
        return about

    return write


NOTES = {
    "no digest": (None, "e709e04", "Recorded at commit e709e04."),
    "neither": (None, None, ""),
    "this code": ("own", "e709e04", "Recorded at commit e709e04."),
    "other code": ("0123456789abcdef", "e709e04", "Recorded with other code at commit e709e04."),
    "other code, no commit": ("0123456789abcdef", None, "Recorded with other code."),
    "several commits": (
        None,
        {"a": "e709e04", "b": "0aededa+", "c": "e709e04"},
        "Recorded at commits e709e04, 0aededa.",
    ),
}


@pytest.mark.parametrize("case", NOTES)
def test_a_caption_says_what_is_known(place, figure, tmp_path, monkeypatch, case):
    code, commit, note = NOTES[case]
    size = figure.sizes["quick"]
    about = place(measuring_code(figure.measure, size) if code == "own" else code, commit)
    assert ("code" in about) == (code is not None)
    assert recorded_note(figure, size) == note
    assert recorded(figure, dataclasses.asdict(size)) is not None
    monkeypatch.setattr(type(figure), "measure", lambda *_: pytest.fail("measured again"), raising=False)
    assert tables(figure, size, "paper", Store(tmp_path / "store"))[1] == "results/figures/lego/epochs"


def test_the_note_ends_the_caption(figure, tmp_path):
    made = Made(
        figure, None, "paper", tmp_path, tmp_path, tmp_path, None, "store", "", note="Recorded at commit e709e04."
    )
    assert made.caption == f"{figure.caption} Recorded at commit e709e04."
    assert made.record()["caption"] == made.caption
    assert dataclasses.replace(made, note="").caption == figure.caption


def test_a_digest_is_stored_only_where_the_code_is_known(figure, monkeypatch):
    """Tables trained at another commit, or recorded beside local changes, are not of this code for sure."""
    size, full = figure.sizes["quick"], "e86403e0123456789"
    for here, trained_at, known in (
        (full, "e86403e", True),
        (full, full, True),
        (full + "+", "e86403e", False),
        (full, "e709e04", False),
        (full, {"a": full}, False),
        (full, "", False),
        (None, "e86403e", False),
    ):
        monkeypatch.setattr(sys.modules["sorites.store.origin"], "commit", lambda here=here: here)
        code = recording_code(figure.measure, size, trained_at)
        assert code == (registry.measuring_code(figure.measure, size) if known else None)


def test_tables_in_a_store_say_their_code(figure, tmp_path):
    one = dataclasses.replace(figure, measure=lambda size, lab: FRAMES)
    size, store = figure.sizes["tiny"], Store(tmp_path)
    assert tables(one, size, "quick", store)[1] == "measured now"
    place = store.figure_folder(figure.paper, figure.name, report.table_key(one, size))
    assert read_about(place)["code"] == measuring_code(one.measure, size)
    assert tables(one, size, "quick", store)[1] == "store"
