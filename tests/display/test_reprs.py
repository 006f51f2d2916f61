"""Results in one line, and as tables of HTML: no arrays, no addresses, nothing that a browser would run."""

import dataclasses

import numpy as np
import polars as pl
import pytest

from sorites.ledger.verification import Verdict
from sorites.sweeps.table import Table

METRIC = "<script>alert(1)</script>"


@pytest.fixture
def verdict():
    return Verdict(
        id="X-1", paper="x", label="Theorem 1", kind="identity", says="a < b", verdict="holds", expected="holds",
        predicted={"slope <": 1.0, "rate": None}, measured={"slope <": 0.98765, "rate": 2.0}, tolerance=None,
        erratum=None, departures=[], revised=False, seeds=16, seconds=1.234, scale="quick", parameters={"d": 8},
    )  # fmt: skip


def test_one_line_each(trained, verdict):
    text = "(3 members, 0 solved, 8 steps; median padded.answer "
    assert repr(trained).startswith(f"Trained{text}")
    assert repr(trained.history).startswith(f"History{text}")
    assert ", own.loss " in repr(trained)
    ended = {"diverged": np.array([True, False, False]), "censored": np.array([False, True, True])}
    other = dataclasses.replace(trained.history, **ended)
    assert repr(other).startswith("History(3 members, 0 solved, 1 diverged, 2 censored, 8 steps; ")
    assert repr(verdict) == "Verdict(X-1 holds, as expected; 16 seeds, quick, 1.23 s)"
    assert repr(dataclasses.replace(verdict, verdict="fails")).startswith("Verdict(X-1 fails, expected holds; ")


def test_a_member_that_diverged_has_no_last_value(trained):
    history = dataclasses.replace(trained.history, diverged=np.ones(3, bool))
    assert repr(history) == "History(3 members, 0 solved, 3 diverged, 8 steps)"


def test_html_is_escaped(trained, verdict):
    history = dataclasses.replace(trained.history, metrics={METRIC: trained.history.metrics["own.loss"]})
    for page in (history._repr_html_(), dataclasses.replace(trained, history=history)._repr_html_()):
        assert "<script" not in page
        assert page.count("&lt;script&gt;") == 2  # in the caption and in its row
        assert page.count("<tr>") == 2
        assert "stage 2, 4 steps" in page
    page = verdict._repr_html_()
    assert "X-1 holds, as expected" in page
    assert "a &lt; b" in page
    assert "<tr><td>slope &lt;</td><td>1</td><td>0.9877</td><td>·</td></tr>" in page


def test_a_verdict_on_one_comparison_or_none_is_a_table_too(verdict):
    one = dataclasses.replace(verdict, predicted=1.0, measured=0.5, tolerance=0.1)
    assert "<tr><td>Theorem 1</td><td>1</td><td>0.5</td><td>0.1</td></tr>" in one._repr_html_()
    none = dataclasses.replace(verdict, predicted=None, measured=None)
    assert "<tr><td>Theorem 1</td><td>·</td><td>·</td><td>·</td></tr>" in none._repr_html_()


def test_a_table_of_a_sweep():
    rates = [f"<b>{number}</b>" for number in range(41)]
    members = pl.DataFrame({"rate": rates, "seed": 0, "solved": True, "samples": 64})
    table = Table(members, ("rate",), failed=((3, "out of memory"),))
    assert repr(table) == "Table(41 members, 41 solved, 3 failed; one row per rate)"
    page = table._repr_html_()
    assert "<b>" not in page
    assert "<td>&lt;b&gt;0&lt;/b&gt;</td><td>1/1</td>" in page
    assert page.count("<tr>") == 42  # the heading, 40 rows, and a row that says that there are more
    nothing = Table(members.select("rate", "seed").clear(), ("rate",), failed=((3, "out of memory"),))
    assert repr(nothing) == "Table(0 members, 0 solved, 3 failed; one row per rate)"
    assert nothing._repr_html_().count("<tr>") == 1
