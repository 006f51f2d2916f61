"""Turn what `bench/kim_suzuki_paper_scale.py` wrote into the tables under results/figures/kim-suzuki.

    python bench/kim_suzuki_record.py OUT COMMIT

The tables are made by the figures' own code, which is handed the stored histories instead of training.
"""

import dataclasses
import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from sorites.papers.kim_suzuki import map_figures
from sorites.papers.kim_suzuki.figures import FIGURES
from sorites.papers.kim_suzuki.grids import LARGE, LARGE_LAWS
from sorites.papers.registry import recording_code
from sorites.report.figures import results_folder, write_tables
from sorites.training import History


def main() -> None:
    out, commit = Path(sys.argv[1]), sys.argv[2]
    about = json.loads((out / "about.json").read_text())
    figures = {figure.name: figure for figure in FIGURES}

    def keep(name: str, size, frames, seconds: dict) -> None:
        folder = results_folder() / "figures" / "kim-suzuki" / name
        shutil.rmtree(folder, ignore_errors=True)
        code = recording_code(figures[name].measure, size, commit)
        write_tables(folder, frames, dataclasses.asdict(size), code)
        origin = {key: about[key] for key in ("device", "versions", "command")}
        note = json.loads((folder / "about.json").read_text()) | origin | {"commit": commit, "seconds": seconds}
        (folder / "about.json").write_text(json.dumps(note, indent=1) + "\n")
        print(folder)

    for name, size in LARGE.items():
        stored = iter([f"{name}--{each}" for each in size.ensembles()])

        def replay(runs, seeds, stored=stored):
            history = History.load(out / f"{next(stored)}.npz")
            assert history.seeds.tolist() == list(seeds)
            return SimpleNamespace(history=history)

        frames = figures[name].measure(size, SimpleNamespace(train=replay))
        keep(name, size, frames, {k: v for k, v in about["seconds"].items() if k.startswith(f"{name}--")})
    laws = {
        law: np.load(out / f"law--{name.replace(' ', '').replace('/', '-')}.npz")["success"]
        for name, law in LARGE_LAWS.laws().items()
    }
    map_figures.success = laws.__getitem__
    for name in ("phase", "exponent"):
        keep(
            name,
            LARGE_LAWS,
            figures[name].measure(LARGE_LAWS, None),
            {k: v for k, v in about["seconds"].items() if "law" in k},
        )


if __name__ == "__main__":
    main()
