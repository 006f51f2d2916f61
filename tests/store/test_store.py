import hashlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn_model import Drawn, stage

from sorites.errors import SpecError
from sorites.store import Store, check, default_root, list_runs
from sorites.store.closure import closure
from sorites.store.spec import modules_of
from sorites.store.weights import models_bytes, models_from, structure_of
from sorites.training import Run


def only_folder(store):
    (path,) = (store.root / "members").iterdir()
    return path


def names(root):
    return sorted(path.relative_to(root).as_posix() for path in Path(root).rglob("*") if path.is_file())


def test_a_round_trip_is_exact_and_trains_nothing(made, store, run, seeds, same, no_training):
    same(store.train(run, seeds), made[1])


def test_members_come_in_the_order_asked_for(made, store, run, same, no_training):
    found = store.train(run, [7, 3, 7])
    assert found.history.seeds.tolist() == [7, 3, 7]
    order = np.array([2, 0, 2])
    np.testing.assert_array_equal(found.history.metrics["own.loss"], made[1].history.metrics["own.loss"][order])
    np.testing.assert_array_equal(found.models.weights[0], np.asarray(made[1].models.weights[0])[order])


def test_only_missing_seeds_are_trained_in_even_groups(store, run, counted, same):
    found = store.train(run, [0, 1, 2, 3, 4], strategy="sequential", group=2)
    assert counted == [[1], [2, 4]]
    assert found.history.seeds.tolist() == [0, 1, 2, 3, 4]
    assert len(list((store.root / "members").iterdir())) == 3
    same(Store(store.root).train(run, [0, 1, 2, 3, 4], strategy="sequential"), found)
    assert counted == [[1], [2, 4]]


def test_one_run_per_seed(store, run, make, seeds, counted):
    found = store.train([run, make(rate=0.25)], [3, 3], strategy="sequential")
    assert counted == [[3]]
    assert found.history.seeds.tolist() == [3, 3]
    with pytest.raises(SpecError, match="differ in arrays only"):
        store.train([run, make(sparsity=2)], [3, 3])


def test_find(store, run, make, seeds):
    assert store.find(run, [0, 1]) == [only_folder(store), None]
    assert store.find(make(rate=0.25), seeds) == [None] * 3
    assert Store(store.root / "nowhere").find(run, [0]) == [None]


def test_no_pickle(store):
    kept = [name for name in names(store.root) if not name.startswith("running")]
    assert {Path(name).suffix for name in kept} == {".json", ".parquet", ".safetensors"}
    meta = json.loads((only_folder(store) / "meta.json").read_text())
    assert {"created", "seconds", "versions", "python", "platform", "device", "commit"} <= meta.keys()


FILES = ("spec.json", "meta.json", "history.parquet", "members.parquet", "model.safetensors")
HARMS = [(name, harm) for name in FILES for harm in ("truncate", "remove", "flip")]


@pytest.mark.parametrize(("name", "harm"), HARMS)
def test_a_damaged_folder_counts_as_absent(store, run, seeds, made, same, counted, name, harm):
    folder, path = only_folder(store), only_folder(store) / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    {
        "truncate": lambda: os.truncate(path, 40),
        "remove": path.unlink,
        "flip": lambda: path.write_bytes(content),
    }[harm]()
    assert [finding.path for finding in check(store)] == [str(folder)]
    with pytest.warns(UserWarning, match="is damaged"):
        same(store.train(run, seeds, strategy="sequential"), made[1])
    assert counted == [list(seeds)]
    assert sorted(path.name for path in (store.root / "members").iterdir()) == [
        folder.name,
        f"{folder.name}-2",
    ]
    with pytest.warns(UserWarning, match="is damaged"):
        Store(store.root).train(run, seeds, strategy="sequential")
    assert counted == [list(seeds)]


@pytest.mark.parametrize("part", ['"created": "2', '"seconds": ', '"solved": ', '"sorites.training.ensemble": "'])
def test_what_meta_says_is_sealed(store, part):
    """One digit of when, how long, how many or by which code."""
    path = only_folder(store) / "meta.json"
    content = bytearray(path.read_bytes())
    content[content.index(part.encode()) + len(part)] ^= 1
    path.write_bytes(content)
    assert len(check(store)) == 1
    with pytest.warns(UserWarning, match="is damaged"):
        assert Store(store.root).folders() == []


