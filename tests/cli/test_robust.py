"""What audits found: each of these was a traceback, a wrong row, a lie or an orphan once."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import polars as pl
import pytest

from sorites.cli.main import main
from sorites.runtime import devices
from sorites.store import Store
from sorites.store.identity import short_hash
from sorites.training import strategies, train
from sorites.training.memory import bytes_needed

MARKED = "[/x]"  # closes a tag that was never opened, where text is taken for markup


@pytest.fixture
def sorites(tmp_path, monkeypatch, capsys):
    """Run a command in an empty folder; returns (status, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SORITES_STORE", raising=False)

    def run(*words):
        status = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture
def stored(sorites, tmp_path):
    """A store with one run."""
    words = ("--task", "parity", "--model", "gated", "--supervision", "direct", "--bits", 6, "--sparsity", 2)
    assert sorites("run", *words, "--steps", 4, "--every", 2, "--batch", 8, "--seeds", 2, "--quiet")[0] == 0
    return tmp_path / "sorites-store"


def one_sentence(found, *words):
    status, out, err = found
    assert status == 2
    assert out == ""
    assert err.startswith("sorites: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err


@pytest.mark.parametrize(
    ("flag", "value"),
    [("seeds", 99999999999), ("batch", 10**20), ("steps", 10**12), ("every", 10**12), ("bits", 10**8)],
)
def test_numbers_without_measure(sorites, flag, value):
    words = ("run", "--task", "parity", "--model", "gated", "--supervision", "log-icot", f"--{flag}", value)
    one_sentence(sorites(*words), str(value)[:3])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("run = None\n", "it is None"),
        ("import sys\nsys.exit()\n", "exit"),
        ("import sorites as so\nrun = so.Run(5, [])\n", ""),
        ("import sorites as so\nt = so.Parity(6, 2)\nrun = so.Run(so.gated(so.Parity(8, 4)), so.stages(t, "
         "so.log_icot(t.layout), so.Sampled(8), so.Adam(0.1), 4))\n", ""),
        ("import sorites as so\nt = so.Parity(6, 2)\nrun = so.Run(so.gated(t), so.stages(t, so.log_icot(t.layout), "
         "so.Sampled(4.5), so.Adam(0.1), 4))\n", ""),
        ("import sorites as so\nt = so.Parity(6, 2)\nrun = so.Run(so.gated(t), so.stages(t, so.log_icot(t.layout), "
         "so.Sampled(8), so.Adam([0.1, 0.2]), 4))\n", ""),
    ],
)  # fmt: skip
def test_run_files_that_cannot_train(sorites, tmp_path, text, words):
    (tmp_path / "mine.py").write_text(text)
    one_sentence(sorites("run", "mine.py", "--quiet"), words)


