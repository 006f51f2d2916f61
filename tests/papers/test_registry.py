"""Papers as plug-ins: installed from its folder, the example is one of the papers; edited, it is judged anew."""

import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from battery import judge

from sorites.errors import SpecError
from sorites.papers import registry
from sorites.papers.paper import Paper

ROOT = Path(__file__).parents[2]
OURS = ["log-icot", "kim-suzuki", "lego", "rl-sft", "wen", "atlas"]
ATLAS = registry.papers()["atlas"].claims()


@pytest.mark.parametrize("id", ATLAS)
def test_claims_of_the_atlas(id):
    judge(ATLAS[id])


def test_ours_come_first_and_ids_are_unique():
    assert list(registry.papers())[:6] == OURS
    assert len(registry.claims()) >= 136
    assert len(registry.figures()) >= 59


@pytest.fixture
def announced(monkeypatch):
    """Pretend that these papers are installed."""

    def announce(**papers):
        module = sys.modules[__name__]
        entries = []
        for name, paper in papers.items():
            monkeypatch.setattr(module, f"_paper_{name}", paper, raising=False)
            entries.append(EntryPoint(name, f"{__name__}:_paper_{name}", registry.GROUP))
        monkeypatch.setattr(registry, "entry_points", lambda group: entries)
        registry.papers.cache_clear()

    yield announce
    registry.papers.cache_clear()


def made(slug, module="sorites.papers.atlas"):
    return Paper(slug, "A title", "A. Author", 2026, "nowhere", module)


def test_a_slug_or_an_id_that_is_taken_is_refused(announced):
    announced(other=made("wen"))
    with pytest.raises(SpecError, match="'wen' of test_registry:_paper_other is taken by"):
        registry.papers()
    announced(other=made("other"))
    with pytest.raises(SpecError, match="A-1 names 'atlas'"):
        registry.claims()


def test_a_paper_that_cannot_be_loaded_is_passed_over(announced, monkeypatch):
    announced()
    monkeypatch.setattr(
        registry, "entry_points", lambda group: [EntryPoint("broken", "no_such_module:paper", registry.GROUP)]
    )
    with pytest.warns(UserWarning, match="no_such_module:paper cannot be loaded"):
        assert list(registry.papers()) == OURS


def test_what_is_no_paper_is_refused(announced):
    announced(other="a string")
    with pytest.raises(SpecError, match="names a Paper"):
        registry.papers()


def test_the_sixth_paper(tmp_path):
    """Listed, verified, drawn, cited and on the page; its edited source gives another verdict, the same source none."""
    place = tmp_path / "installed"
    words = ["pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check", "--target", place]
    folder = ROOT / "examples" / "sixth_paper"
    subprocess.run([sys.executable, "-m", *words, folder], check=True, capture_output=True)

    def sorites(*words, status=0):
        done = subprocess.run(
            [sys.executable, "-m", "sorites.cli.main", *words], cwd=tmp_path, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(place)}, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        return done.stdout

    assert [row["slug"] for row in json.loads(sorites("list", "papers", "--json", "-"))] == [*OURS, "sixth"]
    assert "Longer Chains" in sorites("cite", "S-1")
    words = ("reproduce", "--paper", "sixth", "--scale", "tiny", "--jobs", "1", "--quiet")
    said = sorites(*words)
    assert "8 members trained, 8 taken from the store, 0 in the store twice" in said  # the claim's are the figure's
    page = (tmp_path / "reproduction" / "index.html").read_text()
    assert 'id="S-1"' in page
    assert "Steps that teacher forcing needs" in page
    assert (tmp_path / "reproduction" / "figures" / "sixth" / "steps-tiny.png").stat().st_size > 0
    assert "0 members trained, 0 taken" in sorites(*words)  # verdict and table come from the store
    claims = place / "sixth_paper" / "claims.py"
    claims.write_text(claims.read_text().replace("NEEDED = 0.75", "NEEDED = 1.5"))
    sorites(*words, status=1)
    (verdict,) = json.loads(sorites("verify", "S-1", "--scale", "tiny", "--json", "-", status=1))
    assert verdict["verdict"] == "fails"
    assert verdict["says"].startswith("Teacher forcing teaches")
