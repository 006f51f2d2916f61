"""Every public name has words and an example on its reference page, and every example runs as it is printed."""

import doctest

import pytest

import reference
import sorites

PAGES = list(reference.PAGES)


def test_every_public_name_is_on_one_page():
    named = [name for page in PAGES for name in reference.names(page)]
    assert sorted(named) == sorted(sorites.__all__)


@pytest.mark.parametrize("page", PAGES)
def test_every_name_has_words_and_an_example_that_uses_it(page):
    examples, sessions = reference.examples(page), reference.sessions(page)
    assert sorted(examples) == sorted(reference.names(page))
    for name, text in examples.items():
        words = text.split("```")[0].strip() + (getattr(sorites, name).__doc__ or "")
        assert words, name
        assert f"so.{name}" in sessions[name], name


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = reference.session(page)
    assert session.count(">>>") >= len(reference.names(page))
    test = doctest.DocTestParser().get_doctest(session, {}, page, None, None)
    printed: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=printed.append)
    assert not printed, "".join(printed)
