"""Turn what `bench/lego_paper_scale.py` wrote into the tables under results/figures/lego/.

    python bench/lego_record.py OUT COMMIT

COMMIT is the commit that was run. The tables are made by the figures' own code from the stored arrays; ways of training
that OUT does not have stay as they were recorded.
"""

import dataclasses
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import polars as pl

from sorites.papers.lego.figures import FIGURES
from sorites.papers.lego.grids import LARGE, MAPS, WHOLE, Study
from sorites.papers.lego.length_figures import curves, stage_curves
from sorites.papers.lego.map_figures import maps
from sorites.papers.lego.separation_figures import separation
from sorites.papers.registry import recording_code
from sorites.report.figures import results_folder, write_tables

HOME = results_folder() / "figures" / "lego"
MEASURES = {figure.name: figure.measure for figure in FIGURES}
SIZES = {"maps": MAPS, "epochs": WHOLE}
ORIGIN = ("device", "versions", "command", "seconds", "commit")


def write(name: str, data: pl.DataFrame, size: Study, about: dict) -> None:
    shutil.rmtree(HOME / name, ignore_errors=True)
    code = recording_code(MEASURES[name], size, about.get("commit")) if name in MEASURES else None
    write_tables(HOME / name, {"data": data}, dataclasses.asdict(size), code)
    note = json.loads((HOME / name / "about.json").read_text()) | about
    (HOME / name / "about.json").write_text(json.dumps(note, indent=1) + "\n")
    print(HOME / name)


def write_ways(ways: dict[str, dict[str, np.ndarray]], origins: dict[str, dict]) -> None:
    """Beside those that are recorded already; each with where it comes from."""
    data, told = separation(LARGE, ways), {way: origins[way] for way in ways}
    if (HOME / "separation" / "data.parquet").exists():
        before = json.loads((HOME / "separation" / "about.json").read_text())
        old = pl.read_parquet(HOME / "separation" / "data.parquet").filter(~pl.col("way").is_in(list(ways)))
        one = {key: before[key] for key in ORIGIN if key in before}
        told |= {way: before.get("ways", {}).get(way, one) for way in old["way"].unique()}
        data = pl.concat([old, data])
    order = pl.col("way").replace_strict({way: place for place, way in enumerate(LARGE.ways)})
    write("separation", data.sort(order, maintain_order=True), LARGE, {"ways": told})


def main() -> None:
    out, commit = Path(sys.argv[1]), sys.argv[2]
    arrays, origins = {}, {}
    for path in sorted(out.glob("*.npz")):
        about = json.loads(path.with_suffix(".json").read_text())
        size = SIZES.get(path.stem.partition("-")[0], LARGE)
        if about.pop("parameters") != json.loads(json.dumps(dataclasses.asdict(size))):
            raise SystemExit(f"{path} has other settings than the figures at paper scale: run the part again")
        arrays[path.stem], origins[path.stem] = dict(np.load(path)), about | {"commit": commit}
    if "maps" in arrays:
        kinds = {"2": ("plain",), "5": ("plain", "permuted"), "6": ("at10", "at20"), "7": ("at10", "at20")}
        for name, keys in kinds.items():
            write(name, maps(MAPS, arrays["maps"], keys), MAPS, origins["maps"])
    epochs = {way: f"epochs-{way}" for way in WHOLE.ways}
    if set(epochs.values()) <= set(arrays):
        told = {"ways": {way: origins[part] for way, part in epochs.items()}}
        write("epochs", separation(WHOLE, {way: arrays[part] for way, part in epochs.items()}), WHOLE, told)
    if ways := {way: arrays[way] for way in LARGE.ways if way in arrays}:
        write_ways(ways, origins)
    if "fresh" in arrays:
        write("1a", curves(LARGE, arrays["fresh"]), LARGE, origins["fresh"])
    if "fresh" in arrays and "self-training" in arrays:
        write("1b", stage_curves(LARGE, arrays["fresh"], arrays["self-training"]), LARGE, origins["self-training"])


if __name__ == "__main__":
    main()
