"""The store as a lab: what is no Run, members shared between processes, trainings that were killed, members loaded."""

import contextlib
import dataclasses
import os
import select
import signal
import subprocess
import sys
import textwrap
import time
from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.store import Store, check, list_runs, query
from sorites.store.reservation import reserved
from sorites.training import PLAIN, Lab


@dataclasses.dataclass(frozen=True)
class Size:
    steps: int = 3


class Path(NamedTuple):
    loss: np.ndarray
    last: dict


calls = []


def walk(size: Size) -> dict[str, np.ndarray]:
    calls.append(size)
    return {"loss": np.linspace(1, 0, size.steps), "right": np.arange(size.steps) > 1}


def path(size: Size) -> Path:
    calls.append(size)
    return Path(np.linspace(1, 0, size.steps), {"weight": np.float64(1) / 3})


def test_what_is_no_run_is_made_once(tmp_path):
    calls.clear()
    store = Store(tmp_path)
    assert isinstance(store, Lab)
    assert isinstance(PLAIN, Lab)
    first = store.keep(Size(), walk)
    again = Store(tmp_path).keep(Size(), walk)
    assert calls == [Size()]
    assert all(np.array_equal(first[name], again[name]) and first[name].dtype == again[name].dtype for name in first)
    store.keep(Size(4), walk)
    assert calls == [Size(), Size(4)]
    assert (store.trained, store.taken) == (2, 0)
    assert list_runs(store)["model"].to_list() == ["walk", "walk"]
    assert check(store) == []
    assert len(query(store, "select * from history")) == 0


def test_a_tree_of_arrays(tmp_path):
    calls.clear()
    like = Path(np.zeros(1), {"weight": 0.0})
    made, again = (Store(tmp_path).keep(Size(), path, like=like) for _ in range(2))
    assert len(calls) == 1
    assert isinstance(again, Path)
    assert again.last["weight"] == 1 / 3  # in float64
    assert np.array_equal(made.loss, again.loss)
    assert PLAIN.keep(Size(), path, like=like).last["weight"] == 1 / 3


def test_what_has_no_lasting_name_is_refused(tmp_path):
    with pytest.raises(SpecError, match="top level"):
        Store(tmp_path).keep(Size(), lambda size: walk(size))


def test_damaged_arrays_are_made_again(tmp_path):
    calls.clear()
    Store(tmp_path).keep(Size(), walk)
    (file,) = tmp_path.rglob("arrays.safetensors")
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    assert len(check(Store(tmp_path))) == 1
    with pytest.warns(UserWarning, match="damaged"):
        Store(tmp_path).keep(Size(), walk)
    assert len(calls) == 2


def test_weights_on_the_way_are_stored(store, run, seeds, counted):
    first = store.train(run, seeds, strategy="sequential", snapshots=(0, 4))
    assert len(counted) == 1  # the folder that was there has none
    again = Store(store.root).train(run, seeds, strategy="sequential", snapshots=(4, 0))
    Store(store.root).train(run, seeds, strategy="sequential")
    assert len(counted) == 1
    for step in (0, 4):
        for a, b in zip(jax.tree.leaves(first.snapshots[step]), jax.tree.leaves(again.snapshots[step]), strict=True):
            assert np.array_equal(np.asarray(a), np.asarray(b))
    some = Store(store.root).train(run, seeds[:1], strategy="sequential", snapshots=(4,))
    assert np.array_equal(some.snapshots[4].weights[0][0], first.snapshots[4].weights[0][0])


def test_load(store, made, run, seeds):
    folder = store.folders()[0]
    model, task, secret, history = store.load(folder.path.name[:10], seeds[1])
    assert eqx.tree_equal(model, made[1].model(1))
    assert eqx.tree_equal(task, run.task)
    assert np.array_equal(secret, made[1].secret(1))
    assert history.seeds.tolist() == [seeds[1]]
    assert np.array_equal(history.metrics["own.loss"][0], made[1].history.metrics["own.loss"][1])
    assert store.load(folder.ids[2]).history.seeds.tolist() == [seeds[2]]
    for id, seed, words in ((folder.path.name, None, "has 3"), ("zzz", None, "none begins"), (folder.ids[0], 99, "99")):
        with pytest.raises(SpecError, match=words):
            store.load(id, seed)


