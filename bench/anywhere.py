"""The record of `sorites verify --anywhere`: how many drawn sizes hold, and which do not.

    sorites verify --anywhere 5 --seed 1 --json any1.json
    python bench/anywhere.py results/anywhere.json COMMIT 1=any1.json [2=any2.json ...] [--seconds 1=2100 ...]

Claims without parameters are judged once. A claim that was judged again after a mend comes later in the same seed's
files (1=any1.json 1=again.json) and replaces what was said of it.
"""

import argparse
import json
from collections import Counter
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("commit")
    parser.add_argument("files", nargs="+", metavar="SEED=FILE")
    parser.add_argument("--seconds", nargs="*", default=[], metavar="SEED=SECONDS", help="of the whole command")
    parser.add_argument("--note", default="")
    options = parser.parse_args()
    by_seed: dict[str, dict[str, list[dict]]] = {}
    for each in options.files:
        seed, _, path = each.partition("=")
        said: dict[str, list[dict]] = {}
        for verdict in json.loads(Path(path).read_text()):
            said.setdefault(verdict["id"], []).append(verdict)
        by_seed.setdefault(seed, {}).update(said)
    took = dict(each.split("=") for each in options.seconds)
    seeds = {
        seed: summary(said) | {"seconds": float(took[seed]) if seed in took else None} for seed, said in by_seed.items()
    }
    record = {
        "what": "sorites verify --anywhere 5 --seed S over all claims",
        "commit": options.commit,
        "note": options.note,
        "seeds": seeds,
    }
    options.out.write_text(json.dumps(record, indent=1) + "\n")
    for seed, found in seeds.items():
        print(seed, found["verdicts"], f"{found['share inconclusive']:.1%} inconclusive")


def summary(said: dict[str, list[dict]]) -> dict:
    """Counts, and every verdict that is not `holds` with its sizes."""
    every = [verdict for verdicts in said.values() for verdict in verdicts]
    counts = Counter(verdict["verdict"] for verdict in every)
    others = [
        {
            "id": verdict["id"],
            "verdict": verdict["verdict"],
            "expected": verdict["expected"],
            "parameters": verdict["parameters"],
        }
        for verdict in every
        if verdict["verdict"] != "holds"
    ]
    return {"claims": len(said), "verdicts": dict(counts), "share inconclusive": counts["inconclusive"] / len(every),
            "not holding": others, "seconds of checks": round(sum(each["seconds"] for each in every), 1)}  # fmt: skip


if __name__ == "__main__":
    main()
