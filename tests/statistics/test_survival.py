"""Censored times: the textbook curve, medians with intervals, and growth that is told apart."""

import math

import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.statistics import compare_growth, kaplan_meier, median_time


def test_product_limit_by_hand():
    """Six members: 6, 6, 6, 6*, 7, 10 with one censored at 6 (Gehan's first rows)."""
    curve = kaplan_meier(np.array([6, 6, 6, 6, 7, 10]), np.array([True, True, True, False, True, True]))
    np.testing.assert_allclose(curve.times, [6, 7, 10])
    np.testing.assert_allclose(curve.unsolved, [0.5, 0.25, 0.0])


def test_a_curve_without_members_is_refused():
    with pytest.raises(SpecError, match="needs members"):
        kaplan_meier(np.array([]), np.array([], bool))


def test_medians():
    times, solved = np.arange(1.0, 10.0), np.ones(9, bool)
    found = median_time(times, solved)
    assert found.value == 5
    assert found.interval.low < 5 < found.interval.high
    late = median_time(times, times < 3)
    assert math.isinf(late.value)
    assert math.isinf(late.interval.high)
    assert late.solved == 2
    assert math.isinf(median_time(times, np.zeros(9, bool)).value)


def test_coverage():
    """95 % intervals of exponential times, half of them at risk of censoring, cover the true median."""
    generator, covered = np.random.default_rng(0), 0
    for _ in range(200):
        times, ends = generator.exponential(1.0, 24), generator.uniform(0.2, 3.0, 24)
        found = median_time(np.minimum(times, ends), times <= ends)
        covered += found.interval.low <= math.log(2) <= found.interval.high
    assert covered >= 180


@pytest.mark.parametrize("members", [2, 5, 6, 8, 11])
def test_coverage_of_few_members(members):
    """All of them solved: an interval that claims 95 % has nearly that."""
    generator = np.random.default_rng(members)
    found = [median_time(generator.exponential(1.0, members), np.ones(members, bool)).interval for _ in range(1000)]
    assert np.mean([low <= math.log(2) <= high for low, high in found]) >= 0.95
    assert all(math.isfinite(high) for _, high in found) == (members >= 6)


def test_exactly_half():
    """Midway to the next success, as for uncensored data; with none to come, the time itself."""
    assert median_time(np.array([10, 1000]), np.array([True, True])).value == 505
    assert median_time(np.array([1, 2, 4, 8]), np.ones(4, bool)).value == 3
    assert median_time(np.array([10, 1000]), np.array([True, False])).value == 10
    late = median_time(np.array([50, 80, 90]), np.array([True, False, False]))
    assert math.isinf(late.value)
    assert late.bound == 80


@pytest.mark.parametrize("law", ["linear", "exponential"])
def test_growth_is_told_apart(law):
    generator = np.random.default_rng(1)
    sizes = np.repeat([1, 2, 3, 4], 8)
    median = 5_000.0 * sizes if law == "linear" else 5_000.0 * 12.0 ** (sizes - 1)
    times = median * np.exp(0.15 * generator.normal(size=32))
    budget = 1e6
    found = compare_growth(sizes, np.minimum(times, budget), times < budget)
    assert found.verdict == law
    fit = getattr(found, law)
    assert fit.first == pytest.approx(5_000, rel=0.5)
    if law == "exponential":
        assert fit.growth == pytest.approx(12, rel=0.5)


def test_one_size_tells_nothing():
    with pytest.raises(SpecError, match="three sizes"):
        compare_growth(np.array([1, 1]), np.array([2.0, 3.0]), np.array([True, True]))
    flat = compare_growth(np.array([1, 2, 3]), np.array([5.0, 5.0, 5.0]), np.array([True, True, True]))
    assert flat.verdict == "inconclusive"


@pytest.mark.parametrize("spread", [math.exp(-2.5), 1.0, math.exp(4)])
def test_without_censoring_a_fit_is_least_squares(spread):
    """Of the logarithms of the times; the likeliest spread is the root mean square of what is left."""
    sizes, left = np.repeat([2.0, 3, 4, 5], 10), np.random.default_rng(1).normal(size=40)
    design = np.stack([np.ones(40), sizes - 2], axis=1)
    left -= design @ np.linalg.lstsq(design, left, rcond=None)[0]
    left *= spread / np.sqrt(np.mean(left**2))
    found = compare_growth(sizes, np.exp(200 + 0.5 * (sizes - 2) + left), np.ones(40, bool)).exponential
    assert found.spread == pytest.approx(spread, rel=1e-2)
    assert math.log(found.first) == pytest.approx(200, abs=0.02 * spread)
    assert math.log(found.growth) == pytest.approx(0.5, abs=0.02 * spread)
    normal = -20 * (math.log(2 * math.pi) + 1) - 40 * math.log(spread)
    assert found.log_likelihood == pytest.approx(normal, abs=1e-2)


def test_times_on_a_curve_have_a_least_spread():
    found = compare_growth(np.array([2, 3, 4, 5]), np.exp([1.0, 2, 3, 4]), np.ones(4, bool)).exponential
    assert found.spread == pytest.approx(math.exp(-3), rel=1e-3)
