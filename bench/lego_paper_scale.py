"""LEGO's decoder at paper scale: attention maps, 300 epochs, what separates the actions, recursive self-training.

    python bench/lego_paper_scale.py OUT maps epochs-fixed epochs-fresh fresh-residual fast-decay
    python bench/lego_paper_scale.py OUT --smoke

Needs JAX, Equinox, Optax and NumPy alone. A part is `maps`, a way of training, the same over 300 epochs (`epochs-`), or
`self-training`; each is trained to its end and written at once: PART.npz and PART.json. On a machine with polars,
`python bench/lego_record.py OUT COMMIT` turns them into the tables under results/figures/lego/.
"""

import argparse
import dataclasses
import json
import platform
import sys
import time
from pathlib import Path

import equinox
import jax
import numpy as np
import optax

from sorites.papers.lego.arms import gathered, self_trained
from sorites.papers.lego.grids import LARGE, MAPS, SMOKE, WAYS, WHOLE, Study, mapped, over_epochs, self_training
from sorites.training import Trained, train

BEGUN = time.perf_counter()
PARTS = ("maps", *(f"epochs-{way}" for way in WHOLE.ways), *WAYS, "self-training")


def trained(size: Study, way: str) -> tuple[Trained, dict[str, np.ndarray]]:
    members = train(size.runs(size.arms(way)), list(range(size.seeds)) * len(size.actions), chunk=1)
    found = gathered(size, members.history)
    last = found["values"][-1].reshape(len(size.actions), size.seeds, -1)
    print(f"{way}, {size.steps:,} steps: all values right at L = {', '.join(map(str, size.lengths))}; "
          f"{time.perf_counter() - BEGUN:.0f} s")  # fmt: skip
    for action, rows in zip(size.actions, last, strict=True):
        print(f"{action:12s}" + "  ".join(" ".join(f"{value:4.2f}" for value in seeds) for seeds in rows.T), flush=True)
    return members, found


def arrays(part: str, size: Study) -> dict[str, np.ndarray]:
    if part == "maps":
        return mapped(size, trained(size, "fresh")[0])
    if part.startswith("epochs-"):
        return trained(size, part.removeprefix("epochs-"))[1]
    if part == "self-training":
        stages = self_trained(size, size.stages, train(self_training(size), range(size.seeds)).history)
        print({name: np.round(array.mean(axis=0), 3).tolist() for name, array in stages.items()}, flush=True)
        return stages
    return trained(size, part)[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}; default all")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that everything runs")
    options = parser.parse_args()
    if unknown := sorted({*options.parts} - {*PARTS}):
        parser.error(f"parts are {', '.join(PARTS)}: {', '.join(unknown)}; use some of these")
    options.out.mkdir(parents=True, exist_ok=True)
    small = {"maps": dataclasses.replace(SMOKE, actions=SMOKE.pair), "epochs": over_epochs(SMOKE, 300, 2)}
    sizes = small if options.smoke else {"maps": MAPS, "epochs": WHOLE}
    for part in options.parts or PARTS:
        begun, size = time.perf_counter(), sizes.get(part.partition("-")[0], SMOKE if options.smoke else LARGE)
        np.savez_compressed(options.out / f"{part}.npz", **arrays(part, size))  # pyright: ignore
        about = {
            "device": jax.devices()[0].device_kind,
            "versions": {"python": platform.python_version(), "jax": jax.__version__, "equinox": equinox.__version__,
                         "optax": optax.__version__, "numpy": np.__version__},
            "command": "python bench/lego_paper_scale.py OUT " + " ".join(sys.argv[2:]),
            "parameters": dataclasses.asdict(size),
            "seconds": round(time.perf_counter() - begun, 1),
        }  # fmt: skip
        (options.out / f"{part}.json").write_text(json.dumps(about, indent=1) + "\n")
        print(f"{part}: {about['seconds']} s on {about['device']}", flush=True)


if __name__ == "__main__":
    main()
