"""The atlas' matrix: every number is the tables', empty cells say why, nothing is fetched."""

import json
import re

import numpy as np
import pytest

from sorites.papers.atlas.tables import frames_of, summary
from sorites.papers.atlas.trials import POINTS, Arm, joined, refused
from sorites.report.matrix import PRICES, beside, section

WHY = "a </script> that <b>refuses</b>"


def members(labels, solved):
    """An arm of which some reached the goal after 25 steps, and the others did not in 100."""
    solved = np.array(solved)
    steps, count = np.where(solved, 25, 100), len(solved)
    curve = np.full((count, POINTS), np.nan, np.float32)
    curve[:, 0], curve[:, 1] = 0.5, np.where(solved, 1.0, 0.53)
    moments = np.full((count, POINTS), np.nan, np.float32)
    moments[:, 0], moments[:, 1] = 0, steps
    named = {f"label{number}": np.array([label] * count) for number, label in enumerate(labels, start=1)}
    costs = {"samples": 500 * steps, "labels": 1500 * steps, "thoughts": 0 * steps}
    return {
        **named, "why": np.array([""] * count), "rate": np.full(count, 0.1), "seed": np.arange(count), "solved": solved,
        "solved_at": np.where(solved, 25, -1), **costs, "flops": 1e6 * steps, "passes": np.full(count, 2),
        "diverged": np.zeros(count, bool), "curve_steps": moments, "curve": curve,
    }  # fmt: skip


@pytest.fixture
def frames():
    arms = [("parity", "gated", "direct"), ("parity", "gated", "log-icot")]
    parts = [members(arms[0], [False] * 7 + [True]), members(arms[1], [True] * 8)]
    return frames_of(joined([*parts, refused(Arm(("parity", "gpt", "direct"), None, WHY))]))


def data_of(html):
    return json.loads(re.findall(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)[0])


def test_it_says_what_the_tables_say(frames):
    html = section(frames)
    found = {tuple(cell["labels"]): cell for cell in data_of(html)["cells"]}
    for price in PRICES:
        for row in summary(frames, price):
            cell = found[row["labels"]]
            assert cell["members"] == row["members"]
            if row["members"]:
                assert cell["solved"] == row["solved"]
                value, bound, *_ = cell["medians"][price]
                assert (value is None) == (not np.isfinite(row["median"].value))
                assert bound == row["median"].bound
    few = found["parity", "gated", "direct"]
    assert few["medians"]["samples"][0] is None  # one of eight: the median is censored
    assert few["curves"][-1] == [[0, 25], [50, 100]]
    assert few["curves"][0] == [[0, 100], [50, 53]]
    assert few["reached"] == [False] * 7 + [True]
    assert "1/8" in html
    assert "8/8" in html


def test_an_empty_cell_says_why_and_breaks_nothing(frames):
    html = section(frames)
    assert html.count("</script>") == 2  # its data and its program: the refusal ends neither
    assert "&lt;b&gt;refuses&lt;/b&gt;" in html
    assert "<b>refuses" not in html
    assert [cell["why"] for cell in data_of(html)["cells"] if not cell["members"]] == [WHY]
    assert not re.search(r"(?:src|href)=|url\(|@import|fetch\(", html)


def test_without_curves_the_members_times_are_there(frames):
    cells = data_of(section({"data": frames["data"]}))["cells"]
    assert "curves" not in cells[0]
    assert cells[0]["times"]["samples"] == [50_000] * 7 + [12_500]


def test_only_a_figure_of_cells_has_one(frames, tmp_path):
    for name, frame in frames.items():
        frame.write_parquet(tmp_path / ("cells.parquet" if name == "data" else f"cells-{name}.parquet"))
    entry = {"id": "atlas/cells", "png": tmp_path / "cells.png"}
    assert 'class="matrix"' in beside(entry)
    assert beside(entry | {"png": None}) == ""
    assert beside(entry | {"id": "wen/1a"}) == ""
