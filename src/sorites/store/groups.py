"""The runs of an ensemble and their seeds, as the store asks for them."""

import itertools
from collections.abc import Sequence
from typing import Any

import equinox as eqx

from ..errors import require
from ..training import Run
from ..training.trees import as_members
from .loading import secret_of


def secrets_of(runs: list[Run], seeds: Sequence[int]) -> Any:
    """What each member had to find: it follows from run and seed, so it is not stored."""
    return as_members([secret_of(run.task, seed) for run, seed in zip(runs, seeds, strict=True)])


def require_alike(runs: list[Run]) -> None:
    """The ensemble's own rule, needed here because stored members never reach it."""
    static = [eqx.filter(run, eqx.is_array_like, inverse=True) for run in distinct(runs)]
    require(
        all(eqx.tree_equal(other, static[0]) is True for other in static[1:]),
        "the runs of one ensemble differ in arrays only (rates, weights, masks); train the others apart",
    )


def distinct(runs: list[Run]) -> list[Run]:
    return list({id(run): run for run in runs}.values())


def evenly(places: list[int], group: int) -> list[list[int]]:
    """Groups of at most that many, as equal as can be: a group of another size is another program."""
    count = -(-len(places) // group)
    ends = [len(places) * index // count for index in range(count + 1)] if count else [0]
    return [places[start:end] for start, end in itertools.pairwise(ends)]
