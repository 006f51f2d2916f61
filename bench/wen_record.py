"""Turn the rows that `bench/wen_paper_scale.py --part measure` wrote into the tables under results/figures/wen/.

    python bench/wen_record.py OUT COMMIT

COMMIT is the commit that was run. Tables that were left out for want of time are not written.
"""

import dataclasses
import json
import shutil
import sys
from pathlib import Path

import polars as pl

from sorites.papers.wen.grids import LARGE
from sorites.report.figures import results_folder, write_tables


def main() -> None:
    out, commit = Path(sys.argv[1]), sys.argv[2]
    stored = json.loads((out / "rows.json").read_text())
    about = json.loads((out / "about-measure.json").read_text())
    named = dict(stored["tables"])
    if "1a" in named:  # figure 2c is the same shape and the same settings
        named["2c"] = named["1a"]
        stored["notes"]["2c"] = stored["notes"]["1a"]
    gathered = [name for name in ("2b", "2L2H", "1a") if name in named]
    if len(gathered) > 1:  # figure 2a gathers the shapes that were measured
        named["2a"] = {"data": [row for name in gathered for row in named[name]["data"]]}
        stored["notes"]["2a"] = {"from": gathered}
    named.pop("2L2H", None)
    for name, tables in named.items():
        frames = {each: pl.DataFrame(rows, infer_schema_length=None) for each, rows in tables.items() if rows}
        folder = results_folder() / "figures" / "wen" / name
        shutil.rmtree(folder, ignore_errors=True)
        write_tables(folder, frames, dataclasses.asdict(LARGE["1a" if name == "2c" else name]))
        origin = {key: about[key] for key in ("device", "versions", "command", "precision")}
        note = (
            json.loads((folder / "about.json").read_text()) | origin | {"commit": commit, "note": stored["notes"][name]}
        )
        (folder / "about.json").write_text(json.dumps(note, indent=1) + "\n")
        print(folder)


if __name__ == "__main__":
    main()
