"""Which numbers are seeds."""

import operator
from typing import Any

from ..errors import SpecError, require

LIMIT = 2**31  # members are arrays of int32


def checked_seeds(seeds: Any, distinct: bool = True) -> list[int]:
    """Check the seeds of an ensemble.

    Args:
        seeds: whole numbers from 0 to 2^31 - 1; numpy's integers are accepted too.
        distinct: whether no seed may stand twice. False where every member has a run of its own.

    Returns:
        The seeds as Python integers.

    Raises:
        SpecError: where the seeds are no list, one of them is another number, or one stands twice.

    Example:
        >>> checked_seeds(range(3))
        [0, 1, 2]
    """
    require(not isinstance(seeds, int), f"seeds={seeds} is one number: seeds are a list; use range({seeds})")
    found = [_whole(seed) for seed in seeds]
    twice = {seed for seed in found if found.count(seed) > 1} if distinct and len(set(found)) < len(found) else ()
    require(not twice, f"the seed {min(twice, default=0)} is given twice: a seed is given once; leave out one")
    return found


def _whole(seed: Any) -> int:
    try:
        number = -1 if isinstance(seed, bool) else operator.index(seed)
    except TypeError:
        number = -1
    if not 0 <= number < LIMIT:
        raise SpecError(f"{seed!r} is no seed: a seed is a whole number from 0 to 2^31 - 1; use such numbers")
    return number
