import gzip
import io
import json
import os
import signal
import tarfile

import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.store import (
    Store,
    adopt,
    check,
    diff_runs,
    export,
    identities,
    list_runs,
    mixtures,
    provenance,
    query,
    show_run,
    spec_record,
)


@pytest.fixture
def two(store, make, run):
    """A second folder: another rate, another seed."""
    store.train(make(rate=0.25), [5], strategy="sequential")
    return store


def test_list(two):
    frame = list_runs(two)
    assert frame["task"].to_list() == ["Boolean(bits=6, sparsity=4)"] * 2
    assert frame["model"].to_list() == ["Gated"] * 2
    assert frame["seeds"].to_list() == ["0, 3, 7", "5"]
    assert frame["stages"].to_list() == [2, 2]
    assert frame["solved"].null_count() == 0


@pytest.mark.parametrize("odd", [{"run": [None, True, None]}, [[[]]], "soon"])
def test_what_meta_says_of_another_kind_is_left_out(two, odd):
    """An older folder has no seal on its meta.json; its words were a traceback in every list once."""
    path = two.folders()[0].path / "meta.json"
    meta = json.loads(path.read_text())
    del meta["files"]["meta.json"]
    path.write_text(json.dumps(meta | {"solved": odd, "seconds": odd, "created": 5}))
    frame = list_runs(Store(two.root))
    assert frame.height == 2
    assert frame["created"].null_count() == frame["seconds"].null_count() == frame["solved"].null_count() == 1


def test_show_and_suggest(two):
    first, second = list_runs(two)["id"]
    assert show_run(two, first[:6])["id"] == first
    assert [member["seed"] for member in show_run(two, second)["members"]] == [5]
    with pytest.raises(SpecError, match=f"did you mean {first}"):
        show_run(two, "x" + first[1:])
    with pytest.raises(SpecError, match="no run begins ''"):
        show_run(two, "")


def test_diff(two):
    first, second = list_runs(two)["id"]
    rows = diff_runs(two, first, second)
    assert ("stages.0.optimizer.rate", 0.5, 0.25) in rows
    assert {path for path, _, _ in rows} == {"seeds", "stages.0.optimizer.rate", "stages.1.optimizer.rate"}
    assert diff_runs(two, first, first) == []


def test_query(two):
    counts = query(two, "SELECT run, COUNT(*) AS n FROM history GROUP BY run ORDER BY n")
    assert counts["n"].to_list() == [6, 18]  # two stages of three evaluations
    assert query(two, "SELECT secret, solved_at FROM members WHERE seed = 5").shape == (1, 2)
    joined = query(two, "SELECT r.task, m.seed FROM members m JOIN runs r ON m.run = r.id")
    assert len(joined) == 4
    with pytest.raises(SpecError, match="a query is SQL"):
        query(two, "SELECT nothing FROM runs")


def test_an_empty_store(tmp_path):
    store = Store(tmp_path / "none")
    assert list_runs(store).is_empty()
    assert query(store, "SELECT * FROM history").is_empty()
    assert check(store) == []
    with pytest.raises(SpecError, match="the store is empty"):
        show_run(store, "abc")
    with pytest.raises(SpecError, match="needs a run"):
        export(store, [], tmp_path / "x.tar.gz")


def test_export_and_import(two, made, run, seeds, same, tmp_path, no_training):
    path = export(two, [], tmp_path / "all.tar.gz")
    other = Store(tmp_path / "other")
    assert sorted(adopt(other, path)) == sorted(list_runs(two)["id"])
    assert adopt(other, path) == []
    assert check(other) == []
    same(other.train(run, seeds), made[1])
    with pytest.raises(SpecError, match="nothing is overwritten"):
        export(two, [], path)
    one = export(two, [list_runs(two)["id"][1][:5]], tmp_path / "one.tar.gz")
    assert len(adopt(Store(tmp_path / "third"), one)) == 1


def archive_of(path, entries):
    with tarfile.open(path, "w:gz") as archive:
        for entry, content in entries:
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


@pytest.mark.parametrize(
    "name", ["/etc/evil", "../evil", "abc/../../evil", "abc/evil.py", "abc/def/spec.json", "spec.json", ".."]
)
def test_malicious_names_are_refused(tmp_path, name):
    path = archive_of(tmp_path / "bad.tar.gz", [(tarfile.TarInfo(name), b"x")])
    with pytest.raises(SpecError, match="plain files named ID/FILE"):
        adopt(Store(tmp_path / "store"), path)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_refused(tmp_path, kind):
    entry = tarfile.TarInfo("abc/spec.json")
    entry.type, entry.linkname = kind, "/etc/passwd"
    with pytest.raises(SpecError, match="plain files"):
        adopt(Store(tmp_path / "store"), archive_of(tmp_path / "bad.tar.gz", [(entry, b"")]))


