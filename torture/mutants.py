"""Faults in the numerical core, drawn by a seed: each applied alone, and the tests that reach it must see it.

    python torture/mutants.py --count 80 --seed 0 --jobs 16 --minutes 9     # again, until nothing is left to do
    python torture/mutants.py --audit                                       # the faults that an audit once made
    python torture/mutants.py --list                                        # what has survived so far

First every test file runs once as it is, which tells which functions it calls. A fault is then shown to the files that
call its function: the mirrored folder first, then the others, quickest first. A test that fails, hangs or crashes is a
death. A survivor is given its reason in torture/survivors.md, by its case, or a test that kills it.
"""

import hashlib
import json
import os
import random
import re
import shutil
import sys
import threading
import uuid
from pathlib import Path
from typing import Any

from common import ROOT, Row, Rows, arguments, cache, report, run, work
from faults import AUDIT
from sites import Site, sites

FOLDERS = ("theory", "statistics", "tasks", "models", "supervision", "probes", "training", "store")
PROSE = {"store/catalogue.py", "store/origin.py", "training/progress.py"}  # what people read
APART = ("test_readme.py", "test_imports.py", "cli/", "report/", "drawing/", "torture/", "docs/test_re")
ALWAYS = "test_mutants.py"  # written against such faults: shown first
HERE = threading.local()


def main() -> int:
    parser = arguments(__doc__, 80, "faults")
    parser.add_argument("--limit", type=float, default=300, help="seconds of tests for one fault, default 300")
    parser.add_argument("--tests", default="", help="only test files whose path contains one of these, comma between")
    parser.add_argument("--files", default="", help="only faults in files whose path contains one of these")
    parser.add_argument("--audit", action="store_true", help="the faults of the audit whose code still stands")
    parser.add_argument("--again", action="store_true", help="show the survivors once more, after new tests")
    parser.add_argument("--list", action="store_true", help="print the survivors and leave")
    options = parser.parse_args()
    options.state = options.state.resolve()
    rows = Rows(options.state / "mutants.jsonl")
    if not options.list:
        files = reach(options)
        wanted = faults(options)
        latest = {row["case"]: row["outcome"] for row in rows.rows}
        known = {case for case, outcome in latest.items() if outcome == "died" or not options.again}
        left = [each for each in wanted if each["case"] not in known]
        print(f"{len(wanted)} faults, {len(wanted) - len(left)} already tried, {len(files)} test files", flush=True)
        work(left, lambda fault: rows.add(show(fault, files, options)), options)
        shutil.rmtree(options.state / "scratch", ignore_errors=True)
    return conclude(options, rows)


def conclude(options: Any, rows: Rows) -> int:
    """The latest word on every fault; those explained are counted apart."""
    latest = {row["case"]: row for row in rows.rows}
    rows.rows = [row for row in latest.values() if (row["kind"] == "audit") == options.audit]
    explained = set(re.findall(r"`([0-9a-f]{10})`", (ROOT / "torture" / "survivors.md").read_text()))
    lived = [row for row in rows.rows if row["outcome"] != "died"]
    same = [row for row in lived if row["case"] in explained]
    died, tried = len(rows.rows) - len(lived), len(rows.rows)
    share = died / tried if tried else 0.0
    for row in lived:
        mark = "explained" if row["case"] in explained else "SURVIVOR"
        print(f"{mark} {row['case']} {row['file']}:{row['line']} {row['function']}: {row['old']} -> {row['new']}")
    print(f"{died} of {tried} died ({share:.1%}); {len(same)} survivors are explained in torture/survivors.md")
    unexplained = [row for row in lived if row["case"] not in explained]
    more = {"died": died, "tried": tried, "share": share, "explained": [row["case"] for row in same]}
    options.out = options.out or (options.state / "audit.json" if options.audit else None)
    report(options, rows, unexplained, survivors=lived, **more)
    return 0 if share >= 0.95 or not unexplained else 1


def faults(options: Any) -> list[Row]:
    """The audit's, or as many as asked for, drawn from all."""
    source, chosen = ROOT / "src" / "sorites", [word for word in options.files.split(",") if word]
    if options.audit:
        named = [each for each in AUDIT if not chosen or any(word in each[0] for word in chosen)]
        return [fault for each in named if (fault := _audit(*each)) is not None]
    every: list[Site] = []
    for folder in FOLDERS:
        for path in sorted((source / folder).glob("*.py")):
            name = str(path.relative_to(source))
            if name not in PROSE and (not chosen or any(word in name for word in chosen)):
                every += sites(path, name)
    drawn = random.Random(options.seed).sample(every, min(options.count, len(every)))
    return [
        {
            "case": site.case, "kind": site.kind, "file": site.file, "line": site.line, "function": site.function,
            "old": site.old, "new": site.new, "start": site.start, "seed": options.seed,
        }
        for site in drawn
    ]  # fmt: skip


def _audit(file: str, old: str, new: str) -> Row | None:
    source = (ROOT / "src" / "sorites" / file).read_bytes()
    if source.count(old.encode()) != 1:
        print(f"audit: {file} has no single {old!r} any more")
        return None
    start = source.index(old.encode())
    case = hashlib.sha256(f"audit {file} {old} {new}".encode()).hexdigest()[:10]
    line = source[:start].count(b"\n") + 1
    return {"case": case, "kind": "audit", "file": file, "line": line, "function": "<module>", "old": old, "new": new,
            "start": start, "seed": -1}  # fmt: skip


