"""Version, citation and changelog are in step; the package says that it is typed, and for which Pythons."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_version_citation_and_changelog_are_in_step():
    cited = re.findall(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    logged = re.findall(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert cited == [PROJECT["version"]]
    assert logged[0] == PROJECT["version"]


def test_it_is_typed_and_names_its_pythons():
    assert (ROOT / "src" / "sorites" / "py.typed").exists()
    pythons = [each.rsplit(" ", 1)[-1] for each in PROJECT["classifiers"] if "Python :: 3." in each]
    assert pythons == ["3.11", "3.12", "3.13"]
    assert PROJECT["requires-python"] == ">=3.11"
