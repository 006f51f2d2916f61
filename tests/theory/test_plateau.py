"""Half-learned parities against truth tables."""

import itertools

import numpy as np
import pytest

from sorites.theory.plateau import ands, coefficients, level, nearest, read_once


def table(function, bits):
    """Signs over all inputs, in the order of their numbers."""
    inputs = [[1 - 2 * (x >> place & 1) for place in range(bits)] for x in range(2**bits)]
    return np.array([function(*x) for x in inputs], np.int8)


def both(*signs):
    return 1 if min(signs) > 0 else -1


def test_coefficients_are_means_of_products():
    found = coefficients(table(lambda a, b, c: both(b, a * c), 3))
    assert found == pytest.approx([-0.5, 0, 0.5, 0, 0, 0.5, 0, 0.5])


def test_functions_that_read_each_bit_once_are_counted():
    """Two bits: XOR and its negation, four ANDs, four ORs. Three: 56 of the 84 that are right on 5/8 or 3/4."""
    assert len(read_once(2)) == 10
    at = {5 / 8: 0, 6 / 8: 0}
    parity = table(lambda *x: np.prod(x), 3)
    for each in read_once(3):
        right = float((np.frombuffer(each, np.int8) == parity).mean())
        at[right] = at.get(right, 0) + 1
    assert (at[5 / 8], at[6 / 8]) == (32, 24)
    assert sum(right in (5 / 8, 6 / 8) for right in _shares(parity)) == 84


def _shares(parity):
    return [(np.array(signs) == parity).mean() for signs in itertools.product((1, -1), repeat=8)]


@pytest.mark.parametrize(
    ("function", "name", "gates"),
    [
        (lambda a, b, c: -both(-a, b * c), "OR(1, XOR(2, 3))", 1),
        (lambda a, b, c: a * both(b, -c), "XOR(1, AND(2, 3))", 1),
        (lambda a, b, c: both(b, -both(a, c)), "AND(2, OR(1, 3))", 2),
        (lambda a, b, c: -both(b, -both(a, c)), "OR(2, AND(1, 3))", 2),
        (lambda a, b, c: both(a, b, c), "AND(1, AND(2, 3))", 2),
        (lambda a, b, c: -both(a, -b, c), "OR(1, OR(2, 3))", 2),
    ],
)
def test_a_formula_is_found_again(function, name, gates):
    law = coefficients(table(function, 3))
    found, same = nearest(law + 0.02)
    assert same == pytest.approx(law)
    assert found.split("(")[0] == name.split("(")[0]
    assert sorted(found) == sorted(name)  # AND(1, 2) may be written AND(2, 1)
    assert ands(law[-1]) == gates
    assert (1 + abs(law[-1])) / 2 == level(gates)


def test_a_majority_reads_no_bit_once():
    majority = coefficients(table(lambda *x: 1 if sum(x) > 0 else -1, 3))
    assert np.abs(nearest(majority)[1] - majority).max() >= 0.25
