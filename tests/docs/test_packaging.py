"""Version, citation and changelog are in step; the package says that it is typed, and for which Pythons."""

import json
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
VERSIONS = json.loads((ROOT / "docs" / "versions.json").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_version_citation_and_changelog_are_in_step():
    cited = re.findall(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    logged = re.findall(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert cited == [PROJECT["version"]]
    assert logged[0] == PROJECT["version"]


def test_it_is_typed_and_names_the_pythons_it_ran_on():
    assert (ROOT / "src" / "sorites" / "py.typed").exists()
    named = {each.rsplit(" ", 1)[-1] for each in PROJECT["classifiers"] if "Python :: 3." in each}
    tested = {each["versions"]["Python"] for each in VERSIONS.values()}
    recorded = set(re.findall(r'"python": "([\d.]+)"', (ROOT / "results" / "bench-wen-h200.json").read_text()))
    assert named == {each.rpartition(".")[0] for each in tested | recorded}
    assert PROJECT["requires-python"] == ">=3.11"


def test_the_oldest_releases_allowed_are_those_that_passed():
    """make versions"""
    sys.path.insert(0, str(ROOT / "tests"))
    import versions

    assert {"oldest", "newest"} <= VERSIONS.keys()
    assert all(each["passed"] and each["tests"]["passed"] > 400 for each in VERSIONS.values())
    for bound in versions.bounds():
        name, _, number = bound.partition("==")
        found = VERSIONS["oldest"]["versions"][name]
        assert (found + ".0").startswith(number), bound


def test_the_subset_is_there():
    sys.path.insert(0, str(ROOT / "tests"))
    import versions

    for path in (each for paths in versions.COVERS.values() for each in paths):
        file, _, name = path.partition("::")
        assert (ROOT / file).exists(), path
        assert f"def {name}" in (ROOT / file).read_text() if name else True, path
