"""Conjunctions of parities against truth tables."""

import itertools

import numpy as np
import pytest

from sorites.theory.plateau import conjunction, level, nearest, partitions


def table(function, bits):
    """Fourier coefficients by counting; subset 5 = 1 + 4 has places 0 and 2."""
    inputs = np.array(list(itertools.product((1, -1), repeat=bits)))
    values = np.array([function(x) for x in inputs])
    sets = [[place for place in range(bits) if subset >> place & 1] for subset in range(2**bits)]
    return np.array([(values * inputs[:, each].prod(axis=1)).mean() for each in sets])


def test_partitions_are_counted_by_bell():
    assert [len(list(partitions(tuple(range(count))))) for count in range(6)] == [1, 1, 2, 5, 15, 52]


@pytest.mark.parametrize("signs", itertools.product((1, -1), repeat=2))
def test_a_conjunction_is_that_of_its_truth_table(signs):
    def both(x):
        return 1 if signs[0] * x[1] > 0 and signs[1] * x[0] * x[2] > 0 else -1

    expected = table(both, 3)
    assert conjunction(((1,), (0, 2)), signs) == pytest.approx(expected)
    assert conjunction(((1,), (0, 2)), signs, -1) == pytest.approx(-expected)
    blocks, law = nearest(-expected)
    assert {frozenset(block) for block in blocks} == {frozenset({1}), frozenset({0, 2})}
    assert law == pytest.approx(-expected)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_its_accuracy_is_the_level(count):
    found = conjunction(tuple((place,) for place in range(count)), (1,) * count)
    assert (1 + abs(found[-1])) / 2 == level(count)


def test_a_majority_is_no_conjunction():
    majority = table(lambda x: 1 if sum(x) > 0 else -1, 3)
    assert np.abs(nearest(majority)[1] - majority).max() >= 0.5
