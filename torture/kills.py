"""Three writers on one store, killed at any moment, begun again, and in the end nothing is lost, changed or twice.

    python torture/kills.py --count 1000 --jobs 16 --minutes 9

An arena is one store. `run`, `reproduce --scale tiny` and a group that notes a checkpoint after every chunk write to it
at the same time; each is killed (SIGKILL) again and again, half of the times at a random moment, half of the times just
after something was written. Then each is left to end, and the store is compared with those of writers that nobody
disturbed: every member there once, with the same history and weights; every verdict and figure; `runs check` clean.
"""

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from common import ROOT, Row, Rows, alive, arguments, cache, report, run, work

SORITES = [sys.executable, "-m", "sorites.cli.main"]
WRITERS = {
    "run": [*SORITES, "run", "--task", "parity", "--model", "gated", "--supervision", "log-icot", "--steps", "60",
            "--every", "4", "--batch", "64", "--seeds", "192", "--quiet", "--store", "store"],
    "reproduce": [*SORITES, "reproduce", "--scale", "tiny", "--jobs", "2", "--quiet", "--out", "page",
                  "--store", "store"],
    "group": [sys.executable, str(Path(__file__).resolve()), "--writer"],
}  # fmt: skip
WATCHED = ("partial", "members", "checkpoints", "running", "verdicts", "figures")
TOLERANCE = 1e-4  # of members whose company differs from that of the undisturbed: together they agree to rounding
LONGEST = 20  # seconds until a kill: what was finished before the last one is found, so the work still comes to its end
LIMIT = 400  # seconds for a writer that nobody kills


def main() -> int:
    parser = arguments(__doc__, 1000, "kills")
    parser.add_argument("--each", type=int, default=10, help="kills of one writer in one arena, at most; default 10")
    parser.add_argument("--paper", default="log-icot", help="what is reproduced, default log-icot")
    parser.add_argument("--writers", default=",".join(WRITERS), help="which of them, comma between; default all three")
    parser.add_argument("--steps", type=int, default=400, help="of a stage of the group, default 400")
    parser.add_argument("--writer", action="store_true", help="be the group with checkpoints, in ./store")
    options = parser.parse_args()
    if options.writer:
        return write_group(options.steps)
    WRITERS["group"] += ["--steps", str(options.steps)]
    WRITERS["reproduce"] += ["--paper", options.paper]
    for name in {*WRITERS} - {*options.writers.split(",")}:
        del WRITERS[name]
    options.state = options.state.resolve()
    rows = Rows(options.state / "kills.jsonl")
    undisturbed = alone(options)

    def fight(case: str) -> None:
        if case not in rows.done and sum(row["kills"] for row in rows.rows) < options.count:
            rows.add(arena(case, undisturbed, options))

    work([f"{options.seed}-{number}" for number in range(options.count)], fight, options)
    kills = sum(row["kills"] for row in rows.rows)
    sums = {name: sum(row[name] for row in rows.rows) for name in ("kills", "members", "exact", "left")}
    print(f"{kills} kills of {options.count} in {len(rows.rows)} arenas; {sums['members']:,} members compared, "
          f"{sums['exact']:,} equal to the last bit, {sums['left']} unfinished writes left behind")  # fmt: skip
    return report(options, rows, [row for row in rows.rows if row["outcome"] != "whole"], **sums)


def write_group(steps: int) -> int:
    """A group whose training takes many chunks, with a checkpoint after each."""
    import sorites as so
    from sorites.training import checkpoint

    checkpoint.EVERY = 0.0
    task = so.Parity(bits=8, sparsity=4)
    evaluation = so.Evaluation(every=1, count=64)
    plan = so.stages(task, so.log_icot(task.layout), so.Sampled(2000), so.Adam(0.001), steps, evaluation)
    so.Store("store").train(so.Run(so.gated(task), plan), range(16), group=8)
    return 0


