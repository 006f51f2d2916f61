"""sorites export RUN --to hf --out DIR [--member SEED] [--pad]"""

import sys
from pathlib import Path
from typing import Any

from .common import console, emit, open_store


def execute(options: Any) -> int:
    from ..models.gpt_huggingface import to_hf
    from ..store.loading import goal_metric

    store = open_store(options)
    model, task, _, history = store.load(options.run, options.member)
    folder = to_hf(model, Path(options.out), task.words, options.pad)
    goal = goal_metric(store.folders(), options.run, options.member)
    hides = goal.startswith("padded.") and task.layout.thoughts > 1  # the last thought is never read
    if hides and not options.pad and not options.quiet:
        print(
            f"sorites: the goal of this member is {goal}, which hides its thoughts, and the folder has no token for a "
            "hidden thought; --pad adds one",
            file=sys.stderr,
        )
    record = {"folder": str(folder), "run": options.run, "seed": int(history.seeds[0]), "task": str(task)}
    if not emit(options, record | {"files": sorted(path.name for path in folder.iterdir())}):
        console(options).print(str(folder), highlight=False, soft_wrap=True, markup=False)
    return 0
