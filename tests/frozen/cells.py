"""Freeze: start state and three updates of every cell of task, model and supervision.

python tests/frozen/cells.py record FILE     # what this checkout gives
python tests/frozen/cells.py compare FILE    # cells whose bits or numbers differ from the recorded ones

A record holds for each cell, step and leaf a hash of its bytes, its sum and its largest entry, and every metric.
"""

import hashlib
import json
import sys

import jax
import numpy as np

from sorites.runtime.devices import LARGE
from sorites.training import train
from sorites.training.cells import COUNTED, MODELS, SUPERVISIONS, cell

SEEDS, STEPS = (0, 1), 3
CLOSE = 2e-3  # relative; Adam divides by gradients that are only rounding


def leaves(model):
    found = [
        np.asarray(leaf) for leaf in jax.tree.leaves(model) if hasattr(leaf, "dtype") and leaf.dtype.kind in "biufV"
    ]
    return [
        [
            hashlib.sha256(leaf.tobytes()).hexdigest()[:16],
            float(leaf.astype(np.float64).sum()),
            float(np.abs(leaf).max()),
        ]
        for leaf in found
        if leaf.size
    ]


def frozen(name):
    made = cell(*name, batch=16, steps=STEPS, every=1, count=16)
    if made.run is None:
        return {"refused": made.why}
    strategy = "separate" if made.run.model.weights_count > LARGE else "sequential"
    done = train(made.run, SEEDS, snapshots=tuple(range(STEPS + 1)), strategy=strategy)
    steps = {str(step): leaves(model) for step, model in done.snapshots.items()}
    history = {
        metric: np.asarray(values, np.float64).ravel().tolist() for metric, values in done.history.metrics.items()
    }
    secret = [np.asarray(leaf).ravel().tolist() for leaf in jax.tree.leaves(done.secrets)]
    return {"steps": steps, "history": history, "secret": secret}


def names():
    return [(task, model, taught) for task in COUNTED for model in MODELS for taught in SUPERVISIONS]


def record(path):
    found = {}
    for number, name in enumerate(names()):
        found["|".join(name)] = frozen(name)
        jax.clear_caches() if number % 20 == 19 else None
    with open(path, "w") as file:
        json.dump(found, file, separators=(",", ":"), sort_keys=True)


def difference(old, new):
    if old.keys() != new.keys() or "refused" in old:
        return "" if old.keys() == new.keys() else "one is refused"
    if old["secret"] != new["secret"]:
        return "secrets differ"
    words = []
    bits = [
        step
        for step in old["steps"]
        if [leaf[0] for leaf in old["steps"][step]] != [leaf[0] for leaf in new["steps"][step]]
    ]
    if bits:
        words.append(f"bits differ from step {min(map(int, bits))}")
        apart = max(
            abs(a - b) / (abs(a) + 1e-2)
            for step in old["steps"]
            for left, right in zip(old["steps"][step], new["steps"][step], strict=False)
            for a, b in zip(left[1:], right[1:], strict=True)
        )
        words.append(f"sums by {apart:.1e}" + (" TOO FAR" if apart > CLOSE else ""))
    far = [
        metric
        for metric in old["history"]
        if not np.allclose(
            old["history"][metric], new["history"].get(metric, np.nan), rtol=1e-3, atol=1e-4, equal_nan=True
        )
    ]
    return ", ".join(words + ([f"METRICS {far}"] if far else []))


def compare(path):
    with open(path) as file:
        recorded = json.load(file)
    same = 0
    for number, name in enumerate(names()):
        said = difference(recorded["|".join(name)], json.loads(json.dumps(frozen(name))))
        same += not said
        if said:
            print("|".join(name), said, flush=True)
        jax.clear_caches() if number % 20 == 19 else None
    print(f"{same} of {len(recorded)} cells are equal to the last bit")


if __name__ == "__main__":
    {"record": record, "compare": compare}[sys.argv[1]](sys.argv[2])