def test_one_worker_at_a_time(tmp_path):
    """A second process waits for the first; a third, whose members are others, does not; the dead hold nothing."""
    program = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from sorites.store.reservation import reserved
        with reserved(Path(sys.argv[1]), sys.argv[2:]):
            print("begun", flush=True)
            sys.stdin.readline()
        """
    )

    def begin(*ids):
        words = [sys.executable, "-c", program, str(tmp_path), *ids]
        return opened.enter_context(subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))

    with contextlib.ExitStack() as opened:
        first = begin("a", "b")
        first.stdout.readline()
        second = begin("b", "c")
        third = begin("d")
        assert third.stdout.readline() == "begun\n"
        assert select.select([second.stdout], [], [], 1.0)[0] == []
        first.communicate("go on\n")
        assert second.stdout.readline() == "begun\n"
        dead = begin("a")
        dead.stdout.readline()
        dead.kill()
        second.communicate("go on\n")
        third.communicate("go on\n")
    begun = time.monotonic()
    with reserved(tmp_path, ["a"]):
        assert time.monotonic() - begun < 5


KILLED = """
import sys
import sorites.training.checkpoint as checkpoint
checkpoint.EVERY = 0
import sorites as so
evaluation = so.Evaluation(1, 8, (so.Loss(),))
if sys.argv[2] == "gpt":
    task = so.Parity(6, 4)
    model = so.gpt(task, layers=4, heads=2, width=16)
else:
    task = so.Lego("C3", 2, 6)
    model = so.decoder(task, width=16)
taught = (so.teacher_forcing(task.layout, so.CrossEntropy()),)
stage = so.Stage(task, taught, so.Sampled(8), so.Adam(0.001), 200, evaluation)
later = so.Stage(task, taught, so.Rewritten(so.Sampled(8)), so.Adam(0.001), 100, evaluation, reset=False, freeze=True)
run = so.Run(model, [stage] if sys.argv[2] == "gpt" else [stage, later])
so.Store(sys.argv[1]).train(run, range(2), strategy="sequential")
"""


@pytest.mark.parametrize("which", ["gpt", "lego"])
def test_a_training_killed_twice_ends_as_if_it_had_not_been(tmp_path, which):
    """SIGKILL after the second and the fourth checkpoint that was seen; then to the end."""

    def words(root):
        return [sys.executable, "-c", KILLED, str(tmp_path / root), which]

    def weights(root):
        store = Store(tmp_path / root)
        (folder,) = store.folders()
        return folder.read("model.safetensors"), folder.read("history.parquet")

    subprocess.run(words("whole"), check=True, env={**os.environ})
    for _ in range(2):
        child = subprocess.Popen(words("broken"), env={**os.environ})
        seen: set[int] = set()
        deadline = time.monotonic() + 240
        while len(seen) < 2 and time.monotonic() < deadline:
            seen |= {path.stat().st_mtime_ns for path in (tmp_path / "broken" / "checkpoints").glob("*.npz")}
            assert child.poll() is None, "it ended before it was killed"
            time.sleep(0.005)
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert Store(tmp_path / "broken").folders() == []
    subprocess.run(words("broken"), check=True, env={**os.environ})
    assert weights("broken") == weights("whole")
    assert list((tmp_path / "broken" / "checkpoints").iterdir()) == []


def test_a_kill_between_a_group_and_its_checkpoint_leaves_nothing(tmp_path, run):
    """The group is stored, its checkpoint not yet dropped: whoever asks for it next drops it, and no other's; a later
    one of the same members is of a training that asked for more and was killed."""
    store = Store(tmp_path)
    store.train(run, [1, 2])
    (folder,) = store.folders()
    place = tmp_path / "checkpoints"
    place.mkdir(exist_ok=True)
    for name in (f"{folder.path.name}.npz", f"{folder.path.name}.npz.123", "another.npz"):
        (place / name).write_bytes(b"")
    Store(tmp_path).train(run, [1, 2])
    assert len(list(place.iterdir())) == 3
    for path in place.iterdir():
        os.utime(path, (0, 0))
    Store(tmp_path).train(run, [1])  # one of the two: the other may still be asked for
    assert len(list(place.iterdir())) == 3
    Store(tmp_path).train(run, [1, 2])
    assert [path.name for path in place.iterdir()] == ["another.npz"]
