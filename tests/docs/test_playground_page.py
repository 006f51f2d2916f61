"""The playground is part of the site: its page says what its exhibits say, its folder is the bundle."""

import re

import generate
from sorites.cli.play_command import FOLDER

ROOT = generate.SITE.parents[1]
PAGE = (generate.SITE / "playground.md").read_text()
EXHIBITS = ROOT / "playground" / "src" / "exhibits"


def looks() -> dict[str, str]:
    """What each exhibit tells to look for, by its slug."""
    found = {}
    for path in EXHIBITS.glob("*.ts"):
        text = path.read_text()
        match = re.search(r"\n  look:\n(.*?),\n  settings", text, re.DOTALL)
        if match:
            words = "".join(re.findall(r"[\"`](.*?)[\"`](?: \+)?$", match[1], re.MULTILINE))
            found[re.findall(r"\n  slug: \"(.+)\"", text)[-1]] = words
    return found


def test_the_page_has_the_sentences_of_every_exhibit():
    shown, exhibits = " ".join(PAGE.split()), looks()
    assert len(exhibits) == 4
    for slug, words in exhibits.items():
        assert f'href="playground/index.html#exhibit={slug}"' in PAGE
        told = re.sub(r" \(\$\{.*\)\.$", ".", words)  # a number that the page computes
        assert told in shown, slug


def test_the_site_carries_the_bundle(tmp_path, monkeypatch):
    monkeypatch.setattr(generate, "OUT", tmp_path / "generated")
    monkeypatch.setattr(generate, "draw", lambda: None)
    generate.write()
    made = tmp_path / "generated" / "beside" / "playground"
    assert {path.name: path.read_bytes() for path in made.iterdir()} == {
        path.name: path.read_bytes() for path in FOLDER.iterdir()
    }
    conf = (generate.SITE / "conf.py").read_text()
    assert 'html_extra_path = ["generated/beside"]' in conf
    assert "playground.md" in (generate.SITE / "index.md").read_text()
