"""A sweep on two worker processes of a Ray that the sweep starts itself; one worker, or the raylet, is killed.

    python tests/sweeps/two_workers.py worker|raylet

Prints one JSON object. Needs Ray; half a minute each.
"""

import json
import os
import signal
import sys
import tempfile
import threading
import time
import uuid
import warnings
from pathlib import Path

MARK = f"SORITES_TWO_WORKERS={uuid.uuid4().hex}"  # in the environment of every process that this one starts
os.environ.update([MARK.split("=")])
os.environ.pop("RAY_ADDRESS", None)
STEPS, SEEDS = 2000, range(4)
CORES = len(os.sched_getaffinity(0))


def taught(rate: float):
    import sorites as so

    task = so.Parity(20, 8)
    checks = so.Evaluation(every=STEPS // 4, count=64, probes=(so.Loss(), so.Outcome("rolled")))
    term = so.teacher_forcing(task.layout)
    stage = so.Stage(task, (term,), so.Sampled(2048), so.GD(rate), STEPS, checks)
    return so.Run(so.positional(task), [stage]).until_goal()


def processes(words: str) -> list[int]:
    """Processes that this one started whose command line contains the words."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            ours = folder.name.isdigit() and MARK.encode() in (folder / "environ").read_bytes()
            if ours and words.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def listening() -> set[str]:
    """The addresses, in hexadecimal, on which this process and those that it started listen."""
    inodes = set()
    for process in processes(""):
        for link in Path(f"/proc/{process}/fd").glob("*"):
            try:
                inodes.add(os.readlink(link))
            except OSError:
                continue
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()[1:]]
    return {row[1].split(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in inodes}


def wait_for(condition, seconds: float = 120.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.1)
    raise TimeoutError


def main(victim: str) -> None:
    import sorites as so
    from sorites.runtime import devices

    devices.MOST_ON_CPU = 4  # small ensembles: four of four members
    grid = so.grid(taught, rate=[1e-6 * (1 + number) for number in range(4)])  # nobody reaches the goal
    store = so.Store(tempfile.mkdtemp())
    found: dict = {"killed": 0}

    def harm() -> None:
        wait_for(lambda: len(list((store.root / "members").glob("*"))) >= 1)
        found["workers"] = len(wait_for(lambda: len(processes("ray::labour")) >= 2 and processes("ray::labour")))
        found["addresses"] = sorted(listening())
        os.kill(processes("ray::labour" if victim == "worker" else "raylet/raylet")[0], signal.SIGKILL)
        found["killed"] = time.monotonic()

    local = so.sweep(grid, SEEDS) if victim == "worker" else None
    threading.Thread(target=harm, daemon=True).start()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            resources = {"num_cpus": CORES // 2 or 0.5}
            table = so.sweep(grid, SEEDS, store, engine="ray", resources=resources)
        except so.errors.SpecError as error:
            found |= {"error": str(error), "seconds": time.monotonic() - found["killed"]}
    messages = [str(each.message) for each in said]
    found |= {"lost": sum("was lost" in each for each in messages), "warnings": messages}
    found["marks"] = len(list((store.root / "running").glob("*.sweep")))
    if local is not None:
        same = [name for name in local.members.columns if name not in ("member", "seconds")]
        ids = [each for folder in store.folders() for each in folder.ids]
        found |= {
            "equal": table.members.select(same).equals(local.members.select(same)),
            "evaluations equal": table.evaluations.drop("member").equals(local.evaluations.drop("member")),
            "members": len(table.members), "stored": len(ids), "different": len(set(ids)), "failed": len(table.failed),
        }  # fmt: skip
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
