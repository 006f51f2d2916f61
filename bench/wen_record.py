"""Turn what `bench/wen_paper_scale.py` wrote into results/figures/wen/ and results/bench-wen-h200.json.

    python bench/wen_record.py COMMIT OUT [OUT ...]
    python bench/wen_record.py

COMMIT is the commit that was run. A figure is recorded when every shape of it is there, in whichever of the folders.
Figures 1a and 2 are made of results/wen-whole-budget/members.json, where the members of `bench/wen_whole_budget.py` are
gathered, and 1b of their curves; 5 and 11 of the members of 10.
"""

import dataclasses
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import polars as pl

from sorites.papers.registry import recording_code
from sorites.papers.wen.figures import FIGURES
from sorites.papers.wen.grids import LARGE
from sorites.report.figures import results_folder, write_tables

HOME = results_folder() / "figures" / "wen"
MEASURES = {figure.name: figure.measure for figure in FIGURES}


def read(path: Path):
    return json.loads(path.read_text())


def write(name: str, frames: dict[str, pl.DataFrame], about: dict) -> None:
    shutil.rmtree(HOME / name, ignore_errors=True)
    size = LARGE["1a" if name in ("2c", "law") else name]
    code = recording_code(MEASURES[name], size, about.get("commit")) if name in MEASURES else None
    write_tables(HOME / name, frames, dataclasses.asdict(size), code)
    written = read(HOME / name / "about.json") | about
    (HOME / name / "about.json").write_text(json.dumps(written, indent=1) + "\n")
    print(HOME / name)


SHARED = {"5": "10", "11": "10"}  # figures that show members of another


def tables(folders: list[Path], commit: str) -> None:
    for name, size in LARGE.items():
        shapes = getattr(size, "shapes", ("all",))
        names = [f"rows-{SHARED.get(name, name)}-{shape}.json" for shape in shapes]
        found = [path for each in names for out in folders if (path := out / each).exists()]
        if len(found) < len(shapes):
            if found:
                print(f"{name}: only {', '.join(path.name for path in found)} of {', '.join(shapes)}")
            continue
        rows = [read(path) for path in found]
        whole = {each: [row for part in rows for row in part["tables"].get(each, ())] for each in rows[0]["tables"]}
        frames = {each: pl.DataFrame(part, infer_schema_length=None) for each, part in whole.items() if part}
        if name in SHARED:
            frames = {each: frame.filter(pl.col("size").is_in(size.sizes)) for each, frame in frames.items()}
        first = rows[0]["about"]
        products = "bfloat16" if size.compute == "bfloat16" else "TF32"
        origin = {key: first[key] for key in ("device", "versions")} | {"commit": commit}
        origin["precision"] = f"float32 weights, {products} products"
        origin["command"] = sorted({row["about"]["command"] for row in rows})
        seconds = {path.stem.split("-")[-1]: row["about"]["seconds"] for path, row in zip(found, rows, strict=True)}
        note = "every member reached its goal or its whole budget"
        write(name, frames, origin | {"seconds": seconds, "note": note})


def whole() -> None:
    """Figures 1a, 2a, 2b, 2c and law: nobody was stopped by a clock."""
    record = read(results_folder() / "wen-whole-budget" / "members.json")
    sources = {source["name"]: source for source in record["sources"]}
    fields = ("layers", "heads", "chain", "sparsity", "seed", "rate", "samples", "solved")
    for name, shapes in {
        "1a": ("4L4H",),
        "2b": ("1L1H",),
        "2c": ("4L4H",),
        "law": ("4L4H",),
        "2a": ("1L1H", "2L2H", "4L4H"),
    }.items():
        chosen = [row for row in record["members"] if row["shape"] in shapes]
        rows = [row | {"layers": int(row["shape"][0]), "heads": int(row["shape"][2])} for row in chosen]
        used = [sources[each] for each in sorted({row["from"] for row in chosen})]
        about = {
            "device": used[0]["device"],
            "commit": {each["name"]: each["commit"] for each in used},
            "command": {each["name"]: each["command"] for each in used},
            "evaluated": {each["name"]: each["evaluated"] for each in used},
            "versions": used[-1]["versions"],
            "note": "every member reached its goal or 10^7 sequences",
        }
        write(name, {"data": pl.DataFrame([{field: row[field] for field in fields} for row in rows])}, about)


def drop() -> None:
    """Figure 1b: the curves of the four secrets of figure 1a at its k and rate."""
    size, folder = LARGE["1b"], results_folder() / "wen-whole-budget"
    [rate] = size.rates
    data, entropy, used = [], [], {}
    record = read(folder / "members.json")
    for member in record["members"]:
        if (member["shape"], member["sparsity"], member["rate"]) != ("4L4H", size.sparsity, rate):
            continue
        step, accuracy, loss, heads = curve(folder, member)
        base = {"chain": member["chain"], "sparsity": size.sparsity, "seed": member["seed"], "rate": rate, "size": 0}
        used[member["from"]] = next(each for each in record["sources"] if each["name"] == member["from"])
        for place in range(1, len(step)):  # from the first step on
            at = base | {"samples": int(step[place]) * size.batch}
            data.append(at | {"accuracy": float(accuracy[place]), "loss": float(loss[place])})
            for (layer, head), value in np.ndenumerate(heads[place]):
                entropy.append(at | {"layer": layer + 1, "head": head + 1, "entropy": float(value)})
    about = {key: {name: each[key] for name, each in used.items()} for key in ("commit", "command", "evaluated")}
    about |= {
        "device": record["sources"][0]["device"],
        "note": "every member reached its goal; curves of figure 1a's members",
    }
    write("1b", {"data": pl.DataFrame(data), "entropy": pl.DataFrame(entropy)}, about)


def curve(folder: Path, member: dict) -> list[np.ndarray]:
    """Step, accuracy, loss and entropy [layer, head] of one member, until it was solved."""
    k, seed, rate = member["sparsity"], member["seed"], member["rate"]
    if member["from"] != "summary":
        stored = np.load(folder / f"curves-{member['from']}.npz")
        return [stored[f"{k}-{seed}-{rate:g}-{name}"] for name in ("step", "accuracy", "loss", "entropy")]
    stored = np.load(folder / f"{member['shape']}-n{member['bits']}-k{k}.npz")  # one secret, a member for each rate
    row = sorted((6e-5, 8e-5, 1e-4)).index(rate)
    seen = np.append(True, stored["step"] * 512 <= member["samples"])  # a row in front, as the others have at step 0
    names = ("accuracy", "loss", "entropy")
    step = np.append(0, stored["step"])[seen]
    return [step, *(np.concatenate([stored[name][row, :1], stored[name][row]])[seen] for name in names)]


def speed(out: Path, commit: str) -> None:
    """Throughput and the ablation, beside what was recorded before."""
    path = results_folder() / "bench-wen-h200.json"
    record = read(path) if path.exists() else {}
    if (out / "throughput.json").exists():
        found = {"sequences per second, width 720": read(out / "throughput.json")}
        record |= read(out / "about.json") | {"commit": commit} | found
    if (out / "ablation.json").exists():
        origin = {key: read(out / "about.json")[key] for key in ("device", "versions", "command")}
        record["first ablation"] = origin | {"commit": commit, "members": read(out / "ablation.json")}
    path.write_text(json.dumps(record, indent=1) + "\n")


def main() -> None:
    folders = [Path(out) for out in sys.argv[2:]]
    if not folders:
        whole()
        drop()
        return
    tables(folders, sys.argv[1])
    for out in folders:
        speed(out, sys.argv[1])


if __name__ == "__main__":
    main()
