"""Turn what `bench/lego_paper_scale.py` wrote into the tables under results/figures/lego/.

    python bench/lego_record.py OUT COMMIT

COMMIT is the commit that was run. The tables are made by the figures' own code from the stored arrays.
"""

import dataclasses
import json
import shutil
import sys
from pathlib import Path

import numpy as np

from sorites.papers.lego.grids import LARGE
from sorites.papers.lego.length_figures import curves, stage_curves
from sorites.papers.lego.map_figures import maps
from sorites.papers.lego.separation_figures import separation
from sorites.report.figures import results_folder, write_tables


def main() -> None:
    out, commit = Path(sys.argv[1]), sys.argv[2]
    about = json.loads((out / "about.json").read_text())
    if about["parameters"] != json.loads(json.dumps(dataclasses.asdict(LARGE))):
        raise SystemExit(
            "these arrays were made with other settings than the figures' at paper scale: run the script again"
        )
    stored = np.load(out / "ensembles.npz")
    ways = [way for way in LARGE.ways if f"{way}/step" in stored]
    ensembles = {way: {key.split("/")[1]: stored[key] for key in stored if key.startswith(f"{way}/")} for way in ways}
    tables = {"separation": {"data": separation(LARGE, ensembles)}}
    if "fresh" in ensembles:
        tables["1a"] = {"data": curves(LARGE, ensembles["fresh"])}
    if (out / "maps.npz").exists():
        found = dict(np.load(out / "maps.npz"))
        kinds = {"2": ("plain",), "5": ("plain", "permuted"), "6": ("at10", "at20"), "7": ("at10", "at20")}
        tables |= {name: {"data": maps(LARGE, found, keys)} for name, keys in kinds.items()}
    if (out / "self-training.npz").exists():
        stages = dict(np.load(out / "self-training.npz"))
        if all(f"values{length}" in stages for length in LARGE.stages):
            tables["1b"] = {"data": stage_curves(LARGE, ensembles["fresh"], stages)}
    for name, frames in tables.items():
        folder = results_folder() / "figures" / "lego" / name
        shutil.rmtree(folder, ignore_errors=True)
        write_tables(folder, frames, dataclasses.asdict(LARGE))
        origin = {key: about[key] for key in ("device", "versions", "command", "seconds")}
        note = json.loads((folder / "about.json").read_text()) | origin | {"commit": commit}
        (folder / "about.json").write_text(json.dumps(note, indent=1) + "\n")
        print(folder)


if __name__ == "__main__":
    main()
