"""What is to be trained, as `train` and the store are given it: runs and seeds."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import SpecError, require
from ..fields import require_kind, shown
from .stage import Run

LARGEST = 2**31 - 1  # members are arrays of int32


def members_of(runs: Any, seeds: Any, distinct: bool = True) -> tuple[list[Run], list[int]]:
    """Return one run and one seed for each member.

    Args:
        runs: one run, or one for each seed.
        seeds: whole numbers, in an order.
        distinct: refuse a seed that is given twice, if there is one run for all.

    Returns:
        Two lists of the same length.

    Raises:
        SpecError: where they are anything else.
    """
    several = isinstance(runs, list | tuple)
    seeds = checked_seeds(seeds, distinct and not several)
    each = list(runs) if several else [runs] * len(seeds)
    for run in {id(run): run for run in each}.values():
        require_kind("runs", run, Run, "Run(model, stages)")
    require(len(each) == len(seeds), f"one run per seed: {len(each)} runs, {len(seeds)} seeds; make them equal")
    return each, seeds


def checked_seeds(seeds: Any, distinct: bool = True) -> list[int]:
    """Return the seeds as numbers of Python.

    Args:
        seeds: whole numbers from 0 to 2^31 - 1, in an order.
        distinct: refuse a seed that is given twice.

    Returns:
        A list of at least one seed.

    Raises:
        SpecError: where they are anything else, such as one number, a set or a text.

    Example:
        >>> checked_seeds(range(3))
        [0, 1, 2]
    """
    require(not isinstance(seeds, int), f"seeds={seeds} is one number: seeds are a list; use range({seeds})")
    if np.ndim(seeds) != 1 or not isinstance(seeds, Iterable) or isinstance(seeds, str | bytes):  # a set has no order
        raise SpecError(f"got seeds={shown(seeds)}; allowed is a list of whole numbers; use for example range(8)")
    found = list(seeds)
    require(len(found) > 0, "an ensemble needs at least one seed: seeds=[]; use 1 or more")
    for seed in found:
        whole = isinstance(seed, int) or getattr(getattr(seed, "dtype", None), "kind", "") in ("i", "u")
        if not whole or isinstance(seed, bool) or not 0 <= int(seed) <= LARGEST:
            raise SpecError(
                f"got the seed {shown(seed)}; allowed are whole numbers from 0 to 2^31 - 1; use for example range(8)"
            )
    numbers = [int(seed) for seed in found]
    twice = {seed for seed in numbers if numbers.count(seed) > 1} if len(set(numbers)) < len(numbers) else set()
    require(not (distinct and twice), f"the seed {min(twice, default=0)} is given twice; give each seed once")
    return numbers
