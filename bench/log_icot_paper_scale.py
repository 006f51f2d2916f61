"""Train the paper-scale ensembles behind the figures, with JAX, Equinox and Optax alone.

    python bench/log_icot_paper_scale.py OUT [FIGURE ...]

Writes one .npz per ensemble (`History.save`) and about.json with device, versions, command and seconds. On a machine
with polars, `python bench/log_icot_record.py OUT` turns them into the tables under results/figures/.
"""

import json
import platform
import sys
import time
from pathlib import Path

import equinox
import jax
import numpy as np
import optax

from sorites.papers.log_icot.grids import LARGE
from sorites.training import train


def main() -> None:
    out, figures = Path(sys.argv[1]), sys.argv[2:] or list(LARGE)
    out.mkdir(parents=True, exist_ok=True)
    about = {
        "device": jax.devices()[0].device_kind,
        "versions": {"python": platform.python_version(), "jax": jax.__version__, "equinox": equinox.__version__,
                     "optax": optax.__version__, "numpy": np.__version__},
        "command": "python bench/log_icot_paper_scale.py " + " ".join(figures),
        "ensembles": {},
    }  # fmt: skip
    for figure in figures:
        for name, (runs, seeds) in LARGE[figure].ensembles().items():
            begun = time.perf_counter()
            history = train(runs, seeds).history
            seconds = round(time.perf_counter() - begun, 2)
            history.save(out / f"{figure}--{name}.npz")
            solved = int((history.last("padded.answer") == 1).sum())
            about["ensembles"][f"{figure}--{name}"] = seconds
            print(f"{figure:12s} {name:24s} {seconds:8.2f} s   {solved}/{len(seeds)} solved", flush=True)
            (out / "about.json").write_text(json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    main()
