"""The records agree with the code and with each other, and pages made from them are in step."""

import json
from pathlib import Path

import polars as pl

import records
from sorites.papers.registry import papers
from sorites.report.cells import markdown

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"


def read(name: str):
    return json.loads((RESULTS / f"{name}.json").read_text())


def test_every_claim_was_judged_in_its_present_words():
    found = records.records()
    for slug, paper in papers().items():
        own = {id: each for id, each in found.items() if each["paper"] == slug}
        assert [(id, claim.says) for id, claim in paper.claims().items()] == [
            (id, each["says"]) for id, each in own.items()
        ]
        assert all(each["verdict"] == each["expected"] for each in own.values())


def test_at_drawn_sizes_no_claim_fails_and_few_are_undecided():
    for found in read("anywhere")["seeds"].values():
        assert "fails" not in found["verdicts"]
        assert found["share inconclusive"] <= 0.1


def test_the_table_of_cells_is_what_was_recorded():
    """python bench/page.py"""
    assert (ROOT / "docs" / "cells.md").read_text() == markdown()


def test_members_of_figures_5_and_11_of_wen_are_members_of_figure_10():
    tables = {name: pl.read_parquet(RESULTS / "figures" / "wen" / name / "data.parquet") for name in ("5", "10", "11")}
    for name in ("5", "11"):
        rows = tables[name].drop("seed")
        assert rows.join(tables["10"], on=rows.columns, how="semi").height == rows.height


def test_faults_bits_and_inputs_that_were_tried():
    """Of the recorded torture runs nothing is left unexplained."""
    found = read("torture")
    mutants, explained = found["mutants"], (ROOT / "torture" / "survivors.md").read_text()
    lived = mutants["explained in torture/survivors.md"]
    assert mutants["faults drawn"] == mutants["died with the tests that were then written"] + len(lived) == 80
    second = mutants["second draw"]
    left = second["explained in torture/survivors.md"]
    assert second["faults drawn"] == second["died with the tests that were then written"] + len(left)
    assert all(f"`{case}`" in explained for case in lived + left)
    assert found["audit"]["died"] == found["audit"]["faults that still stand"]
    for name in ("flips", "kills"):
        assert found[name]["after the mends"]["failures"] == []
    first, *later = found["kills"].values()
    assert first["failures"] == sum(len(each["cases"]) for each in first["found"])
    assert all(each["failures"] == [] and each["members compared"] == each["equal to the last bit"] for each in later)
    three = found["kills"]["after the mends"]
    assert three["kills"] >= 1000
    assert len(three["by writer"]) == 3
    words = (RESULTS / "README.md").read_text()
    assert f"{first['kills']:,} kills of three writers" in words
    assert f"{three['kills']:,} of three" in words


def test_what_a_sweep_costs():
    """The numbers of docs/sweeps.md."""
    found = read("sweeps")
    words = (ROOT / "docs" / "sweeps.md").read_text()
    few, many, store = found["cpu"]["rows"]
    for name, position in (("cpu", 0), ("h200", 1)):
        rows = found[name]["rows"]
        for row, label in zip(rows, ("| 1,000 members", "| 10,000 members"), strict=False):
            cells = next(line for line in words.splitlines() if line.startswith(label)).split("|")[2:4]
            assert cells[position].strip() == f"{row['first sweep, compiling']:.1f} s"
        assert f"{rows[0]['of one sweep, inside train']:.2f} + {rows[0]['outside']:.2f} s" in words
    assert few["solved"] == found["h200"]["rows"][0]["solved"]
    assert many["solved"] == found["h200"]["rows"][1]["solved"]
    assert f"{few['outside'] / few['of one sweep, inside train']:.0%}".replace("%", " %") in words
    assert f"lists in {store['list']:.2f} s" in words
    assert f"evaluations in {store['query history']:.2f} s; `runs compact` takes {store['compacting']:.1f} s" in words
    assert f"it is {store['list, compact']:.2f} and {store['query history, compact']:.2f} s" in words
