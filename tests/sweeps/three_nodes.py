"""A sweep on a Ray cluster of three node processes of which one worker and one node are killed on the way.

    python tests/sweeps/three_nodes.py [STEPS]

Prints one JSON object: whether the table equals the local engine's, how many members are stored, how often work was
lost, and how long it took. Needs Ray; about two minutes on one core. Run it by hand: the tests do not.
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

MARK = f"SORITES_THREE_NODES={uuid.uuid4().hex}"  # in the environment of every process that this one starts
os.environ.update([MARK.split("=")])
os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "1")
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
SEEDS = range(4)


def taught(rate: float):
    import sorites as so

    task = so.Parity(20, 8)
    checks = so.Evaluation(every=STEPS // 4, count=64, probes=(so.Loss(), so.Outcome("rolled")))
    term = so.teacher_forcing(task.layout)
    stage = so.Stage(task, (term,), so.Sampled(2048), so.GD(rate), STEPS, checks)
    return so.Run(so.positional(task), [stage]).until_goal()


def workers() -> list[int]:
    """Processes of this very cluster that are at work on an ensemble."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            busy = folder.name.isdigit() and (folder / "cmdline").read_bytes().startswith(b"ray::labour")
            if busy and MARK.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def wait_for(condition, seconds: float = 120.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.1)
    raise TimeoutError


def main() -> None:
    import ray
    from ray.cluster_utils import Cluster

    import sorites as so
    from sorites.runtime import devices

    devices.MOST_ON_CPU = 4  # small ensembles: ten of four members
    grid = so.grid(taught, rate=[1e-6 * (1 + number) for number in range(10)])  # nobody reaches the goal
    begun = time.perf_counter()
    local = so.sweep(grid, SEEDS)
    after_local = time.perf_counter()
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 80 * 2**20})
    others = [cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20) for _ in range(2)]
    ray.init(address=cluster.address, log_to_driver=False)
    killed: dict[str, int] = {}
    store = so.Store(tempfile.mkdtemp())

    def harm() -> None:
        wait_for(lambda: len(list((store.root / "members").glob("*"))) >= 2)
        worker = wait_for(workers)[0]
        os.kill(worker, signal.SIGKILL)
        killed["worker"] = worker
        stored = len(list((store.root / "members").glob("*")))
        wait_for(lambda: len(list((store.root / "members").glob("*"))) > stored)
        wait_for(workers)
        cluster.remove_node(others[0], allow_graceful=False)
        killed["node"] = 1

    threading.Thread(target=harm, daemon=True).start()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        table = so.sweep(grid, SEEDS, store, engine="ray")
    lost = [str(each.message) for each in said if "was lost" in str(each.message)]
    same = [name for name in local.members.columns if name not in ("member", "seconds")]
    ids = [each for folder in store.folders() for each in folder.ids]
    found = {
        "equal": table.members.select(same).equals(local.members.select(same)),
        "evaluations equal": table.evaluations.drop("member").equals(local.evaluations.drop("member")),
        "members": len(table.members), "stored": len(ids), "different": len(set(ids)), "failed": len(table.failed),
        "killed": sorted(killed), "lost": len(lost), "ensembles": len(store.folders()),
        "local seconds": round(after_local - begun, 1), "ray seconds": round(time.perf_counter() - after_local, 1),
    }  # fmt: skip
    print(json.dumps(found), flush=True)
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main()
