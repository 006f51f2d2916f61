"""The playground: its fixtures are the library's numbers, its claims the ledger's, its bundle what sources build."""

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from sorites.cli import play_command
from sorites.cli.main import main
from sorites.errors import SpecError
from sorites.papers import registry

ROOT = Path(__file__).parents[2]
HERE = ROOT / "playground"
BUNDLE = ROOT / "src" / "sorites" / "playground"
EXHIBITS = ("log-icot", "rl-sft", "kim-suzuki", "lego")
FILES = {"index.html", "playground.js", "playground.css"}
NODE = shutil.which("node") is not None and (HERE / "node_modules").is_dir()
with_node = pytest.mark.skipif(not NODE, reason="node or playground/node_modules is missing: run 'make playground'")


def exported(name: str) -> Any:
    return json.loads((HERE / "fixtures" / f"{name}.json").read_text())


def imported(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def numbers_apart(first: Any, second: Any) -> float:
    """The largest difference of two exports; everything that is no float must be equal."""
    if isinstance(first, dict):
        assert first.keys() == second.keys()
        return max((numbers_apart(first[key], second[key]) for key in first), default=0.0)
    if isinstance(first, list) and first and isinstance(first[0], float):
        return float(np.abs(np.array(first) - np.array(second)).max())
    if isinstance(first, list):
        assert len(first) == len(second)
        return max((numbers_apart(*pair) for pair in zip(first, second, strict=True)), default=0.0)
    if isinstance(first, float):
        return abs(first - second)
    assert first == second
    return 0.0


@pytest.fixture
def recorded(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    return imported("recorded")


@pytest.mark.parametrize("name", [name for name in EXHIBITS if name != "rl-sft"])
def test_fixtures_are_the_librarys_numbers(name, recorded):
    fresh = json.loads(json.dumps(imported("fixtures").FIXTURES[name](), default=str))
    assert numbers_apart(fresh, exported(name)) < 1e-9


def test_sampled_fixtures_are_the_librarys_numbers(tmp_path):
    """A drawn bit turns with the rounding of other kernels, so these are compiled as they were."""
    environment = os.environ | {"XLA_FLAGS": "--xla_backend_optimization_level=0"}
    subprocess.run([sys.executable, HERE / "fixtures.py", "--out", tmp_path, "rl-sft"], check=True, env=environment)
    assert numbers_apart(json.loads((tmp_path / "rl-sft.json").read_text()), exported("rl-sft")) < 1e-9


def test_an_export_that_differs_is_noticed():
    one = {"losses": [1.0, 2.0], "secret": [1, 2]}
    assert numbers_apart(one, {"losses": [1.0, 2.5], "secret": [1, 2]}) == 0.5
    with pytest.raises(AssertionError):
        numbers_apart(one, {"losses": [1.0, 2.0], "secret": [1, 3]})


def test_claims_and_domains_are_the_ledgers(recorded):
    assert exported("claims") == recorded.claims()
    assert exported("filter-range") == recorded.filter_range()


def test_every_shown_claim_has_a_recorded_verdict(recorded):
    verdicts, known = exported("verdicts"), registry.claims()
    shown = {id for ids in recorded.CLAIMS.values() for id in ids}
    assert verdicts.keys() == shown
    assert {id: found["verdict"] for id, found in verdicts.items()} == {id: known[id].expected for id in shown}
    assert {id: found["says"] for id, found in verdicts.items()} == {id: known[id].says for id in shown}
    assert list(recorded.verdicts(sorted(shown), verdicts)) == []  # what was judged is not judged again


def test_the_bundle_is_small_and_asks_nobody():
    assert {path.name for path in BUNDLE.iterdir()} == FILES
    assert sum(path.stat().st_size for path in BUNDLE.iterdir()) < 300_000
    text = "".join(path.read_text() for path in BUNDLE.iterdir())
    assert set(re.findall(r"https?://[^\"'`\\ ]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert "connect-src 'none'" in (BUNDLE / "index.html").read_text()


def test_play_serves_the_bundle_on_loopback_alone():
    with play_command.serve(0) as server:
        host, port = server.server_address[:2]
        assert host == "127.0.0.1"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name in FILES:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{name}") as answer:
                assert answer.read() == (BUNDLE / name).read_bytes()
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/../cli/main.py")
        with pytest.raises(SpecError, match=f"needs a free port: port={port}"):
            play_command.serve(int(port))
        server.shutdown()


def test_a_port_that_is_none_gets_a_sentence(capsys):
    assert main(["play", "--port", "70000"]) == 2
    assert "a port is a number from 0 to 65535: port=70000; use 0" in capsys.readouterr().err


def test_ctrl_c_closes_the_playground():
    command = [sys.executable, "-m", "sorites.cli.main", "play", "--no-browser", "--json", "-"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = ""
    while "}" not in said:
        said += process.stdout.readline()
    with urllib.request.urlopen(json.loads(said)["url"]) as answer:
        assert b"sorites" in answer.read()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (130, "sorites: the playground is closed\n")


def run(*command: str) -> str:
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@with_node
def test_the_sources_pass_their_types_and_lint_and_tests():
    run("node", "node_modules/typescript/bin/tsc", "--noEmit")
    run("node", "node_modules/eslint/bin/eslint.js", ".")
    run("node", "tests/run.mjs")


@with_node
def test_the_lint_sees_what_it_should():
    command = ["node", "node_modules/eslint/bin/eslint.js", "--stdin", "--stdin-filename", "src/page/link.ts"]
    text = "export function f(x: any): boolean {\n  Promise.resolve(x);\n  return x == 1;\n}\n"
    done = subprocess.run(command, cwd=HERE, input=text, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    assert {"no-explicit-any", "no-floating-promises", "eqeqeq"} <= set(
        re.findall(r"[a-z-]+$", done.stdout, re.MULTILINE)
    )


@with_node
def test_a_rebuild_gives_the_same_bytes(tmp_path):
    run("node", "build.mjs", str(tmp_path))
    assert {name: (tmp_path / name).read_bytes() for name in FILES} == {
        name: (BUNDLE / name).read_bytes() for name in FILES
    }


@with_node
@pytest.mark.parametrize("name", EXHIBITS)
def test_show_me_the_python_runs(name, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(json.loads(run("node", "tests/python.mjs"))[name])
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") >= 2
