"""Where claims and figures train: in a store, which shares, lists and resumes, or just so."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from .ensemble import Trained, train
from .stage import Run

S = TypeVar("S")
Arrays = dict[str, np.ndarray]


@runtime_checkable
class Lab(Protocol):
    """`sorites.Store`, or `PLAIN`."""

    def train(self, runs: Run | Sequence[Run], seeds: Sequence[int], *, snapshots: Sequence[int] = ()) -> Trained:
        """One member per seed, as `sorites.train`; snapshots: steps whose weights are wanted too."""
        ...

    def keep(self, spec: S, make: Callable[[S], Any], like: Any = None) -> Any:
        """`make(spec)`, for what learns and is no Run. It returns a dict of arrays, or a tree of them shaped as `like`.

        spec is made of what a run is made of (dataclasses, numbers, strings, arrays), make a function at the top level
        of a file: both are in the key.
        """
        ...


class Plain:
    """Nothing is stored."""

    def train(self, runs: Run | Sequence[Run], seeds: Sequence[int], *, snapshots: Sequence[int] = ()) -> Trained:
        return train(runs, seeds, snapshots=snapshots)

    def keep(self, spec: S, make: Callable[[S], Any], like: Any = None) -> Any:
        return make(spec)


PLAIN = Plain()
