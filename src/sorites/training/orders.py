"""What is to be trained, as `train` and the store are given it: runs and seeds."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import SpecError, require
from ..fields import require_kind, shown
from .stage import Run

LARGEST = 2**31 - 1  # seed


def members_of(runs: Any, seeds: Any) -> tuple[list[Run], list[int]]:
    """Return one run and one seed for each member.

    Args:
        runs: one run, or one for each seed.
        seeds: whole numbers, in an order.

    Returns:
        Two lists of the same length.

    Raises:
        SpecError: where they are anything else.
    """
    seeds = seeds_of(seeds)
    each = list(runs) if isinstance(runs, list | tuple) else [runs] * len(seeds)
    for run in {id(run): run for run in each}.values():
        require_kind("runs", run, Run, "Run(model, stages)")
    require(len(each) == len(seeds), f"one run per seed: {len(each)} runs, {len(seeds)} seeds; make them equal")
    return each, seeds


def seeds_of(seeds: Any) -> list[int]:
    """Return the seeds as numbers of Python.

    Args:
        seeds: whole numbers from 0 to 2^31 - 1, in an order.

    Returns:
        A list of at least one seed.

    Raises:
        SpecError: where they are anything else, such as one number, a set or a text.
    """
    if isinstance(seeds, int):
        raise SpecError(f"seeds are a list: seeds={seeds}; use range({seeds})")
    if np.ndim(seeds) != 1 or not isinstance(seeds, Iterable) or isinstance(seeds, str | bytes):  # a set has no order
        raise SpecError(f"got seeds={shown(seeds)}; allowed is a list of whole numbers; use for example range(8)")
    found = list(seeds)
    require(len(found) > 0, "an ensemble needs at least one seed: seeds=0; use 1 or more")
    for seed in found:
        whole = isinstance(seed, int) or getattr(getattr(seed, "dtype", None), "kind", "") in ("i", "u")
        if not whole or isinstance(seed, bool) or not 0 <= int(seed) <= LARGEST:
            raise SpecError(
                f"got the seed {shown(seed)}; allowed are whole numbers from 0 to 2^31 - 1; use for example range(8)"
            )
    return [int(seed) for seed in found]
