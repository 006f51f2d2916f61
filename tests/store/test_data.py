"""Data for others: the same rows whatever the count and the form, whole or absent, opened by what people use."""

import json
import os
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import polars as pl
import pytest

from sorites.cli.main import main
from sorites.errors import SpecError
from sorites.store.data import ChainRows, write_data
from sorites.store.loading import secret_of
from sorites.tasks import Composition, Lego, Parity, Sequences

TASKS = {
    "parity": Parity(12, 4),
    "composition": Composition("S3", 4),
    "lego": Lego("C3", 2, 5),
    "sequences": Sequences(8, 4, 2, "paper", 4),
}


@pytest.mark.parametrize("name", TASKS)
def test_rows_say_what_the_chains_hold(name):
    task = TASKS[name]
    (table,) = ChainRows(task, 50, seed=3).tables()
    layout, words = task.layout, {word: number for number, word in enumerate(task.words)}
    secret = secret_of(task, 3)
    counted = int(np.asarray(task.counted(secret)).sum())
    for row in table.iter_rows(named=True):
        assert len(row["prompt"].split()) == layout.inputs * layout.slots
        assert len(row["thoughts"]) == counted
        assert row["answer"] == row["thoughts"][int(task.answer(secret))]
        assert row["text"] == f"{row['prompt']} : {' '.join(row['thoughts'])}"
    numbers = np.asarray([[words[word] for word in text.replace(" :", "").split()] for text in table["text"]])
    tokens = task.alphabet.tokens(jnp.asarray(numbers.T.reshape(-1, layout.slots, 50)))
    if counted == layout.thoughts:  # relabel is the identity on the truth
        np.testing.assert_array_equal(task.relabel(secret, tokens), tokens[layout.inputs :])


def test_a_row_does_not_depend_on_count_or_form(tmp_path, monkeypatch):
    monkeypatch.setattr("sorites.store.data.MOST", 64)
    task = TASKS["parity"]
    write_data(ChainRows(task, 150), tmp_path / "a.parquet")
    write_data(ChainRows(task, 70), tmp_path / "b.jsonl", "jsonl")
    write_data(ChainRows(task, 70, seed=1), tmp_path / "c.jsonl", "jsonl")
    a = pl.read_parquet(tmp_path / "a.parquet")
    b, c = (
        [json.loads(line) for line in (tmp_path / name).read_text().splitlines()] for name in ("b.jsonl", "c.jsonl")
    )
    assert a.height == 150
    assert a.head(70).to_dicts() == b
    assert [row["prompt"] for row in b] != [row["prompt"] for row in c]
    assert a["prompt"][:64].to_list() != a["prompt"][64:128].to_list()


def test_distinct_rows_never_meet(tmp_path):
    task = Parity(10, 4)
    write_data(ChainRows(task, task.trainable, distinct=True), tmp_path / "folder", test=task.held_out)
    train, test = (pl.read_parquet(tmp_path / "folder" / "data" / f"{name}.parquet") for name in ("train", "test"))
    assert train["prompt"].n_unique() == train.height == task.trainable
    assert not set(train["prompt"]) & set(test["prompt"])
    with pytest.raises(SpecError, match="use fewer"):
        write_data(ChainRows(task, 2000, distinct=True), tmp_path / "other")
    with pytest.raises(SpecError, match="number their inputs"):
        write_data(ChainRows(TASKS["composition"], 5, distinct=True), tmp_path / "other")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]  # nothing half done


def test_datasets_opens_the_folder(tmp_path):
    datasets = pytest.importorskip("datasets")
    for form in ("parquet", "jsonl"):
        write_data(ChainRows(TASKS["parity"], 30), tmp_path / form, form, test=10)
        found = datasets.load_dataset(str(tmp_path / form), cache_dir=str(tmp_path / "cache"))
        assert {name: len(split) for name, split in found.items()} == {"train": 30, "test": 10}
        assert list(found["train"][0]) == ["prompt", "thoughts", "answer", "text"]
        (table,) = ChainRows(TASKS["parity"], 30).tables()
        assert found["train"]["text"][:] == table["text"].to_list()


def test_data_and_score_from_the_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    size = ["parity", "--bits", "12", "--seed", "2"]
    assert main(["data", *size, "--count", "40", "--format", "jsonl", "--out", "rows.jsonl", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["score", *size, "rows.jsonl", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["answer"], found["chain"], found["process reward"], found["skipped"]) == (1, 1, 1, [])
    (tmp_path / "rows.jsonl").write_text((tmp_path / "rows.jsonl").read_text() + "{\n")
    assert main(["score", "parity", "--bits", "12", "--seed", "3", "rows.jsonl", "--json", "-"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["answer"] < 0.9  # another secret
    assert "line 41" in err
    (tmp_path / "mine.py").write_text("import sorites as so\ntask = so.Composition('C5', 4)\n")
    assert main(["data", "mine.py", "--count", "3", "--out", "mine.parquet", "--quiet"]) == 0
    assert main(["score", "mine.py:task", "mine.parquet", "--quiet"]) == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["pariti", "--count", "3", "--out", "x"], "did you mean 'parity'"),
        (["parity", "--count", "0", "--out", "x"], "count=0"),
        (["parity", "--count", "3", "--out", "x.jsonl"], "named after its format"),
        (["parity", "--count", "3", "--out", "x.parquet", "--test", "2"], "splits are a folder"),
        (["parity", "--count", "3", "--out", "."], "exists"),
        (["parity", "--count", "3", "--out", "/dev/null/x"], "choose another"),
        (["parity", "--sparsity", "3", "--count", "3", "--out", "x"], "power of two"),
        (["parity", "--count", "3", "--out", "x", "--seed", "-1"], "seed=-1"),
    ],
)
def test_bad_requests_get_one_sentence(words, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["data", *words, "--quiet"]) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert err.strip().count("\n") == 0
    assert not list(tmp_path.iterdir())


def test_memory_does_not_grow_with_the_count(tmp_path):
    """Peak memory of 8 blocks and of 32: at most a tenth more."""
    program = (
        "import resource, sys\nfrom sorites.store.data import ChainRows, write_data\nfrom sorites.tasks import Parity\n"
        "import sorites.store.data as data\ndata.MOST = 2**14\n"
        "write_data(ChainRows(Parity(30, 16), int(sys.argv[1]) * 2**14), sys.argv[2])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )

    def peak(blocks):
        words = [sys.executable, "-c", program, str(blocks), str(tmp_path / f"{blocks}.parquet")]
        done = subprocess.run(words, capture_output=True, text=True, check=True, env=dict(os.environ))
        return int(done.stdout)

    assert peak(32) < 1.1 * peak(8)


@pytest.mark.parametrize("name", ["rows.parquet", "rows.jsonl", "folder"])
def test_what_is_interrupted_leaves_nothing(tmp_path, name):
    def stop(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_data(
            ChainRows(TASKS["parity"], 10), tmp_path / name, "jsonl" if name == "rows.jsonl" else "parquet", 0, stop
        )
    assert not list(tmp_path.iterdir())
