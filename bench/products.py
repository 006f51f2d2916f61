"""How long the matrix products of all trainings of a store would take alone, at the rate of the machine's fastest one.

    NPROC=1 python bench/products.py STORE [--out FILE.json]

Products of the steps that were trained and of the evaluations, as a CPU would run them (`training/price.py`), by kind
of model, beside the seconds that the members took to train, compilation included. What else was learned (descents that
are no Run) has no price: its seconds are told apart. The rate is the best of `growth.limits`.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from about import about
from growth import limits

from sorites.store import Store
from sorites.store.folder import Folder
from sorites.store.loading import load
from sorites.store.rebuild import rebuild
from sorites.training import History, Run
from sorites.training.cost import costs, products
from sorites.training.member import init_member, start_stage
from sorites.training.plan import plans
from sorites.training.segments import evaluate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rate = max(limits(0.5, smoke=False)["products"].values())
    found: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    others = 0.0
    for folder in Store(options.store).folders():
        seconds = folder.meta["seconds"] or 0.0
        if not folder.has_tables:
            others += seconds
            continue
        run, history = run_of(folder), load(folder, None).history
        row = found[type(run.model).__name__]
        steps, looks = work(run, history)
        row["members"] += len(history.seeds)
        row["products of steps, s"] += steps / rate
        row["products of evaluations, s"] += looks / rate
        row["trained in, s"] += seconds
    for model, row in found.items():
        print(f"{model:12s}", *(f"{name} {value:.1f}" for name, value in row.items()), sep="   ")
    alone = sum(row[name] for row in found.values() for name in row if name.startswith("products"))
    trained = sum(row["trained in, s"] for row in found.values())
    print(
        f"products alone {alone:.0f} s at {rate / 1e9:.0f} GFLOP/s, trained in {trained:.0f} s; others {others:.0f} s"
    )
    if options.out:
        rounded = {model: {name: round(value, 1) for name, value in row.items()} for model, row in found.items()}
        told = {"GFLOP/s of the fastest product": round(rate / 1e9, 1), "models": rounded,
                "products alone, s": round(alone, 1), "trained in, s": round(trained, 1),
                "descents that are no Run, s": round(others, 1)}  # fmt: skip
        options.out.write_text(json.dumps({**about(), **told}, indent=1) + "\n")


def run_of(folder: Folder) -> Run:
    """The run of a folder's first member; what its arrays hold does not matter here."""
    run = rebuild(json.loads(folder.read("spec.json"))["runs"][0], {})
    return jax.tree.map(
        lambda leaf: np.zeros(leaf.shape, leaf.dtype) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf, run
    )


def work(run: Run, history: History) -> tuple[float, float]:
    """Products of all members' steps, and of their evaluations."""
    member, steps, looks = eqx.filter_eval_shape(lambda: init_member(run, jnp.zeros((), int))), 0.0, 0.0
    walked = ~np.isnan(history.metrics["training.loss"])
    seen = np.any([~np.isnan(v).reshape(*v.shape[:2], -1).all(axis=-1) for v in history.metrics.values()], axis=0)
    for number, (stage, (plan, _), price) in enumerate(zip(run.stages, plans(run), costs(run), strict=True), start=1):
        member, here = eqx.filter_eval_shape(start_stage, stage, member), history.stage == number
        look = eqx.filter_make_jaxpr(evaluate)(plan, jnp.zeros((), int), member)[0]
        steps += float(walked[:, here].sum()) * stage.evaluation.every * price.flops
        looks += float(seen[:, here].sum()) * products(look.jaxpr)
    return steps, looks


if __name__ == "__main__":
    main()
