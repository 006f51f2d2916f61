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


@pytest.mark.parametrize(
    ("paper", "reason"),
    [
        ("a string", "it is no Paper"),
        (None, "it is no Paper"),
        (made("wen"), "its slug 'wen' is taken by sorites.papers.wen"),
    ],
)
def test_a_plug_in_that_is_no_paper_is_left_out(announced, paper, reason):
    announced(other=paper)
    with pytest.warns(UserWarning, match=f"_paper_other cannot be used and is left out: .*{reason}") as said:
        assert list(registry.papers()) == OURS
    assert len(said) == 1
    assert len(registry.claims()) >= 136


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
        ("raise BaseException('odd')\n", "BaseException: odd"),
        ("raise ValueError\n", "ValueError"),
        ("paper = 1 / 0\n", "ZeroDivisionError"),
        ("this is no Python\n", "SyntaxError"),
        ("x = 1\n", "AttributeError"),
        (None, "ModuleNotFoundError"),
    ],
)
def test_a_plug_in_that_cannot_be_loaded_is_left_out(announced, monkeypatch, tmp_path, text, reason):
    if text is not None:
        (tmp_path / "broken_plug_in.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "broken_plug_in", raising=False)
    announced()
    entry = EntryPoint("broken", "broken_plug_in:paper", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry])
    with pytest.warns(UserWarning, match=f"broken_plug_in:paper cannot be used and is left out: {reason}"):
        assert list(registry.papers()) == OURS


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
        ("CLAIMS = 5\n", "TypeError"),
        ("CLAIMS = [5]\n", "AttributeError"),
        ("from sorites.papers.atlas.claims import CLAIMS\n", "A-1 names 'atlas'"),
        (None, "cannot be read"),
        ("import dataclasses\nfrom sorites.papers.atlas.claims import CLAIMS\n"
         "CLAIMS = [dataclasses.replace(each, paper='other') for each in CLAIMS]\n", "A-1.* is taken by atlas"),
    ],
)  # fmt: skip
def test_claims_that_cannot_be_read_are_left_out(announced, monkeypatch, tmp_path, text, reason):
    known = set(registry.claims())
    name = f"plug_in_{tmp_path.name.replace('-', '_')}"
    if text is not None:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
        (tmp_path / name / "claims.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    announced(other=made("other", name))
    assert "other" in registry.papers()
    with pytest.warns(UserWarning, match=f"the paper other cannot be used and is left out: .*{reason}"):
        assert set(registry.claims()) == known
    if text is None or "replace" not in text:
        with pytest.raises(SpecError):
            registry.papers()["other"].claims()


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
