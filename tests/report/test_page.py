"""The page is whole, escaped, needs no network, and loud where a verdict is not the expected one."""

import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from sorites.drawing import new_figure, save, save_dark, style
from sorites.errors import SpecError
from sorites.report.page import write_page
from sorites.report.page_values import comparison, duration, number

ABOUT = {
    "version": "0.1.0",
    "commit": None,
    "created": "2025-01-12",
    "device": "cpu",
    "command": "sorites reproduce --scale tiny",
    "seconds": 183.2,
    "packages": {"jax": "0.7"},
}


def claim(name: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": name,
        "paper": "log-icot",
        "label": "Lemma 1",
        "kind": "identity",
        "says": "n_t grows as W^(l).",
        "verdict": "holds",
        "expected": "holds",
        "predicted": 0,
        "measured": 1.2e-15,
        "tolerance": 1e-12,
        "erratum": None,
        "departures": [],
        "seeds": 0,
        "seconds": 0.4,
        "scale": "tiny",
        "parameters": {},
        **changes,
    }


CLAIMS = [
    claim("LI-1"),
    claim("LI-2", says="<script>alert('x')</script> & more", departures=["a < b"], parameters={"<i>": "<u>"}),
    claim("LI-3", predicted=None, measured=None, tolerance=None, seconds=None, parameters={"rate": None}),
    claim("LI-4", predicted={"a": 1.0, "b": None}, measured={"a": float("nan"), "b": 2}, tolerance=None),
    claim("RS-8", paper="rl-sft", erratum={"printed": "x < 1", "corrected": "x < 2", "printed_verdict": "fails"}),
    claim("RS-9", paper="rl-sft", verdict="fails", seeds=20, revised=True),
]


