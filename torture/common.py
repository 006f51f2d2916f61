"""What the tortures share: arguments, cores, processes, and a record that grows as it goes.

A case is done once: its row is appended to STATE/NAME.jsonl when it ends, whatever ends the rest. The same command goes
on where it was stopped, another seed adds other cases, and the files of two machines can be joined end to end.
"""

import argparse
import contextlib
import importlib.metadata
import json
import os
import platform
import queue
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("sorites", "jax", "jaxlib", "numpy", "equinox", "optax", "polars", "hypothesis", "pytest")
CHILDREN: set[int] = set()  # sessions that end with this process
Row = dict[str, Any]


def arguments(description: str | None, count: int, cases: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=count, help=f"{cases}, default {count}")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other cases")
    parser.add_argument("--minutes", type=float, default=60, help="then stop, and go on another time; default 60")
    parser.add_argument("--jobs", type=int, default=1, help="processes, one core each; default 1")
    parser.add_argument("--state", type=Path, default=Path("torture-state"), help="where a run is gone on with")
    parser.add_argument("--out", type=Path, help="the record, default STATE/NAME.json")
    return parser


class Rows:
    """The finished cases of one torture."""

    def __init__(self, path: Path):
        self.path, self._lock = path, threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text().splitlines() if path.exists() else []
        self.rows: list[Row] = [row for row in map(_parsed, lines) if row is not None]

    @property
    def done(self) -> set[str]:
        return {row["case"] for row in self.rows}

    def add(self, row: Row) -> None:
        with self._lock, self.path.open("a") as file:
            self.rows.append(row)
            file.write(json.dumps(row) + "\n")


def _parsed(line: str) -> Row | None:
    try:
        return json.loads(line)
    except ValueError:  # a kill in the middle of a line
        return None


def work(cases: Iterable[Any], do: Callable[[Any], Row | None], options: Any) -> None:
    """`do` every case, so many at a time, each thread and its processes on a core of its own, until time is up."""
    signal.signal(signal.SIGTERM, _end)
    deadline, waiting = time.monotonic() + 60 * options.minutes, queue.SimpleQueue()
    cores = sorted(os.sched_getaffinity(0))
    for case in cases:
        waiting.put(case)

    def take(number: int) -> None:
        if options.jobs > 1:
            os.sched_setaffinity(0, {cores[number % len(cores)]})  # of this thread, and of what it starts
        while time.monotonic() < deadline:
            try:
                case = waiting.get_nowait()
            except queue.Empty:
                return
            do(case)

    with ThreadPoolExecutor(options.jobs) as pool:
        for each in [pool.submit(take, number) for number in range(options.jobs)]:
            each.result()


def _end(number: int, frame: Any) -> None:
    for child in list(CHILDREN):
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)
    os._exit(128 + number)


def run(words: list[str], limit: float, folder: Path, **environment: str) -> tuple[int | None, str, float]:
    """Status (None: it ran past the limit and was killed with all its children), what it said, seconds."""
    begun = time.monotonic()
    child = subprocess.Popen(
        words, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
    )  # fmt: skip
    CHILDREN.add(child.pid)
    try:
        said, _ = child.communicate(timeout=limit)
        return child.returncode, said, time.monotonic() - begun
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        said, _ = child.communicate()
        return None, said, time.monotonic() - begun
    finally:
        CHILDREN.discard(child.pid)


def rows_of(words: list[str], folder: Path, options: Any, hang: float = 60.0) -> Iterator[Row]:
    """Rows from a worker in a folder of its own. It writes {"begin": row} before each; where it then says nothing for
    so long, or dies, that row has failed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    reading, writing = os.pipe()
    told = {"ROWS": str(writing), "SORITES_CACHE": cache(options), "JAX_PLATFORMS": "cpu"}
    with (folder / "worker.log").open("w") as log:
        child = subprocess.Popen(
            words, cwd=folder, env={**os.environ, **told}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            pass_fds=[writing], start_new_session=True,
        )  # fmt: skip
    os.close(writing)
    CHILDREN.add(child.pid)
    begun, why, left = None, "", b""
    while True:
        ready, _, _ = select.select([reading], [], [], hang if begun else 10 * hang)
        part = os.read(reading, 1 << 16) if ready else b""
        if not part:
            why = "" if ready else f"hangs beyond {hang:.0f} s"
            break
        *lines, left = (left + part).split(b"\n")
        for row in map(json.loads, lines):
            begun = row.get("begin")
            if begun is None:
                yield row
    os.close(reading)
    if why:
        os.killpg(child.pid, signal.SIGKILL)
    status = child.wait()
    CHILDREN.discard(child.pid)
    said = (folder / "worker.log").read_text(errors="replace")[-1500:]
    if why or status != 0:
        row = begun or {"case": f"{folder.name}-worker", "kind": "worker"}
        yield {**row, "outcome": "FAILED", "why": f"{why or f'the worker ended with {status}'}: {said}"}
    else:
        shutil.rmtree(folder)


def cache(options: Any) -> str:
    """Where compiled programs are kept: one place for all processes."""
    return os.environ.get("SORITES_CACHE") or str(options.state / "cache")


def alive(mark: str) -> list[int]:
    """Processes with this in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def about() -> Row:
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = None
    asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return {
        "commit": asked.stdout.strip() or os.environ.get("COMMIT"),  # a copy without its history is told
        "command": " ".join(["python", *sys.argv]),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "versions": versions,
    }


def report(options: Any, rows: Rows, failures: list[Row], **more: Any) -> int:
    """Print the counts and the failures, write the record; the status is 1 where anything failed."""
    name = rows.path.stem
    counts = dict(sorted(Counter(f"{row['kind']}: {row['outcome']}" for row in rows.rows).items()))
    for what, number in counts.items():
        print(f"{number:6}  {what}")
    print(f"{len(rows.rows):6}  cases of {name}, {len(failures)} failures")
    for row in failures[:20]:
        print("FAILURE", json.dumps(row)[:2000])
    record = {**about(), "cases": len(rows.rows), "counts": counts, "failures": failures, **more}
    out = options.out or options.state / f"{name}.json"
    out.write_text(json.dumps(record, indent=1) + "\n")
    return 1 if failures else 0
