"""sorites export RUN --to hf --out DIR [--member SEED] [--pad]"""

import sys
from pathlib import Path
from typing import Any

from .common import console, emit, open_store


def execute(options: Any) -> int:
    from ..models.gpt_huggingface import to_hf

    model, task, _, history = open_store(options).load(options.run, options.member)
    folder = to_hf(model, Path(options.out), task.words, options.pad)
    hidden = any(name.startswith("padded.") for name in history.metrics)
    if hidden and not options.pad and not options.quiet:
        print(
            "sorites: this member was judged with its thoughts hidden, for which the folder has no token; "
            "--pad adds one",
            file=sys.stderr,
        )
    record = {"folder": str(folder), "run": options.run, "seed": int(history.seeds[0]), "task": str(task)}
    if not emit(options, record | {"files": sorted(path.name for path in folder.iterdir())}):
        console(options).print(str(folder), highlight=False, soft_wrap=True, markup=False)
    return 0
