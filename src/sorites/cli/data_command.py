"""sorites data TASK --count N --format jsonl|parquet --out PATH"""

import dataclasses
from pathlib import Path
from typing import Any

from ..errors import require
from .common import console, emit, nearest, progress


def execute(options: Any) -> int:
    from ..store.data import ChainRows, write_data

    rows = ChainRows(task_of(options), options.count, options.seed, options.distinct)
    with progress(options) as title:

        def tell(done: int) -> None:
            title(f"{done:,} rows")

        path = write_data(rows, Path(options.out), options.format, options.test, tell)
    record = {"path": str(path), "task": str(rows.task), "count": rows.count, "test": options.test}
    if not emit(options, record | {"seed": rows.seed, "format": options.format}):
        console(options).print(str(path), highlight=False, soft_wrap=True, markup=False)
    return 0


def task_of(options: Any) -> Any:
    """A task by its name and sizes, or from a person's own file."""
    from ..tasks import AbstractTask
    from ..training.cells import TASKS, Sizes, task_named
    from .run_command import from_file

    require(0 <= options.seed < 2**32, f"a seed is a whole number below 2^32: seed={options.seed}; use another")
    if options.task.partition(":")[0].endswith(".py"):
        return from_file(options.task, "task", AbstractTask)
    if options.task not in TASKS:
        raise nearest("task", options.task, TASKS)
    return task_named(options.task, Sizes(*(getattr(options, field.name) for field in dataclasses.fields(Sizes))))
