"""sorites entropy MODEL_DIR [MODEL_DIR ...] --data FILE: normalised attention entropy, models side by side.

Finished blocks of problems are in the store: the same command goes on where a stopped one was.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import require
from .common import console, emit, open_store, progress


def execute(options: Any) -> int:
    from ..probes.pretrained import KINDS, entropies, shared_problems
    from ..probes.problems import MODES

    modes = list(dict.fromkeys(options.text.split(",")))
    require(all(mode in MODES for mode in modes), f"texts are {', '.join(MODES)}: text={options.text!r}; use these")
    require(options.tokens in ("all", "answer"), f"tokens are all or answer: tokens={options.tokens!r}; use one")
    require(options.reduce in ("min", "mean"), f"a reduction is min or mean: reduce={options.reduce!r}; use one")
    folders = [Path(folder) for folder in dict.fromkeys(options.models)]
    kind = KINDS[2 * (options.tokens == "answer") + (options.reduce == "mean")]
    with progress(options) as title:
        title("reading the problems")
        rows, skipped = shared_problems(options.data, folders, modes, options.limit)
        found = []
        for folder in folders:
            values = {}
            for mode in modes:

                def tell(done: int, name: str = f"{folder.name}, {mode}") -> None:
                    title(f"{name}: {done:,} of {len(rows):,} problems")

                tell(0)
                values[mode] = entropies(folder, rows, mode, open_store(options), tell)[:, KINDS.index(kind)]
            found.append(values)
    if skipped and not options.quiet:
        from ..tasks.rows import passed_over

        print(f"sorites: {passed_over(options.data, skipped)}", file=sys.stderr)
    record = {
        "data": str(options.data), "problems": len(rows), "tokens": options.tokens, "reduce": options.reduce,
        "skipped": [each._asdict() for each in skipped],
        "models": [
            {"model": str(folder), "entropy": {mode: each.mean(axis=0).tolist() for mode, each in values.items()}}
            for folder, values in zip(folders, found, strict=True)
        ],
    }  # fmt: skip
    if not emit(options, record):
        console(options).print(_table(folders, found))
    return 0


def _table(folders: list[Path], found: list[dict[str, np.ndarray]]) -> Any:
    """A row per model and layer: the mean over heads, and the least."""
    from rich.table import Table

    title = "normalised attention entropy, mean over heads (least)"
    table = Table("model", "layer", *found[0], title=title, box=None, pad_edge=False, header_style="bold")
    for folder, each in zip(folders, found, strict=True):
        texts = [values.mean(axis=0) for values in each.values()]
        for layer in range(len(texts[0])):
            cells = [f"{values[layer].mean():.4f} ({values[layer].min():.4f})" for values in texts]
            table.add_row(folder.name if layer == 0 else "", str(layer + 1), *cells)
    return table
