"""What the host knows between two chunks, and who listens."""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far an ensemble is, after a chunk."""

    stage: int
    stages: int
    step: int
    steps: int  # of the whole run
    members: int
    solved: int
    seconds: float
    # what each member measured last in the chunk, [member, ...level]; NaN for members that had stopped before it
    metrics: dict[str, np.ndarray] = dataclasses.field(default_factory=dict, repr=False, compare=False)

    @property
    def rate(self) -> float:
        """Training steps per second, summed over members."""
        return self.step * self.members / max(self.seconds, 1e-9)

    @property
    def remaining(self) -> float:
        """Seconds to the end at this pace."""
        return self.seconds * (self.steps - self.step) / max(self.step, 1)


Listener = Callable[[Progress], None]
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def reporting(listener: Listener) -> Iterator[None]:
    """Every ensemble trained in the block reports to the listener, unless it is given one of its own."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def listener_or(own: Listener | None) -> Listener | None:
    """The given listener, else that of the surrounding `reporting` block."""
    return own or _LISTENER.get()
