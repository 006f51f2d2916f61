"""sorites score TASK FILE: what an outside model wrote, judged by the task."""

import functools
import sys
from typing import Any

import numpy as np

from .common import console, emit
from .data_command import task_of


def execute(options: Any) -> int:
    from ..statistics import wilson
    from ..store.loading import secret_of
    from ..tasks.rows import passed_over, read_rows
    from ..tasks.scoring import reply_of, score

    task = task_of(options)
    rows, skipped = read_rows(options.file, functools.partial(reply_of, task))
    if skipped and not options.quiet:
        print(f"sorites: {passed_over(options.file, skipped)}", file=sys.stderr)
    found = score(task, secret_of(task, options.seed), [reply for _, reply in rows])
    written = found.first_wrong[found.first_wrong >= 0]
    right, whole = int(found.answer.sum()), int((written == 0).sum())
    places, counts = np.unique(written[written > 0], return_counts=True)
    record = {
        "task": str(task), "seed": options.seed, "rows": len(rows), "with thoughts": len(written),
        "answer": right / len(rows), "answer interval": list(wilson(right, len(rows))),
        "chain": whole / len(written) if len(written) else None,
        "first wrong thought": {str(place): int(count) for place, count in zip(places, counts, strict=True)},
        "process reward": float(np.nanmean(found.reward)) if len(written) else None,
        "skipped": [each._asdict() for each in skipped],
    }  # fmt: skip
    if emit(options, record):
        return 0
    screen = console(options)

    def say(name: str, text: str) -> None:
        screen.print(f"[bold]{name:<20}[/bold] {text}", highlight=False)

    low, high = record["answer interval"]
    say("right answers", f"{record['answer']:.4f} of {len(rows):,} rows (95 % {low:.4f} to {high:.4f})")
    if len(written):
        say("right chains", f"{record['chain']:.4f} of {len(written):,} with thoughts")
        say("process reward", f"{record['process reward']:.4f} from -1 to 1")
        parts = ", ".join(f"thought {place}: {count:,}" for place, count in record["first wrong thought"].items())
        say("first wrong thought", parts or "none")
    return 0
