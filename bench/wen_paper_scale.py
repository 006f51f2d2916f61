"""Wen et al. at the paper's width on an accelerator, with JAX, Equinox and Optax alone (PyTorch only for its own side).

    python bench/wen_paper_scale.py OUT --part throughput
    python bench/wen_paper_scale.py OUT --part measure --only 10 --shapes 4L4H
    python bench/wen_paper_scale.py OUT --part all --smoke

`measure` trains every member of a figure to its goal or to its whole budget, one shape after another, and writes each
shape at once: rows-FIGURE-SHAPE.json. Figures 1a, 1b and 2 are `wen_whole_budget.py`'s, 5 and 11 are drawn from members
of 10. The others are throughput.json, ablation.json and about.json. On a machine with polars,
`python bench/wen_record.py COMMIT OUT` turns them into results/.
"""

import argparse
import dataclasses
import json
import sys
import time
from pathlib import Path

import jax
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from about import versions

from sorites.models.network import released_code
from sorites.papers.wen.experiments import FreshData, Net, one_pass
from sorites.papers.wen.grids import LARGE, PAPER_NET
from sorites.statistics import median_time
from sorites.training import train
from sorites.training.lab import Plain

BEGUN = time.perf_counter()


def small(size):
    """Any size, shrunk until it only proves that the script runs."""
    changes = {"width": 32, "hidden": 64, "batch": 32, "every": 4, "probed": 16, "held_out": 64, "seeds": 1, "bits": 14}
    if hasattr(size, "chained"):
        changes |= {"chained": tuple(range(1, 1 + min(3, len(size.chained)))), "bare": size.bare[:2], "budget": 4096}
    elif hasattr(size, "presentations"):
        changes |= {
            "presentations": 4096,
            "sizes": (100, 300)[: len(size.sizes)],
            "sparsity": 3,
            "shapes": size.shapes[:1],
        }
    else:
        changes |= {"budget": 4096, "sparsity": 4, "secret": ()}
    return dataclasses.replace(size, **changes)


def ours(layers: int, chain: bool, seconds: float, smoke: bool, compute: str, members: int) -> dict:
    """Sequences per second over all members, evaluation and entropy logging included, after compilation; and seconds to
    the first evaluation of a trained net of every member, compilation included."""
    width, hidden, batch = (32, 64, 32) if smoke else (720, 2880, 512)
    net = Net(layers, layers, width, hidden, 0.02, batch, 16, probed=128, compute=compute)
    cases = [net.case(seed, 30, 3, 1e-4, batch * 10**6, 3 * chain, stops=False) for seed in range(members)]
    runs, begun = [case.run for case in cases], time.perf_counter()
    train(runs, range(members), seconds=0.01, chunk=16)
    first = time.perf_counter() - begun
    return {
        "sorites": train(runs, range(members), seconds=seconds, chunk=16).chains_per_second,
        "first result, s": first,
    }


def throughput(options) -> dict:
    """Four layers and one, TF32 and bf16 products, beside PyTorch, eager and compiled (with a fused Adam)."""
    try:
        import torch_wen
    except ImportError:
        torch_wen = None
        print("torch is not installed: our side only")
    found, width, hidden = {}, *((32, 64) if options.smoke else (720, 2880))
    spell = 0.3 if options.smoke else 3.0
    jobs = [  # name, layers and heads, chain, precision, members
        ("4L4H, bf16", 4, True, "bfloat16", 1),
        ("4L4H, TF32", 4, True, "float32", 1),
        ("1L1H, TF32", 1, True, "float32", 1),
        ("1L1H, TF32, 8 members", 1, True, "float32", 8),
        ("1L1H without the chain, TF32", 1, False, "float32", 1),
        ("1L1H without the chain, TF32, 8 members", 1, False, "float32", 8),
    ]
    for name, layers, chain, compute, members in jobs:
        row = ours(layers, chain, spell, options.smoke, compute, members)
        if torch_wen is not None and members == 1:
            size = {"bits": 30, "sparsity": 3, "chain": chain, "layers": layers, "heads": layers, "width": width,
                    "hidden": hidden, "batch": 32 if options.smoke else 512, "every": 16, "seconds": spell,
                    "probed": 128, "low_precision": compute == "bfloat16"}  # fmt: skip
            for side, compiled in (("torch", False), ("torch.compile", True)):
                row[side] = torch_wen.throughput(**size, compiled=compiled)
                row[f"ratio to {side}"] = row["sorites"] / row[side]
        found[name] = row
        print(name, {key: round(value, 2 if "ratio" in key else 1) for key, value in row.items()}, flush=True)
        save(options.out / "throughput.json", found)
    return found


WHOLE = ("10", "4", "3a", "9", "3b", "8")  # figures that `measure` trains, in the order of what they tell


