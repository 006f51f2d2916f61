"""The runs of an ensemble and their seeds, as the store asks for them."""

import itertools
from collections.abc import Sequence
from typing import Any, TypeVar

import equinox as eqx

from ..errors import require
from ..training import Run
from ..training.trees import as_members
from .loading import secret_of

S = TypeVar("S")
MEMBERS = 64  # of a group, which is trained as one ensemble and stored in one folder


def secrets_of(runs: list[Run], seeds: Sequence[int]) -> Any:
    """Return the secrets of the members: they follow from run and seed, so they are not stored."""
    return as_members(
        [
            secret_of(run.task, seed) if run.start is None else run.start.secret
            for run, seed in zip(runs, seeds, strict=True)
        ]
    )


def require_alike(runs: list[Run]) -> None:
    """The ensemble's own rule, needed here because stored members never reach it."""
    static = [eqx.filter(run, eqx.is_array_like, inverse=True) for run in distinct(runs)]
    require(
        all(eqx.tree_equal(other, static[0]) is True for other in static[1:]),
        "the runs of one ensemble differ in arrays only (rates, weights, masks); train the others apart",
    )


def distinct(runs: list[Run]) -> list[Run]:
    return list({id(run): run for run in runs}.values())


def split_evenly(items: Sequence[S], most: int) -> list[list[S]]:
    """Split items into parts of at most `most`, in order and of nearly equal size.

    An ensemble of another size is another compiled program, so equal sizes save compilations.
    """
    count = -(-len(items) // most)
    ends = [len(items) * part // count for part in range(count + 1)] if count else [0]
    return [list(items[start:end]) for start, end in itertools.pairwise(ends)]
