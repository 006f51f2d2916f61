"""Tracing makes many objects, and little of it is garbage: with the usual thresholds claims whose programs are
on disk took 7 to 10 % longer, looking for it (docs/history/speed.md)."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

RARELY = (100_000, 20, 100)


def collect_rarely() -> None:
    """In all of the process."""
    gc.set_threshold(*RARELY)


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """For a while; also of use as a decorator. Whoever looks as rarely, or not at all, does so already."""
    before = gc.get_threshold()
    if not 0 < before[0] < RARELY[0]:
        yield
        return
    gc.set_threshold(*RARELY)
    try:
        yield
    finally:
        gc.set_threshold(*before)
