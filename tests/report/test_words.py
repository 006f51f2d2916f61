"""What a verdict and an erratum say together, formulas, search, and where figures stand."""

import pytest
from test_page import ABOUT, Tags, claim, drawing, words

from sorites.papers.registry import claims, figures, papers
from sorites.report.page import document
from sorites.report.page_mathematics import breakable, html
from sorites.report.page_words import judgement

SAID = {
    ("holds", "holds", None): "Holds",
    ("fails", "holds", None): "Fails",
    ("fails", "fails", None): "Fails, as expected",
    ("inconclusive", "holds", None): "Inconclusive",
    ("inconclusive", "inconclusive", None): "Inconclusive, as expected",
    ("holds", "holds", "fails"): "Corrected form holds; as printed it fails",
    ("holds", "holds", "inconclusive"): "Corrected form holds; as printed it is left open",
    ("holds", "holds", "holds"): "Corrected form holds; as printed it holds too",
    ("fails", "holds", "fails"): "Corrected form fails; as printed it fails too",
    ("fails", "fails", "holds"): "Corrected form fails, as expected; as printed it holds",
    ("inconclusive", "holds", "fails"): "Corrected form is left open; as printed it fails",
    ("running", "holds", None): "Running",
    ("waiting", "fails", None): "Waiting",
}


@pytest.mark.parametrize(("case", "sentence"), SAID.items())
def test_a_judgement_names_the_form_that_it_judges(case, sentence):
    verdict, expected, printed = case
    erratum = None if printed is None else {"printed": "p", "corrected": "c", "printed_verdict": printed}
    record = claim("LI-1", verdict=verdict, expected=expected, erratum=erratum, note="")
    assert " ".join(said for _, said in judgement(record)) == sentence


def test_the_head_says_what_verdicts_are_about():
    erratum = {"printed": "p", "corrected": "c", "printed_verdict": "fails"}
    page = document(title="t", verdicts=[claim("LI-1", erratum=erratum), claim("LI-2")], figures=[], about=ABOUT)
    assert "1 statement was corrected before checking" in words(page)
    assert "of the printed forms 1 fails" in words(page)


def test_every_claim_and_figure_can_be_searched_and_filtered(tmp_path):
    records = [claim("LI-1", says="eps_t <= 1 - cos(pi e)"), claim("RS-8", paper="rl-sft", kind="trend")]
    page = document(title="t", verdicts=records, figures=[drawing(tmp_path)], about=ABOUT)
    tags = Tags(page).tags
    rows = {attrs["id"]: attrs for tag, attrs in tags if tag == "tr" and "data-verdict" in attrs}
    assert "eps_t <= 1 - cos(pi e)" in (rows["LI-1"]["data-search"] or "")  # as it is typed
    assert {rows["RS-8"][f"data-{field}"] for field in ("paper", "verdict", "kind", "erratum")} == {
        "rl-sft", "holds", "trend", "none",
    }  # fmt: skip
    (figure,) = [attrs for tag, attrs in tags if tag == "figure"]
    assert "median & band." in (figure["data-search"] or "")
    assert [attrs["name"] for tag, attrs in tags if tag in ("input", "select")] == ["search", "kind", "paper"]


def test_formulas_are_set_and_may_break_before_a_relation():
    assert html("n_t <= 3") == ("<math><msub><mi>n</mi><mi>t</mi></msub></math><math><mo>≤</mo><mn>3</mn></math>")
    assert breakable(r"f (a = b) = c \le d") == ["f (a = b)", "= c", r"\le d"]
    assert html("a word & <b>, x -> y").count("&amp;") == 1


def test_a_paper_opens_with_its_words_and_its_picture(tmp_path):
    first, second = drawing(tmp_path), drawing(tmp_path) | {"id": "log-icot/3"}
    paper = {"slug": "log-icot", "title": "T", "about": "What it asks.", "picture": "log-icot/2b"}
    page = document(
        title="t", verdicts=[claim("LI-1"), claim("LI-2")], figures=[second, first], about=ABOUT, papers=[paper]
    )
    order = [page.index(f'id="{id}"') for id in ("figure-log-icot-2b", "LI-1", "LI-2", "figure-log-icot-3")]
    assert order == sorted(order)
    assert page.index("What it asks.") < order[0]
    assert page.count('href="#figure-log-icot-2b"') == 2  # its own anchor, and a link from its claim


def test_every_paper_of_ours_has_a_paragraph_and_a_picture():
    known, drawn = claims(), figures()
    for paper in papers().values():
        if paper.module.startswith("sorites."):
            assert len(paper.about) > 100
            assert f"{paper.slug}/{paper.picture}" in drawn
    for figure in drawn.values():
        assert all(known[id].paper == figure.paper for id in figure.claims), figure.id