def alone(options: Any) -> dict[str, Any]:
    """What each writer makes in a store of its own; made once for one source."""
    digest = hashlib.sha256(Path(__file__).read_bytes() + f"{options.paper} {options.steps}".encode())
    for path in sorted((ROOT / "src").rglob("*.py")):
        digest.update(path.read_bytes())
    place = options.state / f"undisturbed-{digest.hexdigest()[:12]}"

    def once(name: str) -> float:
        folder = place / name
        told = folder / "seconds.json"
        if not told.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            status, said, spent = run(WRITERS[name], LIMIT, folder, **environment(options, folder))
            if status != 0:
                raise SystemExit(f"{name} does not run even undisturbed (status {status}):\n{said[-2000:]}")
            told.write_text(json.dumps(spent))
        return json.loads(told.read_text())

    with ThreadPoolExecutor(min(options.jobs, len(WRITERS))) as pool:
        seconds = dict(zip(WRITERS, pool.map(once, WRITERS), strict=True))
    print("undisturbed:", ", ".join(f"{name} {spent:.0f} s" for name, spent in seconds.items()), flush=True)
    return {"place": place, "seconds": seconds}


def environment(options: Any, folder: Path) -> dict[str, str]:
    return {"JAX_PLATFORMS": "cpu", "SORITES_CACHE": cache(options), "ARENA": str(folder)}


def arena(case: str, undisturbed: dict[str, Any], options: Any) -> Row:
    folder = options.state / "arenas" / case
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    kills: dict[str, int] = dict.fromkeys(WRITERS, 0)
    problems: list[str] = []

    def torment(name: str) -> None:
        luck = random.Random(f"{case} {name}")
        for _ in range(options.each):
            if not kill_once(name, undisturbed["seconds"][name], luck, folder, options, problems):
                return
            kills[name] += 1

    threads = [threading.Thread(target=torment, args=(name,)) for name in WRITERS]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    problems += orphans(folder)
    for name, words in WRITERS.items():
        status, said, _ = run(words, LIMIT, folder, **environment(options, folder))
        if status != 0 or "Traceback" in said:
            problems.append(f"{name} ends with {status} after the kills: {said[-1000:]}")
    found = compare(folder / "store", [undisturbed["place"] / name / "store" for name in WRITERS])
    left = leftovers(folder / "store")
    status, said, _ = run([*SORITES, "runs", "check", "--json", "-", "--store", "store"], 120, folder)
    problems += found["problems"] + ([] if status == 0 else [f"runs check: {said[-1000:]}"])
    if not problems:
        shutil.rmtree(folder)
    counts = {"members": found["members"], "exact": found["exact"], "left": left}
    row = {
        "case": case,
        "kind": "arena",
        "outcome": "whole" if not problems else "damaged",
        "kills": sum(kills.values()),
    }
    print(f"{row['outcome']} {case}: {kills}, {counts} {problems}", flush=True)
    return row | {"by": kills, "problems": problems, **counts}


def kill_once(name: str, usual: float, luck: random.Random, folder: Path, options: Any, problems: list[str]) -> bool:
    """Begin the writer and kill it; false if it ended first."""
    seen = stored(folder)
    told = {**os.environ, **environment(options, folder)}
    with (folder / f"{name}.log").open("w") as log:
        child = subprocess.Popen(WRITERS[name], cwd=folder, env=told, stdout=log, stderr=log)
    if luck.random() < 0.5:
        moment, changes = luck.uniform(0, min(3 * usual, LONGEST)), 0  # three share a core
    else:
        moment, changes = LIMIT, luck.randint(1, 12)
    begun, last = time.monotonic(), times(folder)
    while child.poll() is None and time.monotonic() - begun < moment:
        time.sleep(0.002)
        if changes and (now := times(folder)) != last:
            last, changes = now, changes - 1
            if not changes:
                time.sleep(luck.expovariate(200))
                break
    killed = child.poll() is None
    if killed:
        child.kill()
    child.wait()
    if not killed and child.returncode != 0:
        problems.append(
            f"{name} ended by itself with {child.returncode}: {(folder / f'{name}.log').read_text()[-1000:]}"
        )
    if "Traceback" in (folder / f"{name}.log").read_text():
        problems.append(f"{name}: {(folder / f'{name}.log').read_text()[-1500:]}")
    if lost := seen - stored(folder):
        problems.append(f"{name}: lost {sorted(lost)}")
    return killed


