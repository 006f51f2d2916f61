"""LEGO's decoder at paper scale: what separates the actions, recursive self-training, attention maps.

    python bench/lego_paper_scale.py OUT [--seconds 480] [--smoke]

Needs JAX, Equinox, Optax and NumPy alone. Ensembles are trained in the order of what they tell; after `--seconds` no
new one is begun, and one that would not fit by the time of those before it is left out. Writes ensembles.npz,
self-training.npz, maps.npz and about.json. On a machine with polars, `python bench/lego_record.py OUT COMMIT` turns
them into the tables under results/figures/lego/.
"""

import argparse
import dataclasses
import json
import platform
import time
from pathlib import Path

import equinox
import jax
import numpy as np
import optax

from sorites.papers.lego.arms import Arm, Decoding, attention_maps, comparison, gathered, self_training, training
from sorites.papers.lego.grids import LARGE, SMOKE

BEGUN = time.perf_counter()


def elapsed() -> float:
    return time.perf_counter() - BEGUN


def train(size: Decoding, arms: tuple[Arm, ...], spec) -> tuple:
    checks, members = [], size.members(arms, spec)
    for each, check in training(size, members):
        members = each
        checks.append(check)
        longest = np.median(check.scores.values[:, -1])
        print(f"  {elapsed():6.1f} s  step {check.step:6d}  loss {np.median(check.loss):.2e}  median all values right "
              f"at L={size.lengths[-1]}: {longest:.2f}", flush=True)  # fmt: skip
    return members, gathered(checks)


def take(members, index: np.ndarray):
    return jax.tree.map(lambda leaf: leaf[index], members)


def table(size: Decoding, arms: tuple[Arm, ...], found: dict[str, np.ndarray]) -> None:
    last = found["values"][-1].reshape(len(arms), size.seeds, -1)
    print(f"{'':54s}" + "".join(f"  L={length:<13d}" for length in size.lengths[2:]))
    for arm, rows in zip(arms, last, strict=True):
        cells = "".join("  " + " ".join(f"{value:4.2f}" for value in rows[:3, 2 + i]) for i in range(rows.shape[1] - 2))
        print(f"{arm.name:54s}{cells}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=480.0)
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that everything runs")
    options = parser.parse_args()
    large = SMOKE if options.smoke else LARGE
    size, out = large.decoding, options.out
    out.mkdir(parents=True, exist_ok=True)
    ensembles = comparison(large.actions, large.pool)
    spec = size.spec(ensembles["fresh"])
    about = {
        "device": jax.devices()[0].device_kind,
        "versions": {"python": platform.python_version(), "jax": jax.__version__, "equinox": equinox.__version__,
                     "optax": optax.__version__, "numpy": np.__version__},
        "command": f"python bench/lego_paper_scale.py OUT --seconds {options.seconds:g}" + " --smoke" * options.smoke,
        "size": dataclasses.asdict(large),
        "seconds": {},
        "arms": {},
    }  # fmt: skip

    def note(name: str, begun: float) -> None:
        about["seconds"][name] = round(elapsed() - begun, 1)
        (out / "about.json").write_text(json.dumps(about, indent=1) + "\n")

    longest, arrays = 0.0, {}
    for name, arms in ensembles.items():
        if longest and elapsed() + 1.05 * longest > options.seconds:
            print(f"{name}: left out, {options.seconds:g} s would not do")
            continue
        begun = elapsed()
        print(f"{name}: {len(arms)} arms x {size.seeds} seeds")
        members, found = train(size, arms, spec)
        arrays |= {f"{name}/{field}": values for field, values in found.items()}
        np.savez_compressed(out / "ensembles.npz", **arrays)
        about["arms"][name] = [dataclasses.asdict(arm) for arm in arms]
        table(size, arms, found)
        if name == large.base:
            chosen = [large.actions.index(action) * size.seeds for action in ("C6", "S5")]
            pair = take(members, np.array(chosen))
            maps = {"plain": attention_maps(pair, size.length, 100)}
            maps["permuted"] = attention_maps(pair, size.length, 100, large.permutation)
            maps |= {f"at{length}": attention_maps(pair, length, 100) for length in (10, 20)}
            np.savez_compressed(out / "maps.npz", **maps)
            first = large.actions.index("S5") * size.seeds
            students = take(members, np.arange(first, first + size.seeds))
            note(name, begun)
            longest, begun = elapsed() - begun, elapsed()
            stages = {}
            for _, stage in self_training(size, students, large.stages, large.self_pool, large.self_steps):
                stages[f"values{stage.length}"] = stage.scores.values
                stages[f"labels{stage.length}"] = stage.labels
                stages[f"loss{stage.length}"] = stage.loss
                shown = " ".join(f"{value:.2f}" for value in stage.scores.values.mean(axis=0))
                print(f"  {elapsed():6.1f} s  self-trained at L={stage.length}: labels right {stage.labels.mean():.3f}"
                      f"; all values right by length {shown}", flush=True)  # fmt: skip
                np.savez_compressed(out / "self-training.npz", **stages)
            note("self-training", begun)
        else:
            note(name, begun)
            longest = elapsed() - begun
    print(f"done in {elapsed():.1f} s on {about['device']}: {about['seconds']}")


if __name__ == "__main__":
    main()
