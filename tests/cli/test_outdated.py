"""A verdict that was recorded with other code is marked where it is shown; an edit of a comment marks nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sorites.cli.last_verdict import last_verdict
from sorites.papers.registry import claims, code

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
from sorites.cli.main import main
for words in sys.argv[1:]:
    try:
        main(words.split())
    except SystemExit:
        print("{}")
"""
PAPER = """
from sorites import Paper

paper = Paper("mine", "A title", "A. Author", 2026, "nowhere", __name__)
"""
CLAIMS = '''
from dataclasses import make_dataclass

from sorites import Claim, Evidence
from sorites.ledger import at_least

from .helper import value


def check(size) -> Evidence:
    """The value is large."""
    return Evidence((at_least("value", value(), 1.0),))


CLAIMS = (Claim("M-1", "mine", "Theorem 1", "finite", check.__doc__, {"tiny": make_dataclass("Size", [])()}, check),)
'''


@pytest.fixture
def paper(tmp_path):
    """A small paper with a helper, and a function that runs commands in one new process."""
    place = tmp_path / "installed"
    for folder in ("mine", "mine-0.1.dist-info"):
        (place / folder).mkdir(parents=True)
    (place / "mine-0.1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 0.1\n")
    (place / "mine-0.1.dist-info" / "entry_points.txt").write_text("[sorites.papers]\nmine = mine:paper\n")
    (place / "mine" / "__init__.py").write_text(PAPER)
    (place / "mine" / "claims.py").write_text(CLAIMS)
    (place / "mine" / "helper.py").write_text("def value():\n    return 2.0\n")
    environment = os.environ | {"SORITES_CACHE": str(tmp_path / "cache")}
    environment["PYTHONPATH"] = os.pathsep.join([str(place), str(ROOT / "src")])

    def sorites(*commands):
        command = [sys.executable, "-c", PROGRAM, *(f"{each} --json -" for each in commands)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
        decoder, rest, found = json.JSONDecoder(), done.stdout.strip(), []
        while rest:
            value, end = decoder.raw_decode(rest)
            found, rest = [*found, value], rest[end:].strip()
        assert len(found) == len(commands), done.stderr
        return found

    return sorites, place / "mine"


SHOW, LIST = "show M-1", "list claims --paper mine --store sorites-store"
REPRODUCE = "reproduce --paper mine --scale tiny --jobs 1 --quiet"


def test_an_edited_helper_marks_the_verdict(paper):
    sorites, place = paper
    (verdict,), shown, (row,) = sorites("verify M-1 --scale tiny", SHOW, LIST)
    assert len(verdict["source"]) == 16
    assert shown["last verdict"] == row["last verdict"]
    assert "recorded" not in shown["last verdict"]
    assert shown["outdated"] is row["outdated"] is False

    helper, text = place / "helper.py", (place / "claims.py").read_text()
    helper.write_text("# two\n\n" + helper.read_text())
    (place / "claims.py").write_text(text.replace("The value is large", "The value is at least one"))
    shown, (row,), page = sorites(SHOW, LIST, REPRODUCE)
    assert shown["outdated"] is row["outdated"] is False
    (judged,) = page["verdicts"]
    assert judged["says"] == "The value is at least one."  # the words of now, the verdict of the store
    assert judged["seconds"] == verdict["seconds"]

    helper.write_text("def value():\n    raise SystemExit(3)\n")
    shown, (row,), _ = sorites(SHOW, LIST, REPRODUCE)
    assert shown["outdated"] is row["outdated"] is True
    assert shown["last verdict"].startswith("holds at tiny scale")
    assert shown["last verdict"].endswith("UTC, recorded with other code")
    stopped = (place.parents[1] / "reproduction" / "index.html").read_text()
    assert f"last verdict: {shown['last verdict']}" in stopped


def test_a_record_without_a_digest_says_so():
    claim = claims()["LI-1"]
    record = {"verdict": "holds", "scale": "tiny", "created": "2026-01-01T00:00:00.000000"}
    found = last_verdict(claim, record)
    assert found["outdated"] is None
    assert (
        found["last verdict"] == "holds at tiny scale, 2026-01-01T00:00:00 UTC, recorded without a digest of its code"
    )
    assert last_verdict(claim, record | {"source": code("log-icot", claim.check)})["outdated"] is False
    assert last_verdict(claim, None) == {"last verdict": None, "outdated": None}
