"""What is contested is marked wherever it is shown, and is not listed as an error of a paper."""

import pytest

import claim_pages
import errata
import records
import verdicts
from sorites.papers.registry import claims, figures, papers
from under_review import CLAIMS, FIGURES, note


def test_ids_exist_and_each_has_one_sentence():
    assert set(CLAIMS) <= set(claims())
    assert set(FIGURES) <= set(figures())
    for sentence in (CLAIMS | FIGURES).values():
        assert sentence.endswith(".")
        assert ". " not in sentence.replace("Eq. 1", "")


@pytest.mark.parametrize("id", CLAIMS)
def test_a_contested_claim_is_marked_on_its_page_and_in_the_tables(id):
    found, paper = records.records(), next(each for each in papers().values() if id in each.claims())
    page = claim_pages.page(claims()[id], paper, found[id])
    top, rest = page.split("## Verdict")
    assert CLAIMS[id] in top
    assert "The printed form **fails**" not in rest
    for table in (claim_pages.table([claims()[id]], found), verdicts.document()):
        (row,) = [line for line in table.splitlines() if line.startswith((f"| [{id}]", f"| {id} "))]
        assert row.endswith("| **under review** |")


def test_a_contested_claim_accuses_nobody_in_the_errata():
    accused, contested = errata.document().split("## Under review")
    for id, sentence in CLAIMS.items():
        assert f"### {id}:" not in accused
        assert f"| {id} |" not in accused
        if records.records()[id]["erratum"]:
            assert f"| {id} |" in contested
            assert sentence in contested
    assert "Printed" not in contested


def test_a_note_says_each_sentence_once():
    box = note(["lego/1a", "lego/epochs", "L1"])
    assert box.count(FIGURES["lego/1a"]) == 1
    assert "lego/1a, lego/epochs: " in box
    assert note(["L1"]) == ""