@pytest.mark.parametrize("runs", [None, "none"])
def test_a_spec_without_its_runs(store, runs):
    """With every hash right, as somebody else's archive may have it: a traceback in every list once."""
    folder = only_folder(store)
    spec, meta = (json.loads((folder / name).read_text()) for name in ("spec.json", "meta.json"))
    del spec["runs"], meta["files"]["meta.json"]
    content = json.dumps(spec | ({} if runs is None else {"runs": runs})).encode()
    meta["files"]["spec.json"] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / "spec.json").write_bytes(content)
    (folder / "meta.json").write_text(json.dumps(meta))
    assert len(check(store)) == 1
    with pytest.warns(UserWarning, match="is damaged"):
        assert Store(store.root).folders() == []


@pytest.mark.parametrize(
    ("schema", "remedy"), [(2, "read this one with commit e86403e"), (3, "commit 0b1d64a"), (99, "a newer sorites")]
)
def test_a_store_of_another_schema_is_refused(store, run, schema, remedy):
    folder = only_folder(store)
    spec, meta = (json.loads((folder / name).read_text()) for name in ("spec.json", "meta.json"))
    content = json.dumps(spec | {"schema": schema}).encode()
    meta["files"]["spec.json"] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    del meta["files"]["meta.json"]
    (folder / "spec.json").write_bytes(content)
    (folder / "meta.json").write_text(json.dumps(meta))
    for ask in (lambda old: old.folders(), lambda old: old.train(run, [0]), check, list_runs):
        with pytest.raises(SpecError, match=rf"has schema {schema}; this version reads schema 4: use .*{remedy}"):
            ask(Store(store.root))


def test_meta_names_the_code(store, run):
    """Every module of the import closure, with the digest that its key was made of."""
    code = store.folders()[0].meta["code"]
    assert code == closure(modules_of(run))
    assert {"sorites.models.gated", "sorites.training.ensemble"} <= set(code)
    assert "sorites.models.decoder" not in code


@pytest.mark.parametrize("part", ["bytes", "sha256"])
def test_a_list_of_files_without_their_hashes(store, part):
    """As an older folder may come to have it: a traceback in every `runs` command once."""
    path = only_folder(store) / "meta.json"
    meta = json.loads(path.read_text())
    del meta["files"]["meta.json"], meta["files"]["model.safetensors"][part]
    path.write_text(json.dumps(meta))
    assert len(check(store)) == 1


def test_a_verdict_is_what_was_written(store):
    path = store.put_verdict({"id": "X-1", "verdict": "holds", "measured": 17})
    path.write_text(path.read_text().replace("17", "16"))
    assert [finding.path for finding in check(store)] == [str(path)]
    with pytest.warns(UserWarning, match="is damaged"):
        assert store.verdicts() == []


