"""How many of eight members reach the goal in every cell, at the defaults: results/cells.json, read by `sorites list
cells`.

    python bench/cells.py results/cells.json [--seconds 3000] [--seeds 8]

Cells that are there already are left alone, so a stopped recording goes on where it was; delete the file to begin anew.
"""

import argparse
import json
import platform
import time
from pathlib import Path

import jax
import numpy as np

import sorites
from sorites.training import train
from sorites.training.cells import cells

FIRST = (("gpt", "parity"), ("decoder", "lego"), ("gpt", "composition"), ("gpt", "lego"))


def order(cell) -> tuple:
    """What is asked first: teacher forcing everywhere, then the GPT on a tree, the decoder, classes."""
    place = FIRST.index((cell.model, cell.task)) if (cell.model, cell.task) in FIRST else len(FIRST)
    return cell.supervision != "teacher-forcing", place, cell.model == "gpt"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=3000.0, help="begin no new cell after so long")
    parser.add_argument("--seeds", type=int, default=8)
    options = parser.parse_args()
    begun = time.perf_counter()
    found = json.loads(options.out.read_text()) if options.out.exists() else {"cells": []}
    done = {(row["task"], row["model"], row["supervision"]) for row in found["cells"]}
    found |= {"device": jax.devices()[0].device_kind, "machine": platform.machine(), "jax": jax.__version__,
              "sorites": sorites.__version__, "seeds": options.seeds,
              "command": "python bench/cells.py results/cells.json"}  # fmt: skip
    for cell in sorted((cell for cell in cells() if cell.run is not None), key=order):
        if (cell.task, cell.model, cell.supervision) in done:
            continue
        if time.perf_counter() - begun > options.seconds:
            break
        here = time.perf_counter()
        history = train(cell.run, range(options.seeds)).history
        solved = history.solved_at[history.solved_at >= 0]
        row = {
            "task": cell.task, "model": cell.model, "supervision": cell.supervision, "learns": len(solved),
            "members": options.seeds, "diverged": int(history.diverged.sum()), "goal": cell.run.goal.metric,
            "steps": float(np.median(solved)) if len(solved) else None,
            "samples": int(np.median(history.samples)), "seconds": round(time.perf_counter() - here, 1),
        }  # fmt: skip
        found["cells"].append(row)
        options.out.write_text(json.dumps(found, indent=1) + "\n")
        print(*row.values(), flush=True)
        jax.clear_caches()


if __name__ == "__main__":
    main()
