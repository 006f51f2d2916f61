"""sorites entropy MODEL_DIR --data FILE: normalised attention entropy of a pretrained language model, head by head."""

from typing import Any

import numpy as np

from ..errors import require
from ..probes.pretrained import MODES, entropies, problems
from .common import console, emit


def execute(options: Any) -> int:
    from rich.table import Table

    modes = options.text.split(",")
    require(all(mode in MODES for mode in modes), f"texts are {', '.join(MODES)}: text={options.text!r}; use these")
    rows = problems(options.data, options.limit)
    found = {mode: entropies(options.model, rows, mode, options.tokens, options.reduce) for mode in modes}
    record = {
        "model": str(options.model), "data": str(options.data), "problems": len(rows), "tokens": options.tokens,
        "reduce": options.reduce, "entropy": {mode: values.tolist() for mode, values in found.items()},
    }  # fmt: skip
    taken = emit(options, record)
    table = Table("layer", *(f"{mode}: mean over heads" for mode in modes), *(f"{mode}: least" for mode in modes))
    for layer in range(len(found[modes[0]])):
        means = [f"{np.mean(values[layer]):.4f}" for values in found.values()]
        table.add_row(str(layer + 1), *means, *(f"{np.min(values[layer]):.4f}" for values in found.values()))
    if not taken:
        console(options).print(table)
    return 0
