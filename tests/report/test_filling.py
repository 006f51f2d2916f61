"""A page that fills: whole at every moment, honest about what is missing, and final in the end."""

import json
import re

import pytest
from test_page import ABOUT, Tags, claim, drawing, words

from sorites.cli import reproduce_command
from sorites.cli.main import main
from sorites.papers.registry import papers
from sorites.report import filling
from sorites.report.filling import Filling, claim_to_come, figure_to_come

PAPER = papers()["log-icot"]


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.setattr(filling, "FINISHED", 0.0)
    monkeypatch.setattr(filling, "NOTED", 0.0)
    to_come = [claim_to_come(PAPER.claims()[id], "tiny", {}) for id in ("LI-1", "LI-2", "LI-3")]
    figure = figure_to_come(PAPER.figures()["log-icot/2b"], "tiny", "sorites figure log-icot/2b")
    return Filling(tmp_path / "index.html", "t", [PAPER], to_come, [figure], {"command": "sorites reproduce"})


def states(page):
    tags = Tags(page.path.read_text()).tags
    return [attrs["data-verdict"] for tag, attrs in tags if tag == "tr" and "data-verdict" in attrs]


def test_it_is_whole_before_anything_is_done(page):
    text = page.path.read_text()
    assert states(page) == ["waiting"] * 3
    assert "0 of 4 claims and figures are done" in words(text)
    assert re.search(r'<body data-refresh="\d+" data-written="\d+">', text)
    assert 'http-equiv="refresh"' in text


def test_it_fills(page, tmp_path):
    page.noted("LI-2", "compiling")
    assert states(page) == ["waiting", "running", "waiting"]
    assert "Now: LI-2 (compiling)." in words(page.path.read_text())
    page.finished("LI-2", claim("LI-2"))
    page.finished("log-icot/2b", drawing(tmp_path))
    assert states(page) == ["waiting", "holds", "waiting"]
    text = page.path.read_text()
    assert "1 claim checked" in " ".join(words(text).split())
    assert text.count("<img ") == 1


def test_the_last_page_does_not_look_for_more(page):
    for id in ("LI-1", "LI-2", "LI-3"):
        page.finished(id, claim(id))
    page.end(ABOUT)
    text = page.path.read_text()
    assert "data-refresh=" not in text
    assert 'http-equiv="refresh"' not in text
    assert '<p class="news"' not in text


def test_work_that_stops_says_so(page):
    page.noted("LI-1", "")
    page.stop()
    text = page.path.read_text()
    assert "Stopped after 0 of 4 claims and figures" in words(text)
    assert "data-refresh=" not in text
    assert states(page) == ["waiting"] * 3


def test_it_is_not_written_for_every_word(page, monkeypatch):
    monkeypatch.setattr(filling, "FINISHED", 1000.0)
    page.noted("LI-2", "")
    page.finished("LI-1", claim("LI-1"))
    assert states(page) == ["waiting", "running", "waiting"]
    page.noted("LI-2", "")
    assert states(page) == ["waiting", "running", "waiting"]
    monkeypatch.setattr(filling, "SILENT", 0.0)  # but in silence it shows that work goes on
    page.noted("LI-2", "")
    assert states(page) == ["holds", "running", "waiting"]


def test_the_path_is_told_before_the_work(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = {}

    def finish(work, setting, jobs, tell):
        found["said"], found["page"] = capsys.readouterr().err, (tmp_path / "reproduction" / "index.html").read_text()
        for id in (id for ids in work for id in ids):
            tell(("started", id, None))
            tell(("finished", id, (claim(id) if "/" not in id else drawing(tmp_path) | {"id": id}, "holds", 0.1, 3.2)))
        return 0, 0

    monkeypatch.setattr(reproduce_command, "finish", finish)
    assert main(["reproduce", "--paper", "log-icot", "--scale", "tiny", "--json", "all.json"]) == 0
    assert found["said"].startswith("the page fills while this runs: ")
    assert found["said"].strip().endswith("reproduction/index.html")
    assert "waiting" in found["page"]
    out, err = capsys.readouterr()
    assert "3.2 s compiling" in err
    assert out.strip().endswith("index.html")
    assert len(json.loads((tmp_path / "all.json").read_text())["verdicts"]) == len(PAPER.claims())


def test_an_error_in_the_work_leaves_a_page_that_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def finish(work, setting, jobs, tell):
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduce_command, "finish", finish)
    assert main(["reproduce", "--paper", "log-icot", "--scale", "tiny", "--quiet"]) == 130
    assert "Stopped after 0 of" in (tmp_path / "reproduction" / "index.html").read_text()
