"""Every entry of the errata has a second computation, which knows nothing of the library."""

import ast
import sys
from pathlib import Path

import pytest

from records import records
from under_review import CLAIMS

ROOT = Path(__file__).parents[2]
REFEREES = sorted((ROOT / "referees").glob("[A-Z]*[0-9].py"))


def test_every_erratum_has_a_referee():
    accused = {record["id"] for record in records().values() if record["erratum"] and record["id"] not in CLAIMS}
    assert accused
    assert accused <= {path.stem for path in REFEREES}


@pytest.mark.parametrize("path", REFEREES, ids=lambda path: path.stem)
def test_a_referee_stands_alone(path):
    tree = ast.parse(path.read_text())
    header = ast.get_docstring(tree) or ""
    assert "Quote" in header
    assert "2026-" in header  # the date
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert {name.split(".")[0] for name in names} <= {*sys.stdlib_module_names, "numpy", "sympy", "torch"}
