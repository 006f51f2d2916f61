"""The short form of `make torture` and `make mutants`: the same scripts, a few cases of each, nothing may fail."""

import json
import os
import subprocess
import sys
from pathlib import Path

TORTURE = Path(__file__).parents[2] / "torture"
CACHE = str(Path.home() / ".cache" / "sorites")  # that of the other tests


def tortured(name, tmp_path, *words):
    """The record of a script that ended well."""
    state = ["--state", str(tmp_path / "state"), "--seed", "7"]
    done = subprocess.run(
        [sys.executable, str(TORTURE / f"{name}.py"), *state, *words],
        capture_output=True, text=True, timeout=400, cwd=tmp_path, env={"SORITES_CACHE": CACHE, **os.environ},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return json.loads((tmp_path / "state" / f"{name}.json").read_text())


def test_kills(tmp_path):
    found = tortured("kills", tmp_path, "--count", "1", "--each", "1", "--writers", "group", "--steps", "40")
    assert found["failures"] == []
    assert found["members"] == found["exact"] == 16


def test_flips(tmp_path):
    found = tortured("flips", tmp_path, "--count", "40", "--few", "14")
    assert found["cases"] == 14
    assert len(found["kinds"]) == 14


def test_fuzz(tmp_path):
    found = tortured("fuzz", tmp_path, "--count", "100", "--few", "20", "--processes", "0")
    assert found["in_process"] == 40


def test_mutants_are_single_faults_that_compile(tmp_path):
    """Every fault of a file differs from it in one place, has a name of its own, and the same seed draws the same."""
    sys.path.insert(0, str(TORTURE))
    try:
        from sites import sites
    finally:
        sys.path.remove(str(TORTURE))
    path = TORTURE.parent / "src" / "sorites" / "statistics" / "slopes.py"
    found, source = sites(path, "statistics/slopes.py"), path.read_bytes()
    assert len({site.case for site in found}) == len(found) > 15
    assert {site.kind for site in found} >= {"comparison", "arithmetic", "constant", "boolean", "extreme"}
    for site in found:
        spoilt = site.applied(source)
        compile(spoilt, "slopes.py", "exec")
        assert spoilt != source
    assert any(
        site.old == "2" and site.new == "3" and "len(x) - 2" in source.decode().splitlines()[site.line - 1]
        for site in found
    )


def test_a_mutant_dies(tmp_path):
    words = ("--audit", "--tests", "test_mutants", "--files", "means")
    found = tortured("mutants", tmp_path, *words, "--out", str(tmp_path / "state" / "mutants.json"))
    assert found["died"] == found["tried"] == 1
