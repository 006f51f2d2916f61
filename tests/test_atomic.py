"""Files and folders are whole or absent, whatever ends the write."""

import os

import pytest

from sorites import atomic
from sorites.atomic import atomic_folder, atomic_write


def write_half(path, error):
    with atomic_write(path) as draft:
        draft.write_text("half")
        raise error


def write_half_a_folder(path, error=None):
    with atomic_folder(path) as draft:
        (draft / "half.txt").write_text("half")
        if error is not None:
            raise error


@pytest.mark.parametrize("sync", [False, True])
def test_a_file_replaces_the_older_one(tmp_path, sync):
    path = tmp_path / "new" / "result.txt"
    for text in ("first", "second"):
        with atomic_write(path, sync=sync) as draft:
            draft.write_text(text)
            assert not path.exists() or path.read_text() == "first"
    assert path.read_text() == "second"
    assert os.listdir(path.parent) == ["result.txt"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_failed_write_leaves_the_older_file_and_no_draft(tmp_path, error):
    path = tmp_path / "result.txt"
    path.write_text("first")
    with pytest.raises(error):
        write_half(path, error)
    assert os.listdir(tmp_path) == ["result.txt"]
    assert path.read_text() == "first"


def test_a_synced_write_reaches_the_disk_before_and_after_the_rename(tmp_path, monkeypatch):
    path, calls = tmp_path / "result.txt", []
    monkeypatch.setattr(atomic, "sync_file", lambda draft: calls.append(("file", path.exists())))
    monkeypatch.setattr(atomic, "sync_folder", lambda folder: calls.append(("folder", path.exists())))
    with atomic_write(path, sync=True) as draft:
        draft.write_text("whole")
    assert calls == [("file", False), ("folder", True)]


def test_a_folder_appears_whole(tmp_path):
    with atomic_folder(tmp_path / "made") as draft:
        (draft / "a.txt").write_text("a")
        assert not (tmp_path / "made").exists()
    assert os.listdir(tmp_path / "made") == ["a.txt"]


def test_a_folder_replaces_nothing(tmp_path):
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "a.txt").write_text("a")
    with pytest.raises(OSError, match="made"):
        write_half_a_folder(tmp_path / "made")
    assert os.listdir(tmp_path) == ["made"]
    assert os.listdir(tmp_path / "made") == ["a.txt"]


def test_a_second_interrupt_during_the_removal_leaves_nothing(tmp_path, monkeypatch):
    remove, calls = atomic._remove, []

    def interrupted(draft):
        calls.append(draft)
        if len(calls) == 1:
            raise KeyboardInterrupt
        remove(draft)

    monkeypatch.setattr(atomic, "_remove", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_half_a_folder(tmp_path / "made", KeyboardInterrupt)
    assert os.listdir(tmp_path) == []
