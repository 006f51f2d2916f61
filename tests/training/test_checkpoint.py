"""A killed ensemble goes on where it was, and nobody can tell afterwards."""

import json

import equinox as eqx
import jax
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models.gated import gated
from sorites.supervision import Sampled
from sorites.training import AdamW, Checkpoint, Run, log_icot, stages, train

SEEDS, KEEP = [3, 4, 5, 6], (0, 2, 6, 8)


class Killed(Exception):
    pass


def killed_after(chunks):
    seen = []

    def listen(_):
        seen.append(0)
        if len(seen) == chunks:
            raise Killed

    return listen


def equal(first, second):
    sides = [jax.tree.leaves(eqx.filter(tree, eqx.is_array)) for tree in (first, second)]
    return all(np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True) for a, b in zip(*sides, strict=True))


def same(first, second):
    assert equal(first.models, second.models)
    assert first.snapshots.keys() == second.snapshots.keys()
    assert all(equal(first.snapshots[step], second.snapshots[step]) for step in first.snapshots)
    assert np.array_equal(first.history.step, second.history.step)
    assert np.array_equal(first.history.samples, second.history.samples)
    assert np.array_equal(first.history.solved_at, second.history.solved_at)
    for name, values in first.history.metrics.items():
        assert np.array_equal(values, second.history.metrics[name], equal_nan=True), name


@pytest.mark.parametrize("strategy", ["vmap", "sequential"])
def test_a_resumed_ensemble_equals_an_unbroken_one(run, tmp_path, strategy):
    whole = train(run, SEEDS, strategy, chunk=1, snapshots=KEEP)
    path, resumed = tmp_path / "here.npz", 0
    for chunks in (1, 1, 2, 1):  # on entry, inside a stage, on entry to the next, inside it
        with pytest.raises(Killed):
            train(
                run,
                SEEDS,
                strategy,
                chunk=1,
                snapshots=KEEP,
                progress=killed_after(chunks),
                checkpoint=Checkpoint(path, "me", 0),
            )
        resumed += path.exists()
    last = Checkpoint(path, "me", 0)
    same(whole, train(run, SEEDS, strategy, chunk=1, snapshots=KEEP, checkpoint=last))
    assert resumed == 4
    last.drop()
    assert not path.exists()


@pytest.mark.parametrize("strategy", ["vmap", "sequential"])
def test_a_kill_after_every_checkpoint_costs_nothing(run, tmp_path, strategy):
    """Also after the last of a stage, and after the last of all, where nothing is left to train."""
    whole = train(run, SEEDS, strategy, chunk=1)
    chunks = len(whole.history.step)
    for _ in range(chunks):
        here = Checkpoint(tmp_path / "here.npz", "me", 0)
        with pytest.raises(Killed):
            train(run, SEEDS, strategy, chunk=1, progress=killed_after(1), checkpoint=here)
    same(whole, train(run, SEEDS, strategy, chunk=1, checkpoint=Checkpoint(tmp_path / "here.npz", "me", 0)))


@pytest.mark.parametrize(("place", "bit"), [(8, 0), (10, 5), (6, 7), (28, 0)])
def test_a_spoilt_file_begins_anew(run, tmp_path, place, bit):
    """Bits of the last entry in the zip's directory: a cipher, another method, a later version, a longer name."""
    path = tmp_path / "here.npz"
    with pytest.raises(Killed):
        train(run, SEEDS, chunk=1, progress=killed_after(2), checkpoint=Checkpoint(path, "me", 0))
    content = bytearray(path.read_bytes())
    content[content.rindex(b"PK\1\2") + place] ^= 1 << bit
    path.write_bytes(content)
    with pytest.warns(UserWarning, match="damaged"):
        train(run, SEEDS, chunk=1, checkpoint=Checkpoint(path, "me"))


def test_nothing_is_left_of_a_write_that_was_killed(tmp_path):
    (tmp_path / "here.npz.123").write_bytes(b"half")
    (tmp_path / "other.npz").write_bytes(b"whole")
    Checkpoint(tmp_path / "here.npz", "me").drop()
    assert [path.name for path in tmp_path.iterdir()] == ["other.npz"]


