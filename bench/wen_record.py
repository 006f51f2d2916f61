"""Turn what `bench/wen_paper_scale.py` wrote into results/figures/wen/ and results/bench-wen-h200.json.

    python bench/wen_record.py COMMIT OUT [OUT ...]

COMMIT is the commit that was run. Of several folders the last one that has a table counts; tables that none of them
has stay as they were recorded.
"""

import dataclasses
import json
import shutil
import sys
from pathlib import Path

import polars as pl

from sorites.papers.wen.grids import LARGE
from sorites.report.figures import results_folder, write_tables

HOME = results_folder() / "figures" / "wen"


def read(path: Path):
    return json.loads(path.read_text())


def write(name: str, frames: dict[str, pl.DataFrame], about: dict) -> None:
    shutil.rmtree(HOME / name, ignore_errors=True)
    write_tables(HOME / name, frames, dataclasses.asdict(LARGE[name]))
    written = read(HOME / name / "about.json") | about
    (HOME / name / "about.json").write_text(json.dumps(written, indent=1) + "\n")
    print(HOME / name)


def tables(out: Path, commit: str) -> None:
    stored, origin = read(out / "rows.json"), read(out / "about-measure.json")
    origin = {key: origin[key] for key in ("device", "versions", "command", "precision")} | {"commit": commit}
    for name, rows in stored["tables"].items():
        if name == "2L2H":  # not a figure of its own: a part of 2a
            gather(pl.DataFrame(rows["data"]), commit)
            continue
        frames = {each: pl.DataFrame(part, infer_schema_length=None) for each, part in rows.items() if part}
        write(name, frames, origin | {"note": stored["notes"][name]})


def gather(middle: pl.DataFrame | None = None, commit: str | None = None) -> None:
    """Figure 2c is figure 1a's shape and settings; figure 2a gathers every shape that was measured."""
    if (HOME / "1a").exists():
        shutil.copytree(HOME / "1a", HOME / "2c", dirs_exist_ok=True)
    parts, commits, sizes = {}, {}, {"2L2H": dataclasses.asdict(LARGE["2L2H"])}
    for shape, name in (("1L1H", "2b"), ("2L2H", "2a"), ("4L4H", "1a")):
        if (HOME / name).exists():
            data = pl.read_parquet(HOME / name / "data.parquet").filter(pl.col("layers") == int(shape[0]))
            said = read(HOME / name / "about.json")["commit"]
            parts[shape], commits[shape] = data, said[shape] if name == "2a" else said
            sizes |= {} if name == "2a" else {shape: read(HOME / name / "about.json")["parameters"]}
    if middle is not None:
        parts["2L2H"], commits["2L2H"] = middle, commit
    about = read(HOME / "1a" / "about.json")
    kept = {key: about[key] for key in ("device", "versions", "precision")}
    write(
        "2a", {"data": pl.concat(parts.values())}, kept | {"commit": commits, "note": "every shape that was measured"}
    )


def speed(out: Path, commit: str) -> None:
    """Throughput and the ablation, beside what was recorded before."""
    path = results_folder() / "bench-wen-h200.json"
    record = read(path) if path.exists() else {}
    if (out / "throughput.json").exists():
        found = {"sequences per second, width 720, one member": read(out / "throughput.json")}
        record |= read(out / "about-throughput.json") | {"commit": commit} | found
    if (out / "ablation.json").exists():
        origin = {key: read(out / "about-measure.json")[key] for key in ("device", "versions", "command")}
        record["first ablation"] = origin | {"commit": commit, "members": read(out / "ablation.json")}
    path.write_text(json.dumps(record, indent=1) + "\n")


def main() -> None:
    commit, *folders = sys.argv[1:]
    for out in map(Path, folders):
        if (out / "rows.json").exists():
            tables(out, commit)
        speed(out, commit)
    gather()


if __name__ == "__main__":
    main()
