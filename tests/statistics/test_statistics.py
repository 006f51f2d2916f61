import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.statistics import log_log_slope, wilson


def test_wilson_has_its_textbook_values():
    assert wilson(18, 20) == pytest.approx((0.6990, 0.9721), abs=1e-4)
    assert wilson(0, 10)[0] == 0
    assert wilson(10, 10)[1] == pytest.approx(1)
    assert 0.5 in wilson(5, 10)


def test_wilson_refuses_what_is_no_proportion():
    with pytest.raises(SpecError, match="5 of 4"):
        wilson(5, 4)


def test_a_power_law_gives_its_exponent():
    x = np.array([1.0, 2.0, 4.0, 8.0])
    slope = log_log_slope(x, 3 * x**-1.5)
    assert slope.value == pytest.approx(-1.5)
    assert slope.interval[0] <= -1.5 <= slope.interval[1] + 1e-9


def test_noise_widens_the_interval():
    x = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    slope = log_log_slope(x, x * np.array([1.2, 0.8, 1.1, 0.9, 1.0]))
    assert slope.interval[1] - slope.interval[0] > 0.1


def test_a_slope_needs_positive_points():
    with pytest.raises(SpecError, match="three or more"):
        log_log_slope(np.array([1.0, 2.0]), np.array([1.0, 2.0]))