class Tags(HTMLParser):
    """Every tag with its attributes; raises where a tag closes that is not the open one."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "img", "col", "input", "source"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def values(self, attribute: str) -> list[str]:
        return [value for _, attrs in self.tags if (value := attrs.get(attribute)) is not None]


def drawing(folder: Path) -> dict[str, Any]:
    with style():
        figure = new_figure(2, 1)
        figure.subplots().plot([0, 1])
    png, pdf = save(figure, folder, "log-icot-2b", {"seeds": "3"})
    return {
        "id": "log-icot/2b",
        "title": "Loss <by> step",
        "caption": "Median & band.",
        "finding": None,
        "command": "sorites figure log-icot/2b",
        "png": png,
        "pdf": f"figures/{pdf.name}",
        "data": None,
        "dark": save_dark(figure, folder, "log-icot-2b", {}),
        "seeds": 3,
        "scale": "tiny",
        "claims": ["LI-2"],
    }


def words(page: str) -> str:
    """What a reader sees."""
    return re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)


@pytest.fixture
def page(tmp_path: Path) -> str:
    path = write_page(
        tmp_path / "new" / "index.html",
        title="Log-ICoT <1>",
        verdicts=CLAIMS,
        figures=[drawing(tmp_path)],
        about=ABOUT,
    )
    return path.read_text(encoding="utf-8")


def test_texts_are_escaped(page: str) -> None:
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; more" in page
    assert "a &lt; b" in page
    assert "<dt>&lt;i&gt;</dt><dd>&lt;u&gt;</dd>" in page
    assert "Loss &lt;by&gt; step" in page
    assert "<title>Log-ICoT &lt;1&gt;</title>" in page
    assert page.count("<script>") == 1


def test_every_claim_and_figure_is_an_anchor(page: str) -> None:
    ids = Tags(page).values("id")
    assert len(ids) == len(set(ids))
    assert {verdict["id"] for verdict in CLAIMS} | {"figure-log-icot-2b"} <= set(ids)


def test_unexpected_verdicts_stand_out(page: str) -> None:
    rows = [(attrs["id"], attrs) for tag, attrs in Tags(page).tags if tag == "tr" and "data-verdict" in attrs]
    assert [name for name, attrs in rows if attrs.get("class") == "unexpected"] == ["RS-9"]
    assert page.count('<span class="alarm">unexpected</span>') == 1
    assert "expected: holds" in page
    assert "1 verdict is not the expected one" in page


def test_a_revised_verdict_is_marked(page: str) -> None:
    assert page.count(">revised</span>") == 1
    assert "marked as revised" in page


def test_a_failure_that_was_expected_is_no_alarm(tmp_path: Path) -> None:
    claims = [claim("LI-1", verdict="fails", expected="fails")]
    text = write_page(tmp_path / "p.html", title="t", verdicts=claims, figures=[], about=ABOUT).read_text()
    assert "Every verdict is the expected one." in text
    assert 'class="alarm"' not in text


def test_erratum_shows_both_forms(page: str) -> None:
    assert "Corrected form holds;" in words(page)
    assert "as printed it fails" in words(page)
    assert "<mi>x</mi></math><math><mo>&lt;</mo><mn>1</mn>" in page
    assert "<mi>x</mi></math><math><mo>&lt;</mo><mn>2</mn>" in page


def test_nothing_prints_as_none_or_nan(page: str) -> None:
    assert not re.search(r"\b(none|nan|null)\b", words(page), flags=re.IGNORECASE)


def test_page_needs_nothing_outside(page: str) -> None:
    tags = Tags(page)
    for address in tags.values("src") + tags.values("href") + tags.values("srcset"):
        assert not re.match(r"[a-z]+:(?!image/png;base64,|,$)|//", address), address
    assert "@import" not in page
    assert "url(" not in page
    assert "default-src 'none'" in page


def test_accessible_skeleton(page: str) -> None:
    tags = Tags(page).tags
    assert ("html", {"lang": "en"}) in tags
    assert all(attrs.get("scope") in ("row", "col") for tag, attrs in tags if tag == "th")
    assert all(attrs.get("alt") for tag, attrs in tags if tag == "img")


def test_a_failed_write_leaves_the_old_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "index.html"
    path.write_text("old")

    def killed(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(OSError, match="no space"):
        write_page(path, title="t", verdicts=CLAIMS, figures=[], about=ABOUT)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_page_without_claims_says_so(tmp_path: Path) -> None:
    text = write_page(tmp_path / "p.html", title="t", verdicts=[], figures=[], about={}).read_text()
    assert "No claim was checked." in text
    Tags(text)


def test_a_figure_that_is_no_png_is_refused_in_one_sentence(tmp_path: Path) -> None:
    entry = drawing(tmp_path)
    Path(entry["png"]).write_text("not a picture")
    with pytest.raises(SpecError, match=r"PNG file: png='.*'; draw log-icot/2b again"):
        write_page(tmp_path / "p.html", title="t", verdicts=[], figures=[entry], about=ABOUT)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.8695112, "0.8695"),
        (1.2e-15, "1.2e-15"),
        (0.00091188, "9.119e-4"),
        (-0.0021733, "-0.002173"),
        (150000.0, "150,000"),
        (1234.567, "1235"),
        (1234567.8, "1.235e6"),
        (2**40, "1.1e12"),
        (0.0, "0"),
        (float("inf"), "∞"),
        (float("nan"), "—"),
    ],
)
def test_numbers(value: float, shown: str) -> None:
    assert number(value) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.042, "0.042 s"),
        (3.21, "3.2 s"),
        (41.7, "42 s"),
        (125, "2 min 5 s"),
        (4200, "1 h 10 min"),
        (None, "—"),
    ],
)
def test_durations(seconds: float | None, shown: str) -> None:
    assert duration(seconds) == shown


def test_objects_share_one_row_for_each_key() -> None:
    text = comparison({"one": 1, "two": 2}, {"one": 3, "two": 4}, {"one": 0, "two": None})
    assert text.count("<tr>") == 3
    assert '<th scope="row">two</th><td class="number">2</td><td class="number">4</td><td>—</td>' in text
