"""The atlas where nothing but numpy and jax is installed, arm by arm, and its way into results/.

    python -m sorites.papers.atlas train gpt-icot OUT [--scale paper] [--seconds 1500] [--name VALUE ...]
    python -m sorites.papers.atlas record gpt-icot OUT [--scale paper] [--name VALUE ...]

`train` writes OUT/gpt-icot/<arm>.npz, the dearest arm first, and goes on where it was stopped; no arm is begun after
`--seconds`. Several processes may train on one OUT: each takes what no other is at. `record` needs polars, and writes
results/figures/atlas/gpt-icot, from which `sorites figure atlas/gpt-icot --scale paper` draws (the quick edition stands
beside it, in gpt-icot-quick), and the findings of docs/site/atlas.md anew.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...atomic import atomic_write
from ...errors import SpecError
from ...ledger import override
from ...store.origin import provenance
from ...training.lab import PLAIN
from .settings import SIZES
from .trials import Columns, expected, joined, tried

try:
    import fcntl
except ImportError:  # not on this system: run one process
    fcntl: Any = None


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m sorites.papers.atlas", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("action", choices=("train", "record"))
    parser.add_argument("name", choices=tuple(SIZES))
    parser.add_argument("out", type=Path)
    parser.add_argument("--scale", choices=("tiny", "quick", "paper"), default="paper")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    options, extra = parser.parse_known_args()
    pairs = dict(zip((word.removeprefix("--") for word in extra[::2]), extra[1::2], strict=False))
    try:
        size = override(SIZES[options.name][options.scale], pairs)
        folder = options.out / options.name
        if options.action == "train":
            train(options.name, size, folder, options.seconds)
        else:
            record(options.name + ("" if options.scale == "paper" else f"-{options.scale}"), size, folder)
    except SpecError as refusal:
        parser.error(str(refusal))


def place(folder: Path, labels: tuple[str, ...]) -> Path:
    return folder / ("--".join(label.replace(" ", "-").replace(",", "") for label in labels) + ".npz")


def train(name: str, size, folder: Path, seconds: float) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    made = provenance()
    words = ("OUT" if Path(word) == folder.parent else word for word in sys.argv[1:])
    about = {"device": made["device"]["kind"], "versions": {"python": made["python"], **made["versions"]},
             "command": " ".join(("python -m sorites.papers.atlas", *words))}  # fmt: skip
    with atomic_write(folder / "about.json") as draft:
        draft.write_text(json.dumps(about) + "\n")
    begun, elsewhere = time.perf_counter(), 0
    for arm in sorted(size.arms(), key=expected, reverse=True):
        path, here, used = place(folder, arm.labels), time.perf_counter(), sum(os.times()[:4])
        if here - begun > seconds:
            break
        with held(path.with_suffix(".lock")) as mine:
            if path.exists():
                continue
            if not mine:
                elsewhere += 1
                continue
            found = tried(arm, size.tuning, size.seeds, PLAIN)
            with atomic_write(path) as draft, draft.open("wb") as file:
                np.savez_compressed(file, **found)  # pyright: ignore[reportArgumentType]
        solved = f"{int(found['solved'].sum())}/{size.seeds} at rate {found['rate'][0]:g}"
        cost = f"{time.perf_counter() - here:.1f} s, {sum(os.times()[:4]) - used:.1f} s of processor"
        print(name, *arm.labels, "refused" if arm.make is None else solved, cost, flush=True)
    spent = f"{time.perf_counter() - begun:.1f} s, {sum(os.times()[:4]):.1f} s of processor"
    print(name, "all done" if not elsewhere else f"{elsewhere} arms begun elsewhere", spent, flush=True)


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Whether this process has the file to itself; the lock goes with the process, however that ends."""
    with path.open("a") as file:
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        try:
            yield True
        finally:
            path.unlink(missing_ok=True)  # whoever waits on the old file finds the arm done


def record(name: str, size, folder: Path) -> None:
    import dataclasses
    import shutil

    from ...store.closure import PACKAGE
    from ...store.origin import commit
    from ...store.tables import read_about, write_tables
    from ..registry import recording_code
    from .figures import measure
    from .tables import frames_of

    parts: list[Columns] = []
    for arm in size.arms():
        path = place(folder, arm.labels)
        if not path.exists():
            raise SpecError(f"a record holds every arm: {path} is missing; train it first")
        with np.load(path, allow_pickle=False) as stored:
            parts.append({key: stored[key] for key in stored.files})
    target = PACKAGE.parents[1] / "results" / "figures" / "atlas" / name
    shutil.rmtree(target, ignore_errors=True)  # the arms that it was made from are whole
    trained_at = read_about(folder).get("commit", commit())
    code = recording_code(measure, size, trained_at)
    write_tables(target, frames_of(joined(parts)), dataclasses.asdict(size), code)
    if (folder / "about.json").exists():
        about = json.loads((target / "about.json").read_text()) | json.loads((folder / "about.json").read_text())
        (target / "about.json").write_text(json.dumps(about, indent=1) + "\n")
    print(target)
    tell(target.parent, PACKAGE.parents[1] / "docs" / "site" / "atlas.md")


def tell(records: Path, page: Path) -> None:
    """Write the findings of all that is recorded into the page."""
    from ...store.tables import read_tables
    from .findings import findings

    tables = {folder.name: read_tables(folder) for folder in sorted(records.iterdir())}
    said = findings({name: found for name, found in tables.items() if found is not None})
    if page.exists():
        before, _, rest = page.read_text().partition("## Findings\n")
        after = rest[rest.index("\n## ") :]
        listed = "".join(f"\n{number}. {each}" for number, each in enumerate(said, start=1))
        page.write_text(f"{before}## Findings\n{listed}\n{after}")


if __name__ == "__main__":
    main()