class Told(Plain):
    """Trains to the end, and says how fast."""

    def train(self, runs, seeds, *, snapshots=()):
        begun = time.perf_counter()
        trained = train(runs, seeds, chunk=8, snapshots=snapshots)
        seconds, rate = time.perf_counter() - begun, trained.chains_per_second
        print(f"{len(seeds)} members in {seconds:.0f} s, {rate:,.0f} sequences/s", flush=True)
        return trained


def parts(size, shapes: list[str] | None):
    """(name, size) of every shape; the chain belongs to the first."""
    if not hasattr(size, "shapes"):
        yield "all", size
        return
    for shape in size.shapes:
        if shapes is None or shape in shapes:
            changes = {"with_chain": False} if shape != size.shapes[0] and hasattr(size, "with_chain") else {}
            yield shape, dataclasses.replace(size, shapes=(shape,), **changes)


def measure(options) -> None:
    """The tables of the figures, each with the seconds it took."""
    for name in options.only or WHOLE:
        for shape, size in parts(small(LARGE[name]) if options.smoke else LARGE[name], options.shapes):
            begun = time.perf_counter()
            tables = size.tables(Told())
            seconds = round(time.perf_counter() - begun, 1)
            print(name, shape, seconds, "s,", summary(tables["data"]), flush=True)
            about = tell(options) | {"seconds": seconds, "parameters": dataclasses.asdict(size)}
            save(options.out / f"rows-{name}-{shape}.json", {"tables": tables, "about": about})


def summary(rows: list[dict]) -> str:
    """Medians by k, or final accuracies: a short line."""
    if rows and "solved" in rows[0]:
        parts = []
        for chain in (True, False):
            for sparsity in sorted({row["sparsity"] for row in rows}):
                group = [row for row in rows if row["chain"] == chain and row["sparsity"] == sparsity]
                if group:
                    middle = median_time(
                        np.array([row["samples"] for row in group]), np.array([row["solved"] for row in group])
                    )
                    count = f"{middle.solved}/{middle.members}"
                    parts.append(f"{'chain' if chain else 'bare'} k={sparsity}: {middle.value:,.0f} ({count})")
        return "; ".join(parts)
    if rows and "accuracy" in rows[0]:
        ends: dict[tuple, dict] = {}
        for row in rows:
            ends[tuple(row.get(key) for key in ("chain", "layers", "heads", "size", "seed"))] = row
        return "; ".join(f"{key}: {row['accuracy']:.3f} at {row['samples']:,}" for key, row in ends.items())
    return f"{len(rows)} rows"


def ablation(options) -> None:
    """What the released code does and the paper does not say, one switch at a time: 1L1H with the chain, k=3."""
    fields = {"layers": 1, "heads": 1, "bits": 30, "chained": (3,), "bare": (), "budget": 500_000, "seeds": 8}
    base, rows, released = FreshData(**(PAPER_NET | fields)), [], released_code(1, 1)
    variants = {
        "paper text": base,
        "hidden 2880": dataclasses.replace(base, hidden=released.hidden),
        "bf16 weights": dataclasses.replace(base, weights=released.weights),
        "dropout 0.1": dataclasses.replace(base, dropout=released.dropout),
        "released code": dataclasses.replace(
            base,
            hidden=released.hidden,
            weights=released.weights,
            dropout=released.dropout,
            clip=1.0,
            format="released",
        ),
    }

    for name, size in variants.items():
        found = one_pass(small(size) if options.smoke else size, Told())
        rows.extend({"variant": name, **row} for row in found)
        print("ablation,", name, summary(found), flush=True)
        save(options.out / "ablation.json", rows)


def save(path: Path, value) -> None:
    path.write_text(json.dumps(value) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--part", choices=("throughput", "measure", "ablation", "all"), default="all")
    parser.add_argument("--only", nargs="*", choices=sorted(WHOLE), help="these figures of `measure`")
    parser.add_argument("--shapes", nargs="*", help="these shapes of them, as 4L4H")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes: only proves that the script runs")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    tell(options)
    if options.part in ("throughput", "all"):
        throughput(options)
    if options.part in ("ablation", "all"):
        ablation(options)
    if options.part in ("measure", "all"):
        measure(options)
    print(json.dumps(tell(options)))


def tell(options) -> dict:
    """Where and how this was measured; written at the start too, for the clock may end the run."""
    about = {
        "device": jax.devices()[0].device_kind,
        "versions": versions(),
        "command": "python bench/wen_paper_scale.py " + " ".join(sys.argv[2:]),
        "seconds": round(time.perf_counter() - BEGUN, 1),
        "precision": "float32 products are TF32 on both sides",
    }  # fmt: skip
    save(options.out / "about.json", about)
    return about


if __name__ == "__main__":
    main()
