"""Wen et al., Figures 1a and 2: every member trained to its goal or to the paper's 10^7 sequences, none cut by a clock.

    python bench/wen_whole_budget.py OUT 4L4H --sparsity 3 4 --secrets 1 2 3 --pack 1
    python bench/wen_whole_budget.py OUT 1L1H --chain --sparsity 1 2 3 4 --secrets 0 1 2 3 --pack 48

A pack is an ensemble; with --pack 1 members train one after another and each stops as soon as it is solved. Every
finished pack is written at once: members.json (a row each) and curves-*.npz. `wen_record.py` reads the rows.
"""

import argparse
import json
import platform
import sys
import time
from pathlib import Path

import equinox
import jax
import numpy as np
import optax

from sorites.papers.wen.experiments import FreshData
from sorites.papers.wen.grids import PAPER_NET, shape
from sorites.training import train

BUDGET = 10_000_000
RATES = (6e-5, 8e-5, 1e-4)  # the paper takes the best of the three
ROOM = 4  # thoughts of the longest chain: members of every k share a program


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("shape", help="layers and heads, as 4L4H")
    parser.add_argument("--chain", action="store_true")
    parser.add_argument("--sparsity", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--secrets", type=int, nargs="+", default=[0, 1, 2, 3])
    parser.add_argument("--pack", type=int, default=1)
    parser.add_argument("--every", type=int, help="steps between evaluations, default 16 with the chain, 64 without")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes: only proves that the script runs")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    layers, heads = shape(options.shape)
    every = options.every or (16 if options.chain else 64)
    changes = {"compute": "bfloat16" if layers > 1 else "float32", "every": every}
    if options.smoke:
        changes |= {"width": 32, "hidden": 64, "batch": 32, "every": 4, "held_out": 64, "probed": 16}
    budget, bits = (4096, 14) if options.smoke else (BUDGET, 30)
    net = FreshData(layers, heads, bits=bits, budget=budget, **(PAPER_NET | changes))  # pyright: ignore
    wanted = [(k, seed, rate) for k in options.sparsity for seed in options.secrets for rate in RATES]
    name = f"{options.shape}-{'chain' if options.chain else 'bare'}-k{''.join(map(str, options.sparsity))}"
    rows, curves = [], {}
    for first in range(0, len(wanted), options.pack):
        pack = wanted[first : first + options.pack]
        cases = [net.case(seed, bits, k, rate, budget, ROOM * options.chain) for k, seed, rate in pack]
        begun = time.perf_counter()
        trained = train([case.run for case in cases], [case.seed for case in cases], chunk=8)
        seconds, history = time.perf_counter() - begun, trained.history
        for member, (k, seed, rate) in enumerate(pack):
            accuracy = history.metrics["forced.chain"][member]
            seen = np.isfinite(accuracy)
            solved = bool(history.solved_at[member] >= 0)
            steps = (
                history.solved_at[member] if solved else min(history.samples[member] // net.batch, budget // net.batch)
            )
            rows.append({"shape": options.shape, "chain": options.chain, "bits": bits, "sparsity": k, "seed": seed,
                         "rate": rate, "solved": solved, "samples": int(steps) * net.batch,
                         "diverged": bool(history.diverged[member]), "last_accuracy": float(accuracy[seen][-1]),
                         "best_accuracy": float(np.nanmax(accuracy))})  # fmt: skip
            curves[f"{k}-{seed}-{rate:g}-step"] = history.step[seen]
            for short, metric in (("accuracy", "forced.chain"), ("loss", "own.loss"), ("entropy", "entropy")):
                curves[f"{k}-{seed}-{rate:g}-{short}"] = history.metrics[metric][member][seen].astype(np.float16)
            print(name, rows[-1], flush=True)
        print(f"{name}: {len(pack)} in {seconds:.0f} s, {trained.chains_per_second:,.0f} sequences/s", flush=True)
        np.savez_compressed(options.out / f"curves-{name}.npz", **curves)
        (options.out / f"members-{name}.json").write_text(json.dumps(told(options, net, rows)) + "\n")


def told(options, net: FreshData, rows: list[dict]) -> dict:
    """The rows with where and how they were measured."""
    return {
        "device": jax.devices()[0].device_kind,
        "versions": {"python": platform.python_version(), "jax": jax.__version__, "equinox": equinox.__version__,
                     "optax": optax.__version__, "numpy": np.__version__},
        "command": "python bench/wen_whole_budget.py OUT " + " ".join(sys.argv[2:]),
        "net": f"width {net.width}, hidden {net.hidden}, spread {net.spread}, batch {net.batch}, float32 weights, "
        + ("bfloat16 products" if net.compute == "bfloat16" else "TF32 products"),
        "budget": net.budget,
        "evaluated": f"every {net.every * net.batch:,} sequences on {net.held_out:,} held-out; entropy on {net.probed}",
        "members": rows,
    }  # fmt: skip


if __name__ == "__main__":
    main()
