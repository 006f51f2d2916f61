"""The Ray engine, with a worker and a node killed in mid-sweep; skipped where Ray is missing."""

import importlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sorites as so
from sorites.errors import SpecError
from sorites.store import identities
from sorites.sweeps.cluster import sources_of
from sorites.sweeps.work import Job, verified

HERE = Path(__file__).parent
MISSING = importlib.util.find_spec("ray") is None


@pytest.mark.skipif(not MISSING, reason="Ray is there")
def test_without_ray_one_sentence():
    with pytest.raises(SpecError, match="install sorites"):
        so.sweep([so.run_named("parity", "gated", "direct")], [0], engine="ray")


def test_a_worker_with_other_code_refuses():
    run = so.run_named("parity", "gated", "direct")
    ids = tuple(each.id for each in identities(run, [0]))
    job = Job(1, (run,), (0,), (0,), (0,), ids, 1.0)
    assert verified(job) is job
    with pytest.raises(SpecError, match="the code that made the plan"):
        verified(Job(1, (run,), (0,), (1,), (0,), ids, 1.0))


@pytest.mark.skipif(MISSING, reason="Ray is not installed")
def test_a_worker_and_a_node_die_and_nothing_is_lost():
    words = [sys.executable, str(HERE / "three_nodes.py")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=400, env=os.environ, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["killed"] == ["node", "worker"]
    assert found["equal"]
    assert found["evaluations equal"]
    assert found["members"] == found["stored"] == found["different"] == 40  # nothing twice, nothing missing
    assert 1 <= found["lost"] <= 4
    assert found["failed"] == 0


def test_only_files_of_ones_own_travel(tmp_path, monkeypatch):
    """Not the standard library, whose classes a run is made of too, and nothing installed."""
    (tmp_path / "mine_to_send.py").write_text("one = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("mine_to_send")
    named = {"mine_to_send", "abc", "numpy", "sorites.tasks"}
    monkeypatch.setattr("sorites.sweeps.cluster.modules_of", lambda runs: named)
    job = Job(1, (), (), (), (), (), 0.0, None, None, False)
    assert sources_of(job) == (("mine_to_send", "one = 1\n"),)
