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

from sorites.papers.lego.arms import gathered, self_trained
from sorites.papers.lego.grids import LARGE, SMOKE, Study, mapped, self_training
from sorites.training import train

BEGUN = time.perf_counter()


def elapsed() -> float:
    return time.perf_counter() - BEGUN


def trained(size: Study, way: str) -> tuple:
    members = train(size.runs(size.arms(way)), list(range(size.seeds)) * len(size.actions), chunk=1)
    found = gathered(size, members.history)
    for check, step in enumerate(found["step"]):
        longest = np.median(found["values"][check, :, -1])
        print(f"  {elapsed():6.1f} s  step {step:6d}  loss {np.median(found['loss'][check]):.2e}  all values right "
              f"at L={size.lengths[-1]}: {longest:.2f}", flush=True)  # fmt: skip
    return members, found


def table(size: Study, way: str, found: dict[str, np.ndarray]) -> None:
    last = found["values"][-1].reshape(len(size.actions), size.seeds, -1)
    print(f"{'':54s}" + "".join(f"  L={length:<13d}" for length in size.lengths[2:]))
    for arm, rows in zip(size.arms(way), last, strict=True):
        cells = "".join("  " + " ".join(f"{value:4.2f}" for value in rows[:3, 2 + i]) for i in range(rows.shape[1] - 2))
        print(f"{arm.name:54s}{cells}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=480.0)
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that everything runs")
    options = parser.parse_args()
    size, out = SMOKE if options.smoke else LARGE, options.out
    out.mkdir(parents=True, exist_ok=True)
    about = {
        "device": jax.devices()[0].device_kind,
        "versions": {"python": platform.python_version(), "jax": jax.__version__, "equinox": equinox.__version__,
                     "optax": optax.__version__, "numpy": np.__version__},
        "command": f"python bench/lego_paper_scale.py OUT --seconds {options.seconds:g}" + " --smoke" * options.smoke,
        "parameters": dataclasses.asdict(size),
        "seconds": {},
    }  # fmt: skip

    def note(name: str, begun: float) -> None:
        about["seconds"][name] = round(elapsed() - begun, 1)
        (out / "about.json").write_text(json.dumps(about, indent=1) + "\n")

    longest, arrays = 0.0, {}
    for way in size.ways:
        if longest and elapsed() + 1.05 * longest > options.seconds:
            print(f"{way}: left out, {options.seconds:g} s would not do")
            continue
        begun = elapsed()
        print(f"{way}: {len(size.actions)} actions x {size.seeds} seeds")
        members, found = trained(size, way)
        arrays |= {f"{way}/{field}": values for field, values in found.items()}
        np.savez_compressed(out / "ensembles.npz", **arrays)
        table(size, way, found)
        if way == "fresh":
            np.savez_compressed(out / "maps.npz", **mapped(size, members))
        note(way, begun)
        longest, begun = elapsed() - begun, elapsed()
        if way == "fresh":
            history = train(self_training(size), range(size.seeds)).history
            stages = self_trained(size, size.stages, history)
            shown = {name: np.round(array.mean(axis=0), 3).tolist() for name, array in stages.items()}
            print(f"  {elapsed():6.1f} s  self-trained: {shown}", flush=True)
            np.savez_compressed(out / "self-training.npz", **stages)
            note("self-training", begun)
    print(f"done in {elapsed():.1f} s on {about['device']}: {about['seconds']}")


if __name__ == "__main__":
    main()
