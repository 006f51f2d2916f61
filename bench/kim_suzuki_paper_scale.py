"""The paper-scale ensembles behind kim-suzuki's figures, with JAX, Equinox and Optax alone.

    python bench/kim_suzuki_paper_scale.py OUT [--seconds S] [--smoke]

Writes one .npz per figure and about.json with device, versions, command and seconds. On a machine with polars,
`python bench/kim_suzuki_record.py OUT COMMIT` turns them into the tables under results/figures/.
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

from sorites.papers.kim_suzuki.grids import LARGE, LARGE_LAWS, Curves, FilterRange, SampleLaws
from sorites.papers.kim_suzuki.sample_law import success
from sorites.training import PLAIN, train

SMOKE = {"exp-k8": Curves(16, 8, 2_000, 10, 2.4, seeds=2), "filter-range": FilterRange(16, 8, 2_000, seeds=1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=400, help="start nothing new after this long")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that it runs")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    begun, about = time.perf_counter(), {
        "device": jax.devices()[0].device_kind,
        "versions": {"python": platform.python_version(), "jax": jax.__version__, "equinox": equinox.__version__,
                     "optax": optax.__version__, "numpy": np.__version__},
        "command": "python " + " ".join(["bench/kim_suzuki_paper_scale.py", *sys.argv[2:]]),
        "seconds": {},
    }  # fmt: skip

    def note(name: str, seconds: float, text: str) -> None:
        about["seconds"][name] = round(seconds, 2)
        print(f"{name:28s} {seconds:8.2f} s   {text}", flush=True)
        (options.out / "about.json").write_text(json.dumps(about, indent=1) + "\n")

    figures = SMOKE if options.smoke else LARGE
    for figure, size in figures.items():
        for name, (runs, seeds) in size.ensembles().items():
            if time.perf_counter() - begun > options.seconds:
                break
            for attempt in ("first call", "again"):  # the second tells what compilation cost
                started = time.perf_counter()
                history = train(runs, seeds).history
                note(f"{figure}--{name}, {attempt}", time.perf_counter() - started,
                     f"{int((history.last('soft.answer') == 1).sum())}/{len(seeds)} solved")  # fmt: skip
            history.save(options.out / f"{figure}--{name}.npz")
    laws = SampleLaws((8, 16), (16, 32), doublings=3, seeds=2) if options.smoke else LARGE_LAWS
    for name, law in laws.laws().items():
        if time.perf_counter() - begun < options.seconds:
            started = time.perf_counter()
            np.savez_compressed(
                options.out / f"law--{name.replace(' ', '').replace('/', '-')}.npz", success=success(law, PLAIN)
            )
            note(f"law--{name}", time.perf_counter() - started, f"{law.seeds} seeds")
    again = [
        seconds for name, seconds in about["seconds"].items() if name.startswith("exp-") and name.endswith("again")
    ]
    print(f"published experiments, compiled: {sum(again):.1f} s in all")


if __name__ == "__main__":
    main()