def test_a_failed_rename_leaves_no_half_folder(run, tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError(28, "No space left on device")

    store = Store(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("sorites.store.folder.os.rename", fail)
        with pytest.raises(SpecError, match="No space left"):
            store.train(run, [3], strategy="sequential")
    assert list((tmp_path / "members").iterdir()) == []
    store.train(run, [3], strategy="sequential")
    assert len(store.folders()) == 1


@pytest.mark.parametrize("last", ["history.parquet", "meta.json"])
def test_a_kill_leaves_a_whole_folder_or_none(made, run, tmp_path, last):
    """The process dies while it writes that file."""
    script = f"""
        import os, signal
        from pathlib import Path
        from sorites.store import folder
        from sorites.store.folder import copy_aside

        def die(path, content):
            path.write_bytes(content[:20])
            if path.name == {last!r}:
                os.kill(os.getpid(), signal.SIGKILL)

        folder.write_synced = die
        source = next(Path({str(made[0])!r}, "members").iterdir())
        files = {{path.name: path.read_bytes() for path in source.iterdir() if path.name != "meta.json"}}
        files["meta.json"] = (source / "meta.json").read_bytes()
        folder.settle(Path({str(tmp_path)!r}), copy_aside(Path({str(tmp_path)!r}), source.name, files))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], env={**os.environ}, check=False)
    assert done.returncode == -9
    store = Store(tmp_path)
    assert store.folders() == []
    assert [finding.problem.split(";")[0] for finding in check(store)] == ["an unfinished write"]
    store.train(run, [3], strategy="sequential")
    assert len(store.folders()) == 1


def test_an_unwritable_root_is_one_sentence(run, tmp_path, no_training):
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError, match="--store DIR") as raised:
        Store(tmp_path / "file" / "store").train(run, [0])
    assert str(tmp_path) in str(raised.value)


def test_bad_asks(store, run):
    for seeds, group in (([], 1), ([0], 0)):
        with pytest.raises(SpecError, match="at least one"):
            store.train(run, seeds, group=group)
    with pytest.raises(SpecError, match="one run per seed"):
        store.train([run], [0, 1])


def test_default_root(monkeypatch):
    monkeypatch.delenv("SORITES_STORE", raising=False)
    assert default_root() == Path("sorites-store")
    monkeypatch.setenv("SORITES_STORE", "/elsewhere")
    assert Store().root == Path("/elsewhere")


def test_another_process_was_faster(made, run, seeds, tmp_path, monkeypatch, same):
    """Both trained the same members; one folder stays."""

    def slow(*arguments, **named):
        shutil.copytree(made[0], tmp_path, dirs_exist_ok=True)
        return made[1]

    monkeypatch.setattr("sorites.store.store.train", slow)
    same(Store(tmp_path).train(run, seeds), made[1])
    assert len(list((tmp_path / "members").iterdir())) == 1
    assert list((tmp_path / "partial").iterdir()) == []


def test_verdicts_are_kept_and_the_last_one_counts(tmp_path):
    store = Store(tmp_path)
    assert store.verdicts() == []
    assert store.last_verdict("LI-1") is None
    store.put_verdict({"id": "LI-1", "verdict": "fails"})
    path = store.put_verdict({"id": "LI-1", "verdict": "holds"})
    store.put_verdict({"id": "RS-8", "verdict": "fails", "created": "1999"})
    last = store.last_verdict("LI-1")
    assert last is not None
    assert last["verdict"] == "holds"
    assert [record["id"] for record in store.verdicts()] == ["RS-8", "LI-1", "LI-1"]
    assert path.parent == tmp_path / "verdicts" / "LI-1"
    assert {each.suffix for each in path.parent.iterdir()} == {".json"}  # no draft is left
    path.write_text("{")
    with pytest.warns(UserWarning, match="passed over"):
        assert len(store.verdicts()) == 2
    assert len(check(store)) == 1
    for record in ({}, {"id": "../x"}, {"id": "LI-1", "measured": float("nan")}, {"id": "a", "x": object()}):
        with pytest.raises(SpecError):
            store.put_verdict(record)


def test_figure_folder(tmp_path):
    store = Store(tmp_path)
    assert store.figure_folder("log-icot", "2b", "abc") == tmp_path / "figures/log-icot/2b/abc"
    with pytest.raises(SpecError, match="letters"):
        store.figure_folder("log-icot", "..", "abc")


def test_models_that_draw_their_weights_and_hold_numbers(tmp_path, same):
    """A structure that only `init` knows, with a Python number among the leaves."""
    run = Run(Drawn(None, 2.0), [stage()])
    outcome = Store(tmp_path).train(run, [0, 1], strategy="vmap")
    same(Store(tmp_path).train(run, [0, 1]), outcome)
    assert outcome.models.counts.dtype == "int8"  # pyright: ignore


def test_half_precision_survives():
    run = Run(Drawn(None, jnp.float32(2), dtype="bfloat16"), [stage()])  # pyright: ignore
    models = eqx.filter_vmap(run.model.for_member)(jax.vmap(jax.random.key)(jnp.arange(3)))
    again = models_from(models_bytes(models), structure_of(run), 3)
    assert again.counts.dtype == "bfloat16"  # pyright: ignore
    assert bool(eqx.tree_equal(models, again))
