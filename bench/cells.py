"""How many of eight members reach the goal in every cell, at the defaults: results/cells.json, read by `sorites list
cells`.

    python bench/cells.py results/cells.json [--seconds 3000] [--seeds 8] [--workers 16]

Cells that are there already are left alone, so a stopped recording goes on where it was; delete the file to begin anew.
"""

import argparse
import json
import platform
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import jax
import numpy as np

import sorites
from sorites.cli.stopping import follow_parent
from sorites.training import train
from sorites.training.cells import cell, cells

FIRST = (("gpt", "parity"), ("decoder", "lego"), ("gpt", "composition"), ("gpt", "lego"))


def order(cell) -> tuple:
    """What is asked first: teacher forcing everywhere, then the GPT on a tree, the decoder, classes."""
    place = FIRST.index((cell.model, cell.task)) if (cell.model, cell.task) in FIRST else len(FIRST)
    return cell.supervision != "teacher-forcing", place, cell.model == "gpt"


def record(task: str, model: str, supervision: str, seeds: int) -> dict:
    """One cell trained with `seeds` members: how many reach its goal, after how many steps."""
    here = time.perf_counter()
    run = cell(task, model, supervision).run
    assert run is not None
    history = train(run, range(seeds)).history
    jax.clear_caches()
    solved = history.solved_at[history.solved_at >= 0]
    return {
        "task": task, "model": model, "supervision": supervision, "learns": len(solved), "members": seeds,
        "diverged": int(history.diverged.sum()), "goal": run.goal.metric,
        "steps": float(np.median(solved)) if len(solved) else None,
        "samples": int(np.median(history.samples)), "seconds": round(time.perf_counter() - here, 1),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=3000.0, help="begin no new cell after so long")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--workers", type=int, default=1, help="processes side by side")
    options = parser.parse_args()
    begun = time.perf_counter()
    found = json.loads(options.out.read_text()) if options.out.exists() else {"cells": []}
    done = {(row["task"], row["model"], row["supervision"]) for row in found["cells"]}
    found |= {"device": jax.devices()[0].device_kind, "machine": platform.machine(), "jax": jax.__version__,
              "sorites": sorites.__version__, "seeds": options.seeds,
              "command": "python bench/cells.py results/cells.json"}  # fmt: skip
    ahead = [(it.task, it.model, it.supervision) for it in sorted((it for it in cells() if it.run), key=order)]
    ahead = iter([names for names in ahead if names not in done])
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn"), initializer=follow_parent) as pool:
        running = {pool.submit(record, *names, options.seeds) for names in islice(ahead, options.workers)}
        while running:
            ready, running = wait(running, return_when=FIRST_COMPLETED)
            for future in ready:
                found["cells"].append(future.result())
                options.out.write_text(json.dumps(found, indent=1) + "\n")
                print(*future.result().values(), flush=True)
            if time.perf_counter() - begun < options.seconds:
                running |= {pool.submit(record, *names, options.seeds) for names in islice(ahead, len(ready))}


if __name__ == "__main__":
    main()