def test_a_file_that_is_no_python(sorites, tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    one_sentence(sorites("run", "notes.txt"), "notes.txt")


LONG_NAME = "x" * 300


@pytest.mark.parametrize(
    "words",
    [
        ("entropy", "model", "--data", LONG_NAME),
        ("run", f"{LONG_NAME}.py"),
        ("runs", "import", f"{LONG_NAME}.npz"),
        ("runs", "export", f"{LONG_NAME}.tar.gz"),
        ("runs", "list", "--store", LONG_NAME),
        ("list", "papers", "--json", f"{LONG_NAME}/{LONG_NAME}"),
        ("verify", "LI-24", "--scale", "tiny", "--store", LONG_NAME, "--quiet"),
    ],
)
def test_a_path_that_no_disk_can_hold(sorites, words):
    one_sentence(sorites(*words), LONG_NAME[:50])


def test_a_refusal_during_the_work_is_one_sentence_too(sorites):
    """Where nobody watches, the bar leaves no empty line before it."""
    one_sentence(sorites("verify", "LI-1", "--scale", "tiny", "--sparsity", "x"), "whole number")


def test_json_into_nothing_is_refused_before_the_work(sorites, tmp_path):
    one_sentence(sorites("verify", "LI-24", "--scale", "tiny", "--json", ""), "--json")
    assert not (tmp_path / "sorites-store").exists()


def test_no_more_sizes_than_anybody_waits_for(sorites):
    one_sentence(sorites("verify", "LI-1", "--anywhere", 10**15), "100,000")


def test_text_is_not_taken_for_markup(sorites, stored, tmp_path):
    assert MARKED in sorites("runs", "query", f"SELECT '{MARKED}' AS a FROM runs")[1]
    assert sorites("runs", "query", f'SELECT 1 AS "{MARKED}" FROM runs')[0] == 0
    status, out, _ = sorites("figure", "log-icot/1", "--scale", "tiny", "--out", f"d/{MARKED}y")
    assert status == 0
    assert f"{MARKED}y" in out.replace("\n", "")
    stored.rename(tmp_path / "ds [b] y")
    (tmp_path / "ds [b] y" / "members" / "rubbish").mkdir()
    status, out, _ = sorites("runs", "check", "--store", "ds [b] y")
    assert status == 1
    assert "[b]" in out


def test_a_store_that_is_not_there(sorites):
    one_sentence(sorites("runs", "check", "--store", "typo"), "typo")


@pytest.mark.parametrize(
    "sql",
    ["select * from read_csv('other.csv')", "DROP TABLE runs", "DELETE FROM runs", "select * from read_parquet ('x')"],
)
def test_a_query_reads_the_store_and_nothing_else(sorites, stored, sql):
    one_sentence(sorites("runs", "query", sql), "nothing else")


def test_a_query_serves_no_flipped_bit(sorites, stored):
    (table,) = stored.rglob("history.parquet")
    whole = table.read_bytes()
    for place in range(4, len(whole) - 8, max(1, len(whole) // 40)):
        table.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        one_sentence(sorites("runs", "query", "select * from history"), "runs check")


NESTED = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize("about", ["[]", "null", "5", '{"tables": 5}', '{"tables": ["data"], "sha256": 5}', NESTED])
def test_damaged_tables_of_a_figure_are_measured_again(sorites, tmp_path, about):
    words = ("figure", "log-icot/2a", "--scale", "tiny")
    assert sorites(*words)[0] == 0
    (place,) = (tmp_path / "sorites-store" / "figures").glob("*/*/*")
    (place / "about.json").write_text(about)
    assert sorites("runs", "check")[0] == 1
    assert sorites(*words)[0] == 0
    (again,) = [path for path in place.parent.iterdir() if ".damaged-" not in path.name]
    assert again == place


def test_a_table_of_another_figure_is_not_drawn(sorites, tmp_path):
    words = ("figure", "log-icot/2a", "--scale", "tiny")
    sorites(*words)
    (table,) = (tmp_path / "sorites-store" / "figures").glob("*/*/*/data.parquet")
    pl.DataFrame({"other": [1]}).write_parquet(table)
    assert sorites("runs", "check")[0] == 1
    assert sorites(*words)[0] == 0


@pytest.mark.parametrize("command", ["list", "check", "query"])
def test_nesting_is_survived(sorites, stored, command):
    (meta,) = stored.rglob("meta.json")
    meta.write_text(NESTED)
    with pytest.warns(UserWarning, match="damaged") if command != "check" else contextlib.nullcontext():
        status, _, err = sorites("runs", command, *(["select * from runs"] if command == "query" else []))
    assert status == (1 if command == "check" else 0), err


def test_a_verdict_without_a_verdict_is_passed_over(sorites, tmp_path):
    sorites("verify", "LI-24", "--scale", "tiny", "--quiet")
    (path,) = (tmp_path / "sorites-store" / "verdicts").rglob("*.json")
    record = json.loads(path.read_text())
    del record["verdict"]
    path.unlink()
    path.with_name(f"{short_hash(json.dumps(record))}.json").write_text(json.dumps(record))
    with pytest.warns(UserWarning, match="passed over"):
        assert Store(tmp_path / "sorites-store").last_verdict("LI-24") is None


def repacked(stored, tmp_path, change):
    """An archive of the stored run in which `change(spec, meta)` has been made and every hash is right."""
    import hashlib

    (folder,) = (stored / "members").iterdir()
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    spec, meta = json.loads(files["spec.json"]), json.loads(files["meta.json"])
    change(spec, meta)
    files["spec.json"] = json.dumps(spec).encode()
    meta["files"]["spec.json"] = {
        "bytes": len(files["spec.json"]), "sha256": hashlib.sha256(files["spec.json"]).hexdigest()
    }  # fmt: skip
    del meta["files"]["meta.json"]
    files["meta.json"] = json.dumps(meta).encode()
    with tarfile.open(tmp_path / "other.tar.gz", "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"{folder.name}/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return tmp_path / "other.tar.gz"


CHANGES = {
    "runs": lambda spec, meta: spec.update(runs=5),
    "run": lambda spec, meta: spec.update(runs=[5]),
    "number": lambda spec, meta: spec["members"][0].update(run=7),
    "created": lambda spec, meta: meta.update(created=5),
    "seconds": lambda spec, meta: meta.update(seconds="long"),
    "shapes": lambda spec, meta: meta["shapes"]["metrics"].update({"own.loss": [10**9]}),
}


@pytest.mark.parametrize("which", CHANGES)
def test_archives_that_say_nonsense_are_refused(sorites, stored, tmp_path, which):
    path = repacked(stored, tmp_path, CHANGES[which])
    one_sentence(sorites("runs", "import", path, "--store", "new"), "export it again")
    assert not (tmp_path / "new").exists()


def test_a_spec_that_no_class_can_be_made_from(sorites, stored, tmp_path):
    """Adopted from somewhere, hashes right: it is listed and shown, and refused in a sentence when it is loaded."""

    def ragged(spec, meta):
        spec["runs"][0]["model"]["weights"] = [{"array": [[1, 2], [3]], "dtype": "float32"}]

    path = repacked(stored, tmp_path, ragged)
    assert sorites("runs", "import", path, "--store", "new")[0] == 0
    (folder,) = (tmp_path / "new" / "members").iterdir()
    assert sorites("runs", "show", folder.name, "--store", "new")[0] == 0
    assert sorites("runs", "list", "--store", "new")[0] == 0
    with pytest.raises(ValueError, match="made again from its spec"):
        Store(tmp_path / "new").load(folder.name, 0)


@pytest.mark.parametrize("part", ["task", "model"])
def test_an_adopted_archive_runs_nothing(sorites, stored, tmp_path, part):
    """The audit's archive: every hash is right, and what it names would run a command when it is loaded."""
    command = {"kind": "partial", "function": "builtins:min", "arguments": [f"touch {tmp_path / 'ran'}"],
               "keywords": {"kind": "dict", "items": {"key": "posix:system"}}}  # fmt: skip

    def payload(spec, meta):
        run = spec["runs"][0]
        if part == "task":
            for stage in run["stages"]:
                stage["task"]["gate"] = {"kind": "sorites.tasks.gates.Gate", "name": "and", "rule": command}
        else:
            run["model"]["link"] = command

    path = repacked(stored, tmp_path, payload)
    assert sorites("runs", "import", path, "--store", "new")[0] == 0
    (folder,) = (tmp_path / "new" / "members").iterdir()
    assert sorites("runs", "check", "--store", "new")[0] == 0
    one_sentence(
        sorites("export", folder.name, "--to", "hf", "--out", "hf", "--member", "0", "--store", "new"),
        "names a partial",
    )
    with pytest.raises(ValueError, match="names a partial"):
        Store(tmp_path / "new").load(folder.name, 0)
    assert not (tmp_path / "ran").exists()


def test_bombs_and_empty_archives_are_refused(sorites, tmp_path):
    with tarfile.open(tmp_path / "empty.tar.gz", "w:gz"):
        pass
    one_sentence(sorites("runs", "import", "empty.tar.gz"), "holds none")
    with tarfile.open(tmp_path / "bomb.tar.gz", "w:gz", compresslevel=1) as archive:
        entry = tarfile.TarInfo("0123456789abcdef/spec.json")
        entry.size = 200 * 2**20
        archive.addfile(entry, io.BytesIO(bytes(entry.size)))
    one_sentence(sorites("runs", "import", "bomb.tar.gz"), "bounded")


def test_a_failed_export_leaves_nothing(sorites, stored, tmp_path, monkeypatch):
    def full(self, content):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    one_sentence(sorites("runs", "export", "out.tar.gz"), "No space left")
    assert not list(tmp_path.glob("out*"))


def test_memory_is_asked_for_before_it_is_taken(run, monkeypatch):
    monkeypatch.setattr(strategies, "free_memory", lambda: 1000)
    with pytest.raises(ValueError, match=r"out of memory: one member needs .* GiB"):
        train(run, [0])
    monkeypatch.setattr(strategies, "free_memory", lambda: 2 * bytes_needed(run))
    with pytest.warns(UserWarning, match="3 members do not fit side by side"):
        train(run, [0, 1, 2], "vmap")
    monkeypatch.undo()
    assert devices.free_memory() > 2**20


def test_programs_are_dropped_before_the_limit(monkeypatch):
    assert not devices.drop_programs_before_the_limit()
    monkeypatch.setattr(devices, "MAPS", 0.0)
    assert devices.drop_programs_before_the_limit()


LONG = ("--task", "parity", "--model", "gpt", "--supervision", "teacher-forcing", "--steps", "100000", "--seeds", "2")


@pytest.mark.parametrize(
    ("words", "moment", "number"),
    [
        (("run", *LONG, "--goal", "own.loss=0"), 8, signal.SIGINT),
        (("run", *LONG, "--goal", "own.loss=0"), 1, signal.SIGTERM),
        (("reproduce", "--paper", "log-icot"), 8, signal.SIGTERM),
        (("verify", "LI-14"), 6, signal.SIGINT),
    ],
)
def test_signals(tmp_path, words, moment, number):
    """One sentence, 130 or 143, and nobody is left."""
    child = subprocess.Popen(
        [sys.executable, "-m", "sorites.cli.main", *words, "--store", "kept"], cwd=tmp_path, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, env={**os.environ, "MARK": str(tmp_path)},
    )  # fmt: skip
    time.sleep(moment)
    child.send_signal(number)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 128 + number
    assert err.strip().splitlines()[-1] == "sorites: stopped; what was finished is in the store"
    deadline = time.monotonic() + 10
    while (left := _processes(str(tmp_path))) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert left == []


def _processes(mark):
    """Who runs with this in the environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"MARK={mark}".encode() in path.read_bytes():
                found.append(path.parent.name)
    return found


def test_a_worker_whose_parent_is_already_dead_ends():
    """Killed between the start of a worker and its first line: the worker's parent is somebody else by then."""
    words = (
        "import multiprocessing, time, types\n"
        "multiprocessing.parent_process = lambda: types.SimpleNamespace(pid=2**30)\n"
        "from sorites.cli.stopping import follow_parent\n"
        "follow_parent(); time.sleep(30)"
    )
    assert subprocess.run([sys.executable, "-c", words], timeout=25).returncode == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--length", "9" * 18), "a vocabulary has at most 1,000,000 variables"),
        (("--length", "9" * 40), "a whole number is below 2^63"),
        (("--variables", "9" * 12), "a vocabulary has at most 1,000,000 variables"),
    ],
)
def test_sentences_beyond_any_memory_are_refused(sorites, words, sentence):
    found = sorites("run", "--task", "lego", "--model", "decoder", "--supervision", "teacher-forcing", *words)
    one_sentence(found, sentence)


@pytest.mark.parametrize(
    ("taught", "source", "goal", "sentence"),
    [
        ("[5]", "so.Sampled(4)", "None", "got 5 in curriculum; allowed is a list or tuple of Supervision"),
        ("so.log_icot(task.layout)", "so.Sampled", "None", "got source=the class Sampled; allowed is an instance"),
        ("so.log_icot(task.layout)", "so.Sampled(4)", "5", "`goal` is a metric to reach: goal=5"),
    ],
)
def test_a_stage_of_other_things_is_refused(tmp_path, taught, source, goal, sentence):
    """In a process of its own: the types are not checked by the tests' import hook there."""
    text = (
        f"import sorites as so\ntask = so.Parity(8, 4)\nplan = so.stages(task, {taught}, {source}, so.Adam(0.1), 25)\n"
    )
    (tmp_path / "mine.py").write_text(text + f"run = so.Run(so.gated(task), plan, {goal})\n")
    words = [sys.executable, "-m", "sorites.cli.main", "run", "mine.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_signal_in_a_finaliser_is_heard():
    words = (
        "import os, signal, time\nfrom sorites.cli import stopping\n"
        "class Gone:\n    def __del__(self):\n        os.kill(os.getpid(), signal.SIGTERM)\n        sum(range(9))\n"
        "stopping.listen()\ntry:\n    Gone()\n    end = time.monotonic() + 20\n    while time.monotonic() < end: pass\n"
        "except KeyboardInterrupt as stop:\n    stopping.leave(stop.status)"
    )
    done = subprocess.run([sys.executable, "-c", words], timeout=25, capture_output=True, text=True)
    assert done.returncode == 143
    assert done.stderr == ""  # at once: not even the word that it waits


@pytest.mark.parametrize("command", ["run", "sweep"])
@pytest.mark.parametrize("name", ["json", "random", "typing", "jax", "numpy", "sorites"])
def test_files_with_the_name_of_a_module_are_refused(sorites, tmp_path, command, name):
    import sys

    before = sys.modules.get(name)
    (tmp_path / f"{name}.py").write_text("raise RuntimeError('it was read')\n")
    one_sentence(sorites(command, f"{name}.py"), "the name of an installed module", "rename the file")
    assert sys.modules.get(name) is before


def test_a_file_that_raises_anything_is_a_sentence(sorites, tmp_path):
    (tmp_path / "odd_file.py").write_text("class Odd(BaseException):\n    pass\n\nraise Odd('no error')\n")
    one_sentence(sorites("run", "odd_file.py"), "line 4", "Odd", "no error")


@pytest.mark.parametrize(
    "words", [("runs", "list", "--store", "a\0b"), ("run", "a\0.py"), ("runs", "export", "\0.tgz")]
)
def test_a_nul_is_refused(sorites, words):
    one_sentence(sorites(*words), "NUL")


def test_the_playground_has_no_page_with_a_nul(tmp_path, monkeypatch):
    import threading
    import urllib.error
    import urllib.request

    from sorites.cli import play_command

    monkeypatch.setattr(play_command, "FOLDER", tmp_path)
    (tmp_path / "index.html").write_text("here")
    with play_command.serve(0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        try:
            assert urllib.request.urlopen(url, timeout=20).read() == b"here"
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"{url}%00", timeout=20)
        finally:
            server.shutdown()
