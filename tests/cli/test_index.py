"""A list is kept until code that could change it changes; on the way to a kept one nothing heavy is imported."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sorites.cli import index

ROOT = Path(__file__).parents[2]
WORDS = "from sorites.cli.main import main; main(['list', *sys.argv[1:], '--json', '-'])"
PROGRAM = f"import sys; {WORDS}; print('jax' in sys.modules, file=sys.stderr)"


@pytest.fixture
def listed(tmp_path):
    """Rows of a list in a process of its own, and whether jax was imported for them."""
    place = tmp_path / "installed"
    place.mkdir()
    environment = os.environ | {"SORITES_CACHE": str(tmp_path / "cache")}
    environment["PYTHONPATH"] = os.pathsep.join([str(place), str(ROOT / "src")])

    def run(*words):
        command = [sys.executable, "-c", PROGRAM, *words]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=True)
        *said, jax = done.stderr.splitlines()
        return json.loads(done.stdout), jax == "True", said

    return run, place


def install(place: Path, value: str = "sixth_paper:paper") -> None:
    """The sixth paper, as an installer leaves it."""
    shutil.copytree(ROOT / "examples" / "sixth_paper" / "src" / "sixth_paper", place / "sixth_paper")
    about = place / "sixth_paper-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: sixth_paper\nVersion: 0.1\n")
    (about / "entry_points.txt").write_text(f"[sorites.papers]\nsixth = {value}\n")


def test_a_new_paper_and_an_edited_claim_show_at_once(listed):
    sorites, place = listed
    first, _, _ = sorites("claims")
    again, jax, _ = sorites("claims")
    assert (again, jax) == (first, False)
    assert {row["slug"] for row in sorites("papers")[0]} == {row["paper"] for row in first}
    install(place)
    assert "sixth" in {row["slug"] for row in sorites("papers")[0]}
    added, _, _ = sorites("claims", "--paper", "sixth")
    assert [row["id"] for row in added] == ["S-1"]
    assert sorites("claims", "--paper", "sixth")[:2] == (added, False)
    helper = place / "beside.py"  # of no distribution
    helper.write_text("SAYS = 'Told from beside.'\n")
    claims = place / "sixth_paper" / "claims.py"
    told = json.dumps(added[0]["says"])
    claims.write_text(f"import beside\n{claims.read_text().replace(told, 'beside.SAYS')}")
    assert [row["says"] for row in sorites("claims", "--paper", "sixth")[0]] == ["Told from beside."]
    helper.write_text("SAYS = 'Told from aside..'\n")
    assert [row["says"] for row in sorites("claims", "--paper", "sixth")[0]] == ["Told from aside.."]
    shutil.rmtree(place / "sixth_paper-0.1.dist-info")
    assert sorites("claims")[0] == first


def test_a_paper_that_cannot_be_loaded_is_said_every_time(listed):
    sorites, place = listed
    install(place, "no_such_module:paper")
    for _ in range(2):
        assert any("no_such_module:paper cannot be used" in line for line in sorites("papers")[2])


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """A package of one claim and one task, and how often its lists were made."""
    package = tmp_path / "sorites"
    for name in ("papers", "tasks"):
        (package / name).mkdir(parents=True)
        (package / name / "code.py").write_text("x = 1\n")
    monkeypatch.setattr(index, "PACKAGE", package)
    monkeypatch.setenv("SORITES_CACHE", str(tmp_path / "cache"))
    made = []

    def rows(what):
        return index.kept(what, lambda: made.append(what) or [("a", 1.5, None)])

    return package, made, rows


@pytest.mark.parametrize(("what", "touched"), [("claims", ("papers", "tasks")), ("cells", ("tasks",))])
def test_lists_are_made_anew_for_the_code_they_depend_on(counted, what, touched):
    package, made, rows = counted
    assert rows(what) == rows(what) == [("a", 1.5, None)]
    assert len(made) == 1
    for name in ("papers", "tasks"):
        stamp = (package / name / "code.py").stat()
        (package / name / "code.py").write_text("x = 2\n")
        os.utime(
            package / name / "code.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns)
        )  # its size and time are the same
        before = len(made)
        rows(what)
        assert len(made) - before == (name in touched)
    (package / "tasks" / "new.py").write_text("")
    before = len(made)
    rows(what)
    assert len(made) == before + 1


def test_cells_are_kept_under_the_recorded_results(counted):
    package, made, rows = counted
    rows("cells")
    (package / "results").mkdir()
    (package / "results" / "cells.json").write_text("{}")
    rows("cells")
    assert len(made) == 2


@pytest.mark.parametrize("text", ["", "[]", '{"key": 1}', "\0"])
def test_a_broken_index_is_made_anew(counted, tmp_path, text):
    _, made, rows = counted
    rows("claims")
    (path,) = (tmp_path / "cache" / "index").iterdir()
    path.write_text(text)
    assert rows("claims") == rows("claims") == [("a", 1.5, None)]
    assert len(made) == 2


def test_a_cache_that_cannot_be_written_costs_time_alone(counted, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SORITES_CACHE", str(tmp_path / "file"))
    _, made, rows = counted
    assert rows("claims") == rows("claims") == [("a", 1.5, None)]
    assert len(made) == 2