def times(folder: Path) -> list[int]:
    """When each part of the store last had a name added or taken away."""
    found = []
    for name in WATCHED:
        try:
            found.append((folder / "store" / name).stat().st_mtime_ns)
        except OSError:
            found.append(0)
    return found


def stored(folder: Path) -> set[str]:
    """What a reader may count on from now on."""
    store = folder / "store"
    found = [*store.glob("members/*"), *store.glob("verdicts/*/*"), *store.glob("figures/*/*/*")]
    return {str(path.relative_to(store)) for path in found if path.suffix != ".part"}


def orphans(folder: Path) -> list[str]:
    deadline = time.monotonic() + 10
    while (left := alive(f"ARENA={folder}")) and time.monotonic() < deadline:
        time.sleep(0.2)
    return [f"processes left after ten seconds: {left}"] if left else []


def leftovers(store: Path) -> int:
    """Unfinished writes, removed as `runs check` tells one to."""
    found = [*store.glob("partial/*"), *store.glob("figures/*/*/*.part"), *store.glob("verdicts/*/*.part")]
    for path in found:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return len(found)


def compare(store: Path, undisturbed: list[Path]) -> dict[str, Any]:
    problems, exact, expected = [], 0, {}
    for root in undisturbed:
        expected |= contents(root, problems)
    found = contents(store, problems)
    for id, (history, arrays) in expected.items():
        if id not in found:
            problems.append(f"member {id} is not there")
            continue
        if _same(history, found[id][0], 0) and _same(arrays, found[id][1], 0):
            exact += 1
        elif not (_same(history, found[id][0], TOLERANCE) and _same(arrays, found[id][1], TOLERANCE)):
            problems.append(f"member {id} is another one")
    if left := list((store / "checkpoints").glob("*")):
        problems.append(f"checkpoints of trainings that have ended: {[path.name for path in left]}")
    mine, theirs = verdicts(store), {id: said for root in undisturbed for id, said in verdicts(root).items()}
    problems += [
        f"verdict on {id}: {mine.get(id)} instead of {said}" for id, said in theirs.items() if mine.get(id) != said
    ]
    return {"members": len(expected), "exact": exact, "problems": problems}


def contents(root: Path, problems: list[str]) -> dict[str, tuple[dict, dict]]:
    """Every member's history and arrays."""
    import io

    import polars as pl
    from safetensors.numpy import load

    from sorites.store import Store
    from sorites.store.folder import ARRAYS, MODEL

    found: dict[str, tuple[dict, dict]] = {}
    for folder in Store(root).folders():
        tables = pl.DataFrame()
        if folder.has_tables:
            tables = pl.read_parquet(io.BytesIO(folder.read("history.parquet")))
        arrays = load(folder.read(MODEL if folder.has_models else ARRAYS))
        for row, id in enumerate(folder.ids):
            if id in found:
                problems.append(f"member {id} is in {root} twice")
            mine = tables.filter(pl.col("member") == id) if folder.has_tables else tables
            metrics = [name for name in mine.columns if name not in ("member", "seed", "stage", "step")]
            mine = (
                mine.filter(~pl.all_horizontal(pl.col(metrics).is_null() | pl.col(metrics).is_nan()))
                if metrics
                else mine
            )
            columns = {name: mine[name].to_numpy() for name in mine.columns if name != "member"}
            own = {name: each[row] for name, each in arrays.items()} if folder.has_models else arrays
            found[id] = columns, own
    return found


def _same(first: dict, second: dict, tolerance: float) -> bool:
    import numpy as np

    def close(a: Any, b: Any) -> bool:
        if a.shape != b.shape:
            return False
        if not tolerance:
            return a.tobytes() == b.tobytes()
        return bool(np.allclose(a.astype(float), b.astype(float), rtol=tolerance, atol=tolerance, equal_nan=True))

    return first.keys() == second.keys() and all(close(first[name], second[name]) for name in first)


def verdicts(root: Path) -> dict[str, str]:
    """The latest on each claim, without what depends on the clock."""
    from sorites.store import Store

    return {record["id"]: record["verdict"] for record in Store(root).verdicts()}


if __name__ == "__main__":
    raise SystemExit(main())
