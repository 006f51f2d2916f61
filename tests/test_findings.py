"""Numbers that the README states, read from the records that it states them from."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = " ".join((ROOT / "README.md").read_text().split())
RUNS = json.loads((ROOT / "results" / "wen-whole-budget" / "summary.json").read_text())["runs"]


def solved(name, sparsity):
    members = [each for each in RUNS[name]["members"] if each["sparsity"] == sparsity]
    return sorted(each["samples"] for each in members if each["solved"]), members


def test_whole_budgets_of_wen():
    times, members = solved("4L4H-n30-k3", 3)
    assert len(times) == len(members) == 3
    assert f"k = 3 at all three rates after {times[0]:,} to {times[-1]:,} sequences" in README
    times, members = solved("4L4H-n30-k4", 4)
    assert len(times) == len(members) == 3
    assert f"k = 4 after {times[0]:,} to {times[-1]:,}" in README
    assert len(solved("2L2H-n30-k34", 3)[0]) == 3
    times, members = solved("2L2H-n30-k34", 4)
    assert len(times) == 2
    stuck = [each for each in members if not each["solved"]]
    assert [round(each["last_accuracy"], 2) for each in stuck] == [0.75]
    counts = [len(solved("1L1H-n30-k234", sparsity)[0]) for sparsity in (2, 3, 4)]
    assert counts == [3, 0, 0]
    assert "learns k = 2 in 3 of 6, k = 3 and k = 4 in none" in README
    assert all(each["samples"] >= 9_990_000 for run in RUNS.values() for each in run["members"] if not each["solved"])


def test_many_passes_of_wen():
    times, members = solved("4L4H-n20-k6-size50000", 6)
    assert f"{len(times)} of {len(members)} members solve (after {times[0]:,} and {times[1]:,})" in README
    best = sorted(each["best_accuracy"] for each in members if not each["solved"])
    assert best[-1] == 0.9995
    assert best[0] < 0.52
    assert not any(each["solved"] for each in RUNS["4L4H-n20-k6-size1000000"]["members"])


def test_the_table_of_cells_is_what_was_recorded():
    rows = json.loads((ROOT / "results" / "cells.json").read_text())["cells"]
    words = " ".join((ROOT / "docs" / "cells.md").read_text().split())
    learns = [row["learns"] for row in rows]
    found = re.search(r"in (\d+) cells at least one did, in (\d+) all of them", words)
    assert found is not None
    assert [int(each) for each in found.groups()] == [sum(n > 0 for n in learns), sum(n == 8 for n in learns)]
