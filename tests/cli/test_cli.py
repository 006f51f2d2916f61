"""The command line's contract: exit status, JSON, one sentence for bad input, nothing lost."""

import json
import os
import re
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from sorites.cli.common import all_claims, all_figures
from sorites.cli.main import main
from sorites.cli.reproducing import finish, judged, processes, units
from sorites.papers.registry import papers
from sorites.store import Store


@pytest.fixture
def sorites(tmp_path, monkeypatch, capsys):
    """Run a command in an empty folder; returns (status, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SORITES_STORE", raising=False)

    def run(*words):
        status = main(words)
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_claims_side_by_side_say_the_same(sorites, tmp_path):
    """Two processes, in the order that was asked for; every verdict is in the one store."""
    found = []
    for jobs in ("1", "2"):
        words = ("verify", "LI-24", "KS-1", "LI-1", "--anywhere", "2", "--jobs", jobs, "--json", "-", "--store", jobs)
        status, out, _ = sorites(*words)
        assert status == 0
        # the checks of shapes are code of this process alone
        found.append([{**each, "seconds": 0, "source": None} for each in json.loads(out)])
    assert found[0] == found[1]
    assert [each["id"] for each in found[1]] == ["LI-24"] * 2 + ["KS-1"] * 2 + ["LI-1"] * 2
    assert len(list((tmp_path / "2" / "verdicts").glob("*/*"))) == 6


def test_verify_prints_records(sorites):
    status, out, _ = sorites("verify", "LI-1", "LI-24", "--scale", "tiny", "--json", "-")
    records = json.loads(out)
    assert status == 0
    assert [record["id"] for record in records] == ["LI-1", "LI-24"]
    assert all(record["verdict"] == "holds" for record in records)
    assert records[0]["parameters"] == {"bits": 16, "sparsity": 8}


def test_parameters_are_flags(sorites, tmp_path):
    status, _, _ = sorites("verify", "LI-24", "--bits=20", "--sparsity", "8", "--json", "found.json", "--quiet")
    assert status == 0
    assert json.loads((tmp_path / "found.json").read_text())[0]["parameters"] == {"bits": 20, "sparsity": 8}


def test_a_verdict_is_remembered(sorites):
    sorites("verify", "LI-24", "--scale", "tiny", "--quiet")
    status, out, _ = sorites("show", "LI-24", "--json", "-")
    assert status == 0
    assert json.loads(out)["last verdict"].startswith("holds at tiny")


def test_a_figure_brings_its_data(sorites, tmp_path):
    status, out, _ = sorites("figure", "log-icot/2a", "--scale", "tiny")
    assert status == 0
    for kind in ("png", "pdf", "parquet"):
        assert (tmp_path / "figures" / "log-icot" / f"2a-tiny.{kind}").stat().st_size > 0
    assert "2a-tiny.png" in out
    assert " ".join(all_figures()["log-icot/2a"].caption.split()) in " ".join(out.split())


SMALL = ("--supervision", "teacher-forcing", "--batch", "8", "--steps", "2", "--every", "2", "--seeds", "2")


def test_a_run_ends_with_its_id_and_the_next_command(sorites, tmp_path):
    words = ("run", "--task", "parity", "--model", "gpt", "--layers", "2", "--width", "8", *SMALL, "--store", "own")
    status, out, _ = sorites(*words)
    *_, steps, stored = out.splitlines()
    assert status == 0
    assert steps == "Steps taken, seed by seed: 2, 2."
    id, command = re.fullmatch(r"Seed 0 is stored as (\w+). Next: sorites (.+)", stored).groups()
    assert sorites(*command.split())[0] == 0
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert (config["n_layer"], config["n_embd"]) == (2, 8)
    status, out, _ = sorites(*words, "--json", "-")
    assert [(row["seed"], row["steps"]) for row in json.loads(out)] == [(0, 2), (1, 2)]
    assert json.loads(out)[0]["id"] == id


def test_a_model_without_layers_or_width_refuses_them(sorites):
    for model, flag, allowed in (("gated", "width", "perceptron, gpt, decoder"), ("perceptron", "layers", "gpt")):
        status, _, err = sorites("run", "--task", "parity", "--model", model, f"--{flag}", "4", *SMALL)
        assert status == 2
        assert err == (
            f"sorites: got {flag}=4 for the model '{model}'; allowed for {allowed}; leave it out, or choose one of "
            "these models\n"
        )


@pytest.mark.parametrize("what", ["claims", "figures", "papers", "tasks", "models"])
def test_lists(sorites, what):
    status, out, _ = sorites("list", what, "--json", "-")
    assert status == 0
    assert len(json.loads(out)) > 0


def test_cite(sorites):
    for words in ((), ("LI-14",), ("log-icot/2b",), ("log-icot",)):
        status, out, _ = sorites("cite", *words)
        assert status == 0
        assert out.startswith("@")


FILE = "import sorites as so\ntask = so.Parity(6, 2)\n"
GOOD = (
    FILE + "steps = so.Evaluation(every=2, count=16)\n"
    "run = so.Run(so.gated(task), so.stages(task, so.log_icot(task.layout), so.Sampled(16), so.Adam(0.1), 4, steps))\n"
)


def test_a_file_runs_once_and_is_found_again(sorites, tmp_path):
    (tmp_path / "mine.py").write_text(GOOD)
    status, out, _ = sorites("run", "mine.py", "--seeds", "3", "--json", "-")
    assert status == 0
    assert [row["seed"] for row in json.loads(out)] == [0, 1, 2]
    status, out, _ = sorites("runs", "list", "--json", "-")
    assert len(json.loads(out)) == 1
    sorites("run", "mine.py:run", "--seeds", "3", "--quiet")
    status, again, _ = sorites("runs", "list", "--json", "-")
    assert json.loads(again) == json.loads(out)
    assert sorites("runs", "check")[0] == 0
    status, out, _ = sorites("runs", "query", "select count(*) as n from members", "--json", "-")
    assert json.loads(out) == [{"n": 3}]


BAD = {
    "sparsity not a power of two": (("verify", "LI-14", "--sparsity", "12"), "use 8 or 16"),
    "sparsity above bits": (("verify", "LI-14", "--bits", "8", "--sparsity", "16"), "sparsity=16 > bits=8"),
    "unknown claim": (("verify", "LI-41"), "did you mean 'LI-4'"),
    "unknown claim, other case": (("verify", "li-14"), "did you mean 'LI-14'"),
    "unknown figure": (("figure", "log-icot/2c"), "did you mean 'log-icot/2"),
    "unknown paper": (("verify", "--paper", "log-cot"), "did you mean 'log-icot'"),
    "unknown to show": (("show", "LI-99"), "did you mean"),
    "negative rate": (("verify", "LI-22", "--rate", "-1"), "rate=-1"),
    "zero seeds": (("verify", "LI-14", "--seeds", "0"), "seeds=0"),
    "seeds that are no number": (("verify", "LI-14", "--seeds", "many"), "whole number"),
    "parameter no claim has": (("verify", "LI-1", "--colour", "3"), "no selected claim has the parameter 'colour'"),
    "seeds for an identity": (("verify", "LI-1", "--seeds", "3"), "no selected claim has the parameter 'seeds'"),
    "parameter without value": (("verify", "LI-1", "--bits"), "needs a value"),
    "stray word": (("verify", "LI-1", "--bits", "8", "extra"), "extra"),
    "unwritable store": (("verify", "LI-24", "--store", "/dev/null/x"), "store"),
    "unknown command": (("veryfy",), "invalid choice"),
    "unknown flag": (("list", "claims", "--colour", "3"), "does not know"),
    "no such file": (("run", "missing.py"), "missing.py"),
    "run without a model": (("run", "--task", "parity"), "--model is missing"),
    "run with a misspelt model": (("run", "--task", "parity", "--model", "gatd", "--supervision", "icot"), "'gated'"),
    "run with zero seeds": (
        ("run", "--task", "parity", "--model", "gated", "--supervision", "icot", "--seeds", "0"),
        "at least one seed",
    ),
    "unknown run": (("runs", "show", "abc"), "abc"),
    "runs without what it needs": (("runs", "diff", "a"), "two ids"),
    "bad SQL": (("runs", "query", "select nothing from nowhere"), "query"),
    "no trials": (("verify", "LI-4", "--trials", "0"), "trials=0"),
    "no samples": (("verify", "LI-8", "--samples", "0"), "cannot be checked with samples=0"),
    "strength that is no number": (("verify", "LI-15", "--strength", "nan"), "finite number"),
    "strength beyond floats": (("verify", "LI-15", "--strength", "1000"), "strength=1000"),
    "negative bits": (("verify", "LI-1", "--bits", "-3"), "bits=-3"),
    "sizes without a trend": (("verify", "LI-23", "--sizes", "16,8"), "sizes=(16, 8)"),
    "figure with zero seeds": (("figure", "log-icot/2b", "--seeds", "0"), "seeds=0"),
    "figure with a misspelt list": (("figure", "log-icot/success-map", "--batches", "10,x"), "whole number"),
    "figure without that parameter": (("figure", "log-icot/2a", "--rate", "1"), "no parameter 'rate'"),
    "no processes": (("reproduce", "--jobs", "0"), "jobs=0"),
    "bad scale": (("verify", "LI-1", "--scale", "huge"), "invalid choice"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_sentence(sorites, case):
    words, sentence = BAD[case]
    status, out, err = sorites(*words, "--quiet") if "--quiet" not in words else sorites(*words)
    assert status == 2, (out, err)
    assert sentence in err
    assert "Traceback" not in err
    assert err.strip().count("\n") == 0, err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 / 0\n", "line 1 raised ZeroDivisionError"),
        ("run = 3\n", "must be a Run"),
        ("task = 3\n", "no name in"),
        ("def run():\n    raise KeyError('x')\n", "line 2 raised KeyError"),
        ("def (\n", "SyntaxError"),
    ],
)
def test_a_file_with_a_fault_is_named(sorites, tmp_path, text, words):
    (tmp_path / "mine.py").write_text(text)
    status, _, err = sorites("run", "mine.py")
    assert status == 2
    assert words in err
    assert "Traceback" not in err


def test_options_stand_before_or_after_the_command(sorites, tmp_path):
    assert sorites("--store", "here", "--quiet", "verify", "LI-24", "--scale", "tiny")[0] == 0
    assert (tmp_path / "here" / "verdicts").is_dir()


def test_the_work_is_divided_without_loss():
    work = units(all_claims().values(), all_figures().values())
    assert sorted(id for unit in work for id in unit) == sorted([*all_claims(), *all_figures()])


def test_there_is_a_process_for_every_core_that_there_is_work_for(monkeypatch):
    def machine(cores: int, memory: int) -> None:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(cores), raising=False)
        monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": memory, "SC_PAGE_SIZE": 2**30}.get, raising=False)

    for cores, memory, wanted in ((4, 64, 4), (64, 64, 6), (8, 8, 2), (2, 1, 1)):
        machine(cores, memory)
        assert (processes(None), processes(9)) == (wanted, 9)
    machine(64, 64)
    monkeypatch.setattr("sorites.cli.reproducing.has_accelerator", lambda: True)
    assert (processes(None), processes(2)) == (1, 2)


def test_workers_bring_their_verdicts_to_one_store(tmp_path):
    out, news = tmp_path / "page", []
    setting = SimpleNamespace(judge=judged, scale="tiny", overrides={}, store=str(tmp_path), quiet=True, out=str(out))
    finish([["LI-1"], ["LI-10", "log-icot/2a"]], setting, jobs=2, tell=news.append)
    told = {what: [id for each, id, _ in news if each == what] for what, _, _ in news}
    assert sorted(told["started"]) == sorted(told["finished"]) == ["LI-1", "LI-10", "log-icot/2a"]
    assert (out / "figures" / "log-icot" / "2a-tiny-dark.png").stat().st_size > 0
    assert {record["id"] for record in Store(tmp_path).verdicts()} == {"LI-1", "LI-10"}
    assert list((tmp_path / "figures" / "log-icot" / "2a").iterdir())


def test_a_truncated_file_loses_nothing_else(sorites, tmp_path):
    (tmp_path / "mine.py").write_text(GOOD)
    sorites("run", "mine.py", "--seeds", "1", "--quiet")
    sorites("verify", "LI-24", "--scale", "tiny", "--quiet")
    (model,) = (tmp_path / "sorites-store").rglob("model.safetensors")
    model.write_bytes(model.read_bytes()[:20])
    status, out, _ = sorites("runs", "check", "--json", "-")
    assert status == 1
    assert "model.safetensors" in json.dumps(json.loads(out))
    with pytest.warns(UserWarning, match="damaged"):
        assert sorites("run", "mine.py", "--seeds", "1", "--quiet")[0] == 0  # trained again beside it
    assert "holds" in sorites("show", "LI-24")[1]


def test_help_is_quick():
    """Under half a second of CPU time: no numeric package is imported."""
    code = "import resource, sys\nfrom sorites.cli.main import main\n"
    code += "try: main(['--help'])\nexcept SystemExit: pass\n"
    code += (
        "used = resource.getrusage(resource.RUSAGE_SELF)\nprint(used.ru_utime + used.ru_stime, 'jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, jax = done.stdout.split()[-2:]
    assert jax == "False"
    assert float(seconds) < 0.5


TINY = ["reproduce", "--scale", "tiny", "--quiet", "--jobs", "1"]


def test_a_killed_reproduction_goes_on_where_it_was(tmp_path):
    """Kill -9 in the middle; the second start keeps every verdict of the first and finishes the page."""
    paper = papers()["log-icot"]
    few = {id: paper.claims()[id] for id in ("LI-1", "LI-24", "LI-15", "LI-10", "LI-16")}
    program = (
        "import sys\nfrom sorites.papers.paper import Paper\nfrom sorites.papers.registry import papers\n"
        "from sorites.cli.main import main\n"
        f"claims = papers()['log-icot'].claims()\nfew = {{id: claims[id] for id in {list(few)!r}}}\n"
        "figures = {'log-icot/2a': papers()['log-icot'].figures()['log-icot/2a']}\n"
        "Paper.claims = lambda self: few if self.slug == 'log-icot' else {}\n"
        "Paper.figures = lambda self: figures if self.slug == 'log-icot' else {}\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    words = [sys.executable, "-c", program, *TINY, "--out", "page", "--store", "kept"]
    child = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(list((tmp_path / "kept").rglob("verdicts/*/*.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    child.kill()
    child.wait()
    first = {path: path.read_bytes() for path in (tmp_path / "kept").rglob("verdicts/*/*.json")}
    assert len(first) >= 2
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("index.html")
    after = {path: path.read_bytes() for path in (tmp_path / "kept").rglob("verdicts/*/*.json")}
    assert {path: after[path] for path in first} == first
    assert len(after) == len(few)  # nothing judged twice
    page = (tmp_path / "page" / "index.html").read_text()
    assert all(f'id="{id}"' in page for id in few)
