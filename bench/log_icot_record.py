"""Turn what `bench/log_icot_paper_scale.py` wrote into the tables under results/figures/.

    python bench/log_icot_record.py OUT COMMIT

COMMIT is the commit that was run. The tables are made by the figures' own code, which is handed the stored histories
instead of training, in the order in which it asks for them.
"""

import dataclasses
import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

from sorites.papers.log_icot.figures import FIGURES
from sorites.papers.log_icot.grids import LARGE
from sorites.papers.registry import recording_code
from sorites.report.figures import results_folder, write_tables
from sorites.training import History


def main() -> None:
    out, commit = Path(sys.argv[1]), sys.argv[2]
    about = json.loads((out / "about.json").read_text())
    figures = {figure.name: figure for figure in FIGURES}
    for name, size in LARGE.items():
        ensembles = [f"{name}--{each}" for each in size.ensembles()]
        if not all((out / f"{each}.npz").exists() for each in ensembles):
            print(f"{name}: not all ensembles are there, skipped")
            continue
        stored = iter(ensembles)

        def replay(runs, seeds, stored=stored):
            history = History.load(out / f"{next(stored)}.npz")
            assert history.seeds.tolist() == list(seeds)
            return SimpleNamespace(history=history)

        frames = figures[name].measure(size, SimpleNamespace(train=replay))
        folder = results_folder() / "figures" / "log-icot" / name
        shutil.rmtree(folder, ignore_errors=True)
        code = recording_code(figures[name].measure, size, commit)
        write_tables(folder, frames, dataclasses.asdict(size), code)
        seconds = {each: about["ensembles"][each] for each in ensembles}
        origin = {key: about[key] for key in ("device", "versions", "command")}
        note = json.loads((folder / "about.json").read_text()) | origin | {"commit": commit, "seconds": seconds}
        (folder / "about.json").write_text(json.dumps(note, indent=1) + "\n")
        print(folder)


if __name__ == "__main__":
    main()
