"""Turn what `bench/rl_sft_paper_scale.py` wrote into the tables under results/figures/.

    python bench/rl_sft_record.py OUT COMMIT

The tables are made by the figures' own code, which is handed the stored outcomes instead of training.
"""

import dataclasses
import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from sorites.papers.registry import recording_code
from sorites.papers.rl_sft.figures import FIGURES
from sorites.papers.rl_sft.grids import LARGE
from sorites.report.figures import results_folder, write_tables


def main() -> None:
    out, commit = Path(sys.argv[1]), sys.argv[2]
    about = json.loads((out / "about.json").read_text())
    figures = {figure.name: figure for figure in FIGURES}
    for name, size in LARGE.items():
        if not (out / f"{name}.npz").exists():
            print(f"{name}: not there, skipped")
            continue
        with np.load(out / f"{name}.npz", allow_pickle=False) as stored:
            found = {way: stored[f"{way}|thoughts"] for way in size.ways if f"{way}|thoughts" in stored.files}
        if len(found) < len(size.ways):
            print(f"{name}: not all ways of teaching are there, skipped")
            continue
        waiting = iter(found.values())

        def replay(runs, seeds, waiting=waiting):
            thoughts = next(waiting)
            assert len(thoughts) == len(seeds)
            ends = {"rolled.levels": thoughts[:, None]}  # the last evaluation alone was kept
            return SimpleNamespace(history=SimpleNamespace(metrics=ends, last=lambda metric: ends[metric][:, -1]))

        frames = figures[name].measure(size, SimpleNamespace(train=replay))
        folder = results_folder() / "figures" / "rl-sft" / name
        shutil.rmtree(folder, ignore_errors=True)
        code = recording_code(figures[name].measure, size, commit)
        write_tables(folder, frames, dataclasses.asdict(size), code)
        seconds = {each: spent for each, spent in about["ensembles"].items() if each.startswith(name)}
        origin = {key: about[key] for key in ("device", "versions", "command")}
        note = json.loads((folder / "about.json").read_text()) | origin | {"commit": commit, "seconds": seconds}
        (folder / "about.json").write_text(json.dumps(note, indent=1) + "\n")
        print(folder)


if __name__ == "__main__":
    main()
