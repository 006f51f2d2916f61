"""`sorites list` alone explains itself, filters narrow it, and BibTeX has no doubles."""

import json
import re

import pytest

from sorites.cli.main import main
from sorites.papers.registry import papers


@pytest.fixture
def sorites(capsys):
    def run(*words):
        status = main([*words])
        return status, *capsys.readouterr()

    return run


def test_list_alone_says_what_there_is(sorites):
    status, out, _ = sorites("list", "--json", "-")
    rows = json.loads(out)
    assert status == 0
    assert [row["list"] for row in rows] == ["claims", "figures", "papers", "tasks", "models", "cells"]


def test_its_examples_run(sorites):
    _, out, _ = sorites("list", "--json", "-")
    for row in json.loads(out)[:-1]:  # the cells take a while: the README's command makes them
        status, found, _ = sorites(*row["for example"].split()[1:], "--json", "-")
        assert status == 0
        assert json.loads(found)


def test_a_row_is_a_line_where_no_terminal_is(sorites):
    _, out, _ = sorites("list", "claims", "--paper", "wen")
    head, *lines = out.splitlines()
    claims = papers()["wen"].claims().values()
    assert len(lines) == len(claims)
    for line, claim in zip(lines, claims, strict=True):
        assert line[head.index("says") :] == claim.says


def test_filters_narrow(sorites):
    _, out, _ = sorites("list", "claims", "--paper", "wen", "--kind", "trend", "--json", "-")
    assert {(row["paper"], row["kind"]) for row in json.loads(out)} == {("wen", "trend")}
    _, out, _ = sorites("list", "claims", "--find", "ATTENTION", "--json", "-")
    found = json.loads(out)
    assert 0 < len(found) < sum(len(paper.claims()) for paper in papers().values())
    assert all("attention" in json.dumps(row).lower() for row in found)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list", "tasks", "--kind", "trend"), "--kind needs a list with such a column: list tasks; use --task"),
        (("list", "papers", "--paper", "wen"), "leave it out"),
        (("list", "claims", "--kind", "trends"), "did you mean 'trend'"),
        (("list", "models", "--model", "gtp"), "did you mean 'gpt'"),
    ],
)
def test_what_cannot_be_narrowed_is_refused(sorites, words, said):
    status, _, refusal = sorites(*words)
    assert status == 2
    assert said in refusal
    assert refusal.count("\n") == 1


def test_bibtex_keys_differ_and_say_nothing_twice():
    keys = [re.findall(r"@article\{([^,]+),", paper.citation())[0] for paper in papers().values()]
    assert len(set(keys)) == len(keys)
    for key in keys:
        words = re.findall("[a-z]+", key)
        assert len(set(words)) == len(words), key


def test_a_paper_is_cited_once(sorites):
    status, out, _ = sorites("cite", "LI-14", "LI-20", "log-icot/2b", "W1")
    assert status == 0
    assert out.count("@article") == 2
