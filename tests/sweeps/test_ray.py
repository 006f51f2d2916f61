"""The Ray engine, with a worker or the raylet killed in mid-sweep; skipped where Ray is missing."""

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
from sorites.store.reservation import sweep_mark
from sorites.sweeps.cluster import Cluster, sources_of
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


def swept(victim: str) -> dict:
    words = [sys.executable, str(HERE / "two_workers.py"), victim]
    done = subprocess.run(words, capture_output=True, text=True, timeout=400, env=os.environ, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.skipif(MISSING, reason="Ray is not installed; install sorites[ray]")
def test_a_worker_dies_and_nothing_is_lost():
    found = swept("worker")
    assert found["workers"] >= 2
    assert found["killed"]
    assert found["lost"] == 1
    assert found["equal"]
    assert found["evaluations equal"]
    assert found["members"] == found["stored"] == found["different"] == 16  # nothing twice, nothing missing
    assert found["failed"] == found["marks"] == 0
    assert not [each for each in found["warnings"] if "fork" in each]
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    assert found["addresses"]
    assert set(found["addresses"]) <= loopback


@pytest.mark.skipif(MISSING, reason="Ray is not installed; install sorites[ray]")
def test_a_dead_raylet_is_reported():
    found = swept("raylet")
    assert found["killed"]
    assert "no answer from the raylet at 127.0.0.1" in found["error"]
    assert found["seconds"] < 30


@pytest.mark.skipif(MISSING, reason="Ray is not installed; install sorites[ray]")
@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("raise SystemExit('ray.exceptions.AuthenticationError: InvalidAuthToken')", "RAY_AUTH_MODE=token here"),
        ("raise SystemExit('one line\\nTimed out')", r"no Ray cluster answers .*\(Timed out\)"),
        ("import time; time.sleep(60)", r"no Ray cluster answers .*\(no answer\)"),
    ],
)
def test_a_cluster_that_refuses_or_is_silent(monkeypatch, lines, words):
    monkeypatch.setattr("sorites.sweeps.cluster.CONNECT", lines)
    monkeypatch.setattr("sorites.sweeps.cluster.PATIENCE", 3.0)
    with pytest.raises(SpecError, match=words):
        Cluster("127.0.0.1:6379")


def test_the_mark_of_a_killed_sweep_is_removed(tmp_path):
    """The mark of a running sweep stays."""
    pytest.importorskip("fcntl")
    dead = tmp_path / "running" / "dead.sweep"
    with sweep_mark(tmp_path) as first:
        dead.touch()
        with sweep_mark(tmp_path) as second:
            assert not dead.exists()
            assert first.exists()
            assert second.exists()
    assert not list((tmp_path / "running").glob("*.sweep"))


def test_only_files_of_ones_own_travel(tmp_path, monkeypatch):
    """Not the standard library, whose classes a run is made of too, and nothing installed."""
    (tmp_path / "mine_to_send.py").write_text("one = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("mine_to_send")
    named = {"mine_to_send", "abc", "numpy", "sorites.tasks"}
    monkeypatch.setattr("sorites.sweeps.cluster.modules_of", lambda runs: named)
    job = Job(1, (), (), (), (), (), 0.0, None, None, False)
    assert sources_of(job) == (("mine_to_send", "one = 1\n"),)