def test_broken_archives_let_nothing_in(two, tmp_path):
    whole = export(two, [], tmp_path / "all.tar.gz").read_bytes()
    (tmp_path / "cut.tar.gz").write_bytes(whole[: len(whole) // 2])
    archive_of(tmp_path / "half.tar.gz", [(tarfile.TarInfo("abc/spec.json"), b"{}")])
    (tmp_path / "text.txt").write_text("")
    other = Store(tmp_path / "other")
    for name in ("cut.tar.gz", "half.tar.gz", "text.txt", "missing.npz"):
        with pytest.raises(SpecError):
            adopt(other, tmp_path / name)
    assert other.folders() == []
    assert check(other) == []


def test_an_archive_is_judged_before_it_is_written(two, tmp_path):
    """The last folder is damaged: no file of the others is written either."""
    path = export(two, [], tmp_path / "all.tar.gz")
    with tarfile.open(path) as archive:
        entries = [(entry, archive.extractfile(entry).read()) for entry in archive]
    entry, content = next(each for each in reversed(entries) if each[0].name.endswith("history.parquet"))
    entries[entries.index((entry, content))] = entry, content[:-1] + b"x"
    archive_of(tmp_path / "bad.tar.gz", entries)
    with pytest.raises(SpecError, match=r"history\.parquet is not what was written"):
        adopt(Store(tmp_path / "store2"), tmp_path / "bad.tar.gz")
    assert not (tmp_path / "store2").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("name", ["meta.json", "spec.json", "history.parquet"])
def test_a_named_pipe_in_a_folder_is_damage(two, name):
    path = two.folders()[0].path / name
    path.unlink()
    os.mkfifo(path)
    previous = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("reading a pipe blocks"))
    signal.alarm(20)
    try:
        (finding,) = check(Store(two.root))
        with pytest.warns(UserWarning, match="damaged"):
            assert len(Store(two.root).folders()) == 1
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
    assert "damaged" in finding.problem


def test_a_history_from_a_bare_machine(made, run, seeds, tmp_path):
    history = made[1].history
    path = history.save(tmp_path / "far.npz")
    bare = Store(tmp_path / "bare")
    (name,) = adopt(bare, path)
    assert adopt(bare, path) == []
    assert list_runs(bare).row(0, named=True)["task"] is None
    assert query(bare, 'SELECT "own.loss" FROM history').height == history.metrics["own.loss"].size

    said = {"spec": spec_record(identities(run, seeds)), "meta": provenance(1.5)}
    (tmp_path / "far.json").write_text(json.dumps(said))
    (told,) = adopt(bare, path)
    assert told != name
    assert list_runs(bare).filter(seconds=1.5)["task"].to_list() == ["Boolean(bits=6, sparsity=4)"]
    assert check(bare) == []
    assert bare.find(run, seeds) == [None] * 3  # no models, so they do not stand in for a training

    said["spec"]["members"][0]["seed"] = 99
    (tmp_path / "far.json").write_text(json.dumps(said))
    with pytest.raises(SpecError, match="write both from one training"):
        adopt(bare, path)
    np.savez(tmp_path / "odd.npz", x=1)
    with pytest.raises(SpecError, match=r"History\.save"):
        adopt(bare, tmp_path / "odd.npz")


def test_an_archive_that_seems_to_end_early_is_noticed(two, tmp_path):
    """Where the second folder begins there are zeros, tar's end: the checksum behind it tells."""
    path = export(two, [], tmp_path / "all.tar.gz")
    whole = path.read_bytes()
    unpacked = bytearray(gzip.decompress(whole))
    place = max(unpacked.index(folder.path.name.encode()) for folder in two.folders())
    unpacked[place : place + 1024] = bytes(1024)
    path.write_bytes(gzip.compress(unpacked)[:-8] + whole[-8:])
    with pytest.raises(SpecError, match=r"whole \.tar\.gz"):
        adopt(Store(tmp_path / "other"), path)


def test_models_join_a_history_that_was_adopted_first(store, made, run, seeds, tmp_path, same, no_training):
    archive = export(store, [], tmp_path / "all.tar.gz")
    made[1].history.save(tmp_path / "far.npz")
    (tmp_path / "far.json").write_text(json.dumps({"spec": spec_record(identities(run, seeds))}))
    other = Store(tmp_path / "other")
    (first,) = adopt(other, tmp_path / "far.npz")
    assert adopt(other, archive) == [f"{first}-2"]
    same(other.train(run, seeds), made[1])


@pytest.mark.parametrize("said", [{"seconds": "long"}, {"created": 5}, {"runs": [5]}])
def test_a_history_that_says_nonsense_is_refused(made, tmp_path, said):
    """It was taken in, and found damaged by the first `runs check`."""
    history = made[1].history
    history.save(tmp_path / "far.npz")
    members = [{"id": f"{seed:016x}", "seed": int(seed), "run": 0} for seed in history.seeds]
    spec = {"runs": said.pop("runs", [{}]), "members": members}
    (tmp_path / "far.json").write_text(json.dumps({"spec": spec, "meta": said}))
    store = Store(tmp_path / "new")
    with pytest.raises(SpecError, match="write both again"):
        adopt(store, tmp_path / "far.npz")
    assert store.folders() == []


@pytest.mark.parametrize("said", [{"versions": {"jax": "0.1"}}, {"flags": "--xla_odd"}, {"versions": None}])
def test_members_of_one_run_from_several_settings_are_named(store, run, said):
    store.train(run, [11])
    assert mixtures(store) == []
    path = store.find(run, [11])[0] / "meta.json"
    meta = json.loads(path.read_text())
    del meta["files"]["meta.json"]
    path.write_text(json.dumps(meta | said))
    (sentence,) = mixtures(Store(store.root))
    assert all(folder.path.name in sentence for folder in store.folders())
    assert str(said.get("flags", "jax")) in sentence


def test_check_names_the_drafts_that_a_kill_left(tmp_path):
    store = Store(tmp_path)
    store.put_verdict({"id": "LI-1", "verdict": "holds"})
    assert check(store) == []
    (tmp_path / "verdicts" / "LI-1" / "a.json.0123.part").write_text("{")
    (tmp_path / "figures" / "log-icot" / "2b" / "abc.0123.part").mkdir(parents=True)
    assert ["unfinished" in each.problem or "not finished" in each.problem for each in check(store)] == [True, True]
    assert len(store.verdicts()) == 1
