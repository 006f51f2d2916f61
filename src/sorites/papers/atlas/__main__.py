"""The atlas where nothing but numpy and jax is installed, arm by arm, and its way into results/.

    python -m sorites.papers.atlas train gpt-icot OUT [--scale paper] [--seconds 1500] [--name VALUE ...]
    python -m sorites.papers.atlas record gpt-icot OUT [--scale paper] [--name VALUE ...]

`train` writes OUT/gpt-icot/<arm>.npz and goes on where it was stopped; no arm is begun after `--seconds`. `record` needs
polars, and writes results/figures/atlas/gpt-icot, from which `sorites figure atlas/gpt-icot --scale paper` draws.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from ...errors import SpecError
from ...ledger import override
from ...training.lab import PLAIN
from .settings import SIZES
from .trials import Columns, joined, tried


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
        (train if options.action == "train" else record)(options.name, size, folder, options.seconds)
    except SpecError as refusal:
        parser.error(str(refusal))


def place(folder: Path, labels: tuple[str, ...]) -> Path:
    return folder / ("--".join(label.replace(" ", "-").replace(",", "") for label in labels) + ".npz")


def train(name: str, size, folder: Path, seconds: float) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    begun = time.perf_counter()
    for arm in size.arms():
        path, here = place(folder, arm.labels), time.perf_counter()
        if path.exists() or here - begun > seconds:
            continue
        found = tried(arm, size.tuning, size.seeds, PLAIN)
        aside = path.with_suffix(".partial")
        with aside.open("wb") as file:
            np.savez_compressed(file, **found)  # pyright: ignore[reportArgumentType]
        aside.replace(path)
        said = (
            "refused" if arm.make is None else f"{int(found['solved'].sum())}/{size.seeds} at rate {found['rate'][0]:g}"
        )
        print(name, *arm.labels, said, f"{time.perf_counter() - here:.1f} s", flush=True)


def record(name: str, size, folder: Path, seconds: float) -> None:
    import dataclasses

    from ...store.source import PACKAGE
    from ...store.tables import write_tables
    from .figures import frames_of

    parts: list[Columns] = []
    for arm in size.arms():
        path = place(folder, arm.labels)
        if not path.exists():
            raise SpecError(f"a record holds every arm: {path} is missing; train it first")
        with np.load(path, allow_pickle=False) as stored:
            parts.append({key: stored[key] for key in stored.files})
    target = PACKAGE.parents[1] / "results" / "figures" / "atlas" / name
    write_tables(target, frames_of(joined(parts)), dataclasses.asdict(size))
    print(target)


if __name__ == "__main__":
    main()