def reach(options: Any) -> list[Row]:
    """The test files that pass as they are, with the functions they call."""
    rows, words = Rows(options.state / "reach.jsonl"), [word for word in options.tests.split(",") if word]
    state = fingerprint()
    known = {row["case"]: row for row in rows.rows if row["state"] == state}
    names = [str(path.relative_to(ROOT / "tests")) for path in sorted((ROOT / "tests").rglob("test_*.py"))]
    names = [name for name in names if not name.startswith(APART)]
    names = [name for name in names if name == ALWAYS or not words or any(word in name for word in words)]

    def look(name: str) -> None:
        place = scratch(options)
        found = place / "reached.json"
        found.unlink(missing_ok=True)
        told = environment(options) | {"REACHED": str(found)}
        status, said, seconds = run(pytest(name, "-p", "reached"), 2 * options.limit, place, **told)
        reached = json.loads(found.read_text()) if status == 0 and found.exists() else []
        print(f"{name}: {'passes' if status == 0 else f'status {status}, left out'}, {seconds:.0f} s", flush=True)
        if status not in (0, None):
            print("\n".join(said.splitlines()[-15:]), flush=True)
        rows.add({"case": name, "state": state, "status": status, "seconds": seconds, "reached": reached})

    work([name for name in names if name not in known], look, options)
    found = {row["case"]: row for row in rows.rows if row["state"] == state and row["case"] in names}
    return [row for row in found.values() if row["status"] == 0]


def show(fault: Row, files: list[Row], options: Any) -> Row:
    """Apply it, run the tests that call it until one of them sees it, take it back."""
    place = scratch(options)
    path = place / "src" / "sorites" / fault["file"]
    source = path.read_bytes()
    end = fault["start"] + len(fault["old"].encode())
    assert source[fault["start"] : end] == fault["old"].encode(), "the source was edited since the fault was drawn"
    path.write_bytes(source[: fault["start"]] + fault["new"].encode() + source[end:])
    _renew(path)
    spent, tried, outcome, by = 0.0, [], "survived", ""
    try:
        for row in _order(fault, files):
            limit = min(3 * row["seconds"] + 30, options.limit)
            if spent >= options.limit:
                tried.append("out of time")
                break
            status, said, seconds = run(pytest(row["case"]), limit, place, **environment(options))
            spent += seconds
            tried.append(row["case"])
            if status != 0:
                outcome, by = "died", f"{row['case']}: {_reason(status, said)}"
                break
    finally:
        path.write_bytes(source)
        _renew(path)
    if not tried:
        outcome = "unreached"
    print(
        f"{outcome:9} {spent:4.0f} s  {fault['file']}:{fault['line']} {fault['old']} -> {fault['new']}  {by}",
        flush=True,
    )
    return {**fault, "outcome": outcome, "by": by, "tried": tried, "seconds": round(spent, 1)}


def _order(fault: Row, files: list[Row]) -> list[Row]:
    """Those that call the function (outside of any: a function of the file), the mirrored folder first, then the
    quickest."""
    file, folder = fault["file"], fault["file"].split("/")[0]
    name = f"{file}:" if fault["function"] == "<module>" else f"{file}:{fault['function']}"
    called = [row for row in files if any(each == name or (name[-1] == ":" and each.startswith(name)
              and not each.endswith(">")) for each in row["reached"])]  # fmt: skip
    if not called and fault["function"] == "<module>":
        called = files
    return sorted(called, key=lambda row: (row["case"] != ALWAYS, not row["case"].startswith(folder), row["seconds"]))


def _reason(status: int | None, said: str) -> str:
    if status is None:
        return "hangs"
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)
    return failed[0].rpartition("/")[2] if failed else f"status {status}"


def pytest(name: str, *more: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", *more,
            f"tests/{name}"]  # fmt: skip


def environment(options: Any) -> dict[str, str]:
    """The copy's source on one processor; unchanged programs come from one cache."""
    paths = [str(scratch(options) / "src"), str(ROOT / "torture"), os.environ.get("PYTHONPATH", "")]
    found = {"PYTHONPATH": os.pathsep.join(paths), "JAX_PLATFORMS": "cpu"}
    return found | {"SORITES_CACHE": cache(options)}


def scratch(options: Any) -> Path:
    """A copy of source and tests for this thread, made anew for every run."""
    if not hasattr(HERE, "place"):
        HERE.place = options.state / "scratch" / uuid.uuid4().hex[:8]
        HERE.place.mkdir(parents=True)
        for name in ("src", "tests", "examples"):
            shutil.copytree(ROOT / name, HERE.place / name, ignore=shutil.ignore_patterns("__pycache__", ".hypothesis"))
        for name in ("pyproject.toml", "README.md", "docs", "results"):
            (HERE.place / name).symlink_to(ROOT / name)
    return HERE.place


def _renew(path: Path, clock: list[int] = [1_000_000_000]) -> None:  # noqa: B006  (one clock for all)
    """A time that no compiled file remembers: two edits within a second would look like one."""
    clock[0] += 2
    os.utime(path, (clock[0], clock[0]))


def fingerprint() -> str:
    digest = hashlib.sha256()
    for folder in ("src", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    raise SystemExit(main())
