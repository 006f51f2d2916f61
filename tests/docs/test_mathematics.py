"""Formulas are found in statements, and words are left alone."""

import re

import pytest

from claim_pages import page, table
from sorites.papers.registry import claims, papers
from sorites.report.mathematics import pieces, typeset

CLAIMS = claims()
FORMULAS = {
    "eps_{t+1} <= 1 - cos(pi e)": [r"\epsilon_{t + 1} \le 1 - \cos (\pi e)"],
    "the stage-t loss of a k-parity at n = 8,192": ["t", "k", "n = 8{,}192"],
    "at most sqrt((2/B) log(32 n^4/p)) over B samples": [r"\sqrt{(2 / B) \log (32 n^{4} / p)}", "B"],
    "y^(t-1) and d^(3/2), S5 and n'": ["y^{(t - 1)}", "d^{3 / 2}", "S_{5}", "n'"],
    "|<V, e>| <= 1/2 with y-hat": [r"\vert \langle V, e\rangle \vert  \le 1 / 2", r"\hat{y}"],
    "A position is a word, 9 of 10 seeds, Fig. 1a, Lemma D.1, LI-20": [],
    "2^Omega(k) samples and (-1)^{b[n+2]+1}": [r"2^{\Omega(k)}", "(- 1)^{b [n + 2] + 1}"],
}


@pytest.mark.parametrize("statement", FORMULAS)
def test_formulas(statement):
    assert [tex for formula, tex in pieces(statement) if formula] == FORMULAS[statement]


@pytest.mark.parametrize("id", CLAIMS)
def test_no_word_is_taken_for_a_formula(id):
    for formula, tex in pieces(CLAIMS[id].says):
        if formula:
            bare = re.sub(r"\\mathrm\{\w+\}|\\[a-zA-Z]+", "", tex)
            assert not re.search("[A-Za-z]{3}", bare), tex
            assert tex.count("{") == tex.count("}"), tex


@pytest.mark.parametrize("id", CLAIMS)
def test_what_is_no_formula_stays_as_it_was(id):
    """Every word of the statement is still there."""
    words = re.findall("[A-Za-z]{4,}", CLAIMS[id].says)
    shown = typeset(CLAIMS[id].says).replace("\\", "")
    known = {"sqrt", "alpha", "kappa", "sigma", "lambda", "theta", "delta", "gamma", "epsilon", "Lambda", "grad"}
    assert [word for word in words if word not in shown and word not in known] == []


def test_formulas_are_mathml():
    latex = pytest.importorskip("docutils.utils.math.latex2mathml")
    for claim in CLAIMS.values():
        for formula, tex in pieces(claim.says):
            if formula:
                assert latex.tex2mathml(tex).startswith("<math")


def test_every_claim_has_a_page_with_its_statement():
    found = papers()
    for claim in CLAIMS.values():
        text = page(claim, found[claim.paper], None)
        assert typeset(claim.says) in text
        assert f"sorites verify {claim.id}" in text
        assert "Not recorded yet" in text


def test_a_verdict_tells_the_corrected_statement_from_the_printed_form():
    claim = CLAIMS["KS-3"]
    record = {
        "id": "KS-3", "paper": "kim-suzuki", "label": claim.label, "says": claim.says, "verdict": "holds",
        "expected": "holds", "predicted": 0.0, "measured": 0.0, "tolerance": 0.0, "seeds": 0, "seconds": 1.0,
        "scale": "quick", "departures": [],
        "erratum": {"printed": "p", "corrected": "c", "printed_verdict": "fails"},
    }  # fmt: skip
    text = page(claim, papers()["kim-suzuki"], record)
    assert "corrected statement above: **holds**" in text
    assert "printed form **fails**" in text
    assert "as corrected, holds; as printed, fails" in table([claim], {"KS-3": record})
