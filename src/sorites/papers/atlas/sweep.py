"""Every cell that trains as a sweep: sorites sweep src/sorites/papers/atlas/sweep.py --only task=parity --dry-run

Each at its model's own rate and at the factors of the figure `atlas/cells`, which tunes on seeds of its own first and so
trains fewer members.
"""

import functools

import sorites as so
from sorites.papers.atlas.settings import Matrix

SIZE = Matrix()


@functools.cache
def arm(task: str, model: str, supervision: str):
    return SIZE.arm(task, model, supervision)


def taught(task: str, model: str, supervision: str, factor: float) -> so.Run:
    found = arm(task, model, supervision)
    assert found.make is not None
    return found.make(factor * found.rates[SIZE.factors.index(1.0)])


def trains(task: str, model: str, supervision: str) -> bool:
    return arm(task, model, supervision).make is not None


def sweep() -> so.Grid:
    tasks, models = zip(*(pair.split("/") for pair in SIZE.pairs), strict=True)
    every = so.grid(taught, supervision=SIZE.supervisions, factor=SIZE.factors)
    return every.zipped(task=tasks, model=models).where(trains)


seeds = range(SIZE.seeds)
