"""A seed is a whole number that a member can have."""

import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.training.seeds import LARGEST, checked_seeds


@pytest.mark.parametrize("seeds", [[3, 0, 7], range(2), (LARGEST,), np.arange(3), [np.uint8(4)]])
def test_seeds_come_back_as_integers(seeds):
    found = checked_seeds(seeds)
    assert found == [int(seed) for seed in seeds]
    assert all(type(seed) is int for seed in found)


@pytest.mark.parametrize(
    "seed", [0.4, 1.5, 1.0, True, np.True_, -1, LARGEST + 1, 2**70, "1", None, float("nan"), np.float32(2)]
)
def test_other_values_are_refused(seed):
    with pytest.raises(SpecError, match=r"got the seed .* allowed are whole numbers from 0"):
        checked_seeds([0, seed])


def test_a_seed_is_given_once():
    with pytest.raises(SpecError, match="the seed 1 is given twice"):
        checked_seeds([0, 1, 2, 1])
    assert checked_seeds([0, 1, 1], distinct=False) == [0, 1, 1]


def test_one_number_is_no_list():
    with pytest.raises(SpecError, match=r"use range\(8\)"):
        checked_seeds(8)
