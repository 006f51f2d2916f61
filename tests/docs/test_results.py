"""The pages of results: their numbers are the records', their texts have none of their own."""

import re

import pytest

import results
import under_review
from findings import MODULES, findings
from findings.finding import Unsupported, require
from sorites.papers.registry import claims, figures, papers

EVERY = [(slug, each) for slug in MODULES for each in findings(slug)]
IDS = [f"{slug}: {each.title}" for slug, each in EVERY]
NAMES = re.compile(r"\b[A-Z]+-?\d+\b|\b(?:Figure|Theorem|Algorithm|Lemma|Assumption) \d+(?:\.\d+)?[a-c]?")


def cells(slug: str, title: str) -> list[list[str]]:
    (found,) = [each for each in findings(slug) if each.title == title]
    return found.table()[1]


def test_every_paper_has_its_page():
    assert set(MODULES) == set(papers())
    assert {path.stem for path in results.PAGES.glob("*.md")} == set(MODULES)


@pytest.mark.parametrize("slug", MODULES)
def test_pages_are_those_of_the_records(slug):
    """python docs/site/results.py"""
    assert (results.PAGES / f"{slug}.md").read_text() == results.document(slug)


@pytest.mark.parametrize(("slug", "finding"), EVERY, ids=IDS)
def test_a_text_has_no_typed_number_and_one_filled_in_a_sentence(slug, finding):
    text = NAMES.sub("", f"{finding.title}. {finding.text}")
    assert not re.search(r"\d", re.sub(r"\{\w+\}", "", text).replace("n²", "n"))
    for sentence in re.split(r"(?<=\.) ", finding.text):
        assert sentence.count("{") <= 1
    assert set(re.findall(r"\{(\w+)\}", finding.text)) == set(finding.values())
    assert "{" not in finding.words()


@pytest.mark.parametrize(("slug", "finding"), EVERY, ids=IDS)
def test_a_finding_names_a_record_and_its_table_is_square(slug, finding):
    assert finding.sources or finding.record
    assert set(finding.sources) <= set(claims()) | set(figures())
    assert not finding.record or (results.PAGES.parents[2] / "results" / finding.record).exists()
    head, rows = finding.table()
    assert all(len(row) == len(head) for row in rows)


@pytest.mark.parametrize(("slug", "finding"), EVERY, ids=IDS)
def test_a_contested_finding_is_marked(slug, finding):
    page = (results.PAGES / f"{slug}.md").read_text()
    section = page.split(f"## {finding.title}\n")[1].split("\n## ")[0]
    contested = [id for id in finding.sources if id in under_review.CLAIMS | under_review.FIGURES]
    assert ("Under review" in section) == bool(contested)
    assert all((under_review.CLAIMS | under_review.FIGURES)[id] in section for id in contested)


def test_known_records_give_known_rows():
    assert cells("log-icot", "Figure 2b with its spread over seeds")[1][:4] == ["2", "500", "3.569", "3.572"]
    assert cells("kim-suzuki", "Four ways to teach, at the published size")[0][1:] == [
        "0 of 16",
        "3 of 16",
        "16 of 16",
        "16 of 16",
    ]
    exponents = cells("kim-suzuki", "How many samples one step needs")
    assert [row[3] for row in exponents if row[0] == "k = d/2"] == ["", "1.00", "1.00", "0.00", "0.34", "1.66"]
    budget = cells("wen", "Samples with and without the chain, at paper width")
    assert ["without", "four layers", "4", "3 of 12", "3,047,424", "4,161,536"] in budget
    drop = cells("wen", "Entropy on fresh data")[1]
    assert [*drop[:3], drop[4]] == ["without", "4 of 4", "950,272", "0.00"]
    assert cells("lego", "Self-training on S5")[4][-1] == "0.64"
    assert cells("atlas", "What a curriculum and a reward for every step buy")[2][1:] == [
        "64 of 64",
        "0 of 64",
        "0 of 64",
        "20 of 64",
    ]


def test_the_estimator_that_fails_stands_beside_the_one_that_works():
    """The unfavourable half of a result: plain REINFORCE, at every number of chains."""
    rows = {row[0]: row[1:] for row in cells("rl-sft", "From finitely many chains")}
    assert set(rows) == {"RL, Rao-Blackwell", "RL, REINFORCE", "SFT, own thoughts", "SFT, teacher forcing"}
    assert rows["RL, REINFORCE"] == ["0.000"] * 6 + ["0.080"]
    assert rows["RL, Rao-Blackwell"][-3:] == ["1.000"] * 3


def test_a_record_that_has_changed_is_refused():
    with pytest.raises(Unsupported, match="every seed answers"):
        require(False, "every seed answers")