def test_a_first_segment_by_itself_is_gone_on_from(task, evaluation, tmp_path):
    """It is a chunk of its own where a stage is longer than one; weights kept there and inside the next are kept."""
    every = evaluation.every
    run = Run(gated(task), stages(task, log_icot(task.layout)[:1], Sampled(64), AdamW(0.3), 6 * every, evaluation))
    path, kept = tmp_path / "here.npz", (every, 2 * every, 6 * every)
    whole = train(run, SEEDS, "vmap", chunk=4, snapshots=kept)
    here = Checkpoint(path, "me", 0)
    with pytest.raises(Killed):  # the look, the first segment
        train(run, SEEDS, "vmap", chunk=4, snapshots=kept, progress=killed_after(2), checkpoint=here)
    with np.load(path) as arrays:
        assert json.loads(arrays["about"].tobytes())["evaluations"] == 1
    same(whole, train(run, SEEDS, "vmap", chunk=4, snapshots=kept, checkpoint=Checkpoint(path, "me", 0)))


def test_members_that_were_dropped_stay_dropped(task, evaluation, tmp_path):
    """Finished members leave the program by halves: after a resumption it has the size it had."""
    rates = [1e-6, 1e-6, 1e-6, 2.0]
    from sorites.training import Until

    runs = [
        Run(gated(task), stages(task, log_icot(task.layout)[:1], Sampled(64), AdamW(rate=rate), 40, evaluation,
            until=Until("own.loss", 10.0 if rate < 1 else 0.0, falls=True)))
        for rate in rates
    ]  # fmt: skip
    whole = train(runs, SEEDS, "vmap", chunk=2)
    path = tmp_path / "here.npz"
    with pytest.raises(Killed):
        train(runs, SEEDS, "vmap", chunk=2, progress=killed_after(4), checkpoint=Checkpoint(path, "me", 0))
    with np.load(path) as arrays:
        assert len(arrays["active"]) < len(SEEDS)
    same(whole, train(runs, SEEDS, "vmap", chunk=2, checkpoint=Checkpoint(path, "me", 0)))


def test_somebody_elses_or_a_damaged_checkpoint_is_not_read(run, tmp_path):
    path = tmp_path / "here.npz"
    with pytest.raises(Killed):
        train(run, [0], chunk=1, progress=killed_after(3), checkpoint=Checkpoint(path, "me", 0))
    setting = ("separate", 1, 2, ())
    assert Checkpoint(path, "me").of(*setting).about() is not None
    assert Checkpoint(path, "you").of(*setting).about() is None
    assert Checkpoint(path, "me").of("separate", 25, *setting[2:]).about() is None
    content, middle = path.read_bytes(), path.stat().st_size // 2
    path.write_bytes(content[:middle] + b"x" * 300 + content[middle + 300 :])
    with pytest.warns(UserWarning, match="begins anew"):
        again = train(run, [0], chunk=1, checkpoint=Checkpoint(path, "me", 1e9))
    same(train(run, [0], chunk=1), again)


def test_a_checkpoint_is_written_at_most_so_often(run, tmp_path):
    train(run, [0], chunk=1, checkpoint=Checkpoint(tmp_path / "here.npz", "me"))
    assert not (tmp_path / "here.npz").exists()


def test_weights_on_the_way(run):
    trained = train(run, [0, 1], snapshots=(0, 4, 8))
    assert equal(trained.snapshots[8], trained.models)
    assert not equal(trained.snapshots[4], trained.models)
    assert equal(trained.model(1, 4), jax.tree.map(lambda leaf: leaf[1], trained.snapshots[4]))
    part = Run(run.model, run.stages[:1])
    assert equal(train(part, [0, 1]).models, trained.snapshots[4])
    with pytest.raises(SpecError, match="snapshots=3, every=2; use 2 or 4"):
        train(run, [0], snapshots=(3,))
    with pytest.raises(SpecError, match="within the run"):
        train(run, [0], snapshots=(100,))
