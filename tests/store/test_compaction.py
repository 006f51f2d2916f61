"""Few files instead of many: the same members, the same numbers, and nothing lost on the way."""

import shutil

import numpy as np
import pytest

from sorites.cli.main import main
from sorites.store import Store, check, compact, query


@pytest.fixture
def many(make, tmp_path):
    """Two runs of one kind in folders of one member each, and one of another kind."""
    store = Store(tmp_path / "store")
    for rate in (0.5, 0.25):
        store.train(make(rate), [0, 1], group=1)
    store.histories(make(0.125), [0, 1, 2])
    store.histories(make(0.0625), [5])
    store.train(make(sparsity=2), [0])
    return store


def test_members_move_together_and_are_found(many, make, same, no_training):
    before = many.train(make(0.25), [1, 0])
    told = sorted(query(many, "SELECT member, seed, solved_at, samples FROM members").rows())
    assert len(many.folders()) == 7
    assert compact(many) == (7, 3)
    assert check(many) == []
    assert sorted(query(Store(many.root), "SELECT member, seed, solved_at, samples FROM members").rows()) == told
    same(before, Store(many.root).train(make(0.25), [1, 0]))
    again = Store(many.root).histories(make(0.125), [2, 0])
    assert again.seeds.tolist() == [2, 0]
    assert compact(many) == (3, 3)


def test_a_member_is_read_back_whole(many, make):
    member = many.find(make(0.25), [1])[0]
    assert member is not None
    before = many.load(member.name, 1)
    compact(many)
    id = next(each["id"] for f in many.folders() for each in f.spec["members"] if each["id"] == _id(make(0.25), 1))
    after = many.load(id)
    np.testing.assert_array_equal(before.history.metrics["own.loss"], after.history.metrics["own.loss"])
    assert before.task == after.task


def _id(run, seed):
    from sorites.store import member_id

    return member_id(run, seed)


def test_a_kill_before_the_old_ones_go_loses_nothing(many, make, no_training, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", stop)
    with pytest.raises(KeyboardInterrupt):
        compact(many)
    monkeypatch.undo()
    store = Store(many.root)
    assert check(store) == []
    ids = [each for folder in store.folders() for each in folder.ids]
    assert len(ids) > len(set(ids))  # there twice, and the same
    before = len(set(ids))
    compact(store)
    ids = [each for folder in store.folders() for each in folder.ids]
    assert (len(set(ids)), len(ids)) == (before, before)


def test_a_damaged_folder_stays(many):
    path = next(folder.path for folder in many.folders() if folder.has_models)
    content = bytearray((path / "history.parquet").read_bytes())
    content[len(content) // 2] ^= 1
    (path / "history.parquet").write_bytes(bytes(content))
    compact(many)
    assert path.is_dir()


def test_the_command(many, capsys):
    assert main(["runs", "compact", "--store", str(many.root), "--json", "-"]) == 0
    assert '"folders": 3' in capsys.readouterr().out
