"""bench/same_work.py leaves out what was added since commit e293822, and nothing else."""

import importlib
from pathlib import Path

import pytest

from sorites.cli.common import all_claims, all_figures

ROOT = Path(__file__).parents[1]


@pytest.fixture
def since(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    return importlib.import_module("same_work").SINCE


def test_what_is_left_is_what_that_commit_had(since):
    assert len(all_claims().keys() - since) == 134
    assert len(all_figures().keys() - since) == 59


def test_what_is_left_out_exists(since):
    assert since <= all_claims().keys() | all_figures().keys()
