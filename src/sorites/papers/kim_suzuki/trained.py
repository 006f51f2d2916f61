"""What the claims about both theorems share."""

import math
from typing import Any

import numpy as np

from ...ledger import Comparison, at_least
from ...training import Trained

NEEDED = 0.9  # share of seeds with every held-out answer right where a training is said to work
BROKEN = 0.5  # share below which it is said to break


def right(result: Trained) -> int:
    """Seeds that answer every held-out chain."""
    return int((result.history.last("soft.answer") == 1).sum())


def works(name: str, result: Trained) -> Comparison:
    return at_least(
        f"{name}: seeds with all answers right", right(result), math.ceil(NEEDED * len(result.history.seeds))
    )


def median_error(result: Trained) -> float:
    """Largest error of the answer, by the median seed; 2, the largest possible, counts for itself."""
    return float(np.median(result.history.last("soft.error")))


TINY: dict[str, Any] = {
    "seeds": 3,
    "chains": 200,
}  # of the setting at which the theorem works; a smaller one does not show it
