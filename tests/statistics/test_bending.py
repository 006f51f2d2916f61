"""A power and an exponential are told apart where they can be, and not where they cannot."""

import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.statistics import bend_of

LAWS = {"power": lambda k: 4_000 * k**5.0, "exponential": lambda k: 4_000 * 7.0 ** (k - 1)}


def drawn(law, sizes, seed, spacing=2_000, budget=30_000_000):
    k = np.repeat(sizes, 4)
    times = LAWS[law](k.astype(float)) * np.exp(0.3 * np.random.default_rng(seed).normal(size=len(k)))
    seen = np.ceil(times / spacing) * spacing
    return k, np.minimum(seen, budget), seen <= budget, spacing


@pytest.mark.parametrize("law", LAWS)
def test_six_sizes_tell_them_apart(law):
    found = bend_of(*drawn(law, [1, 2, 3, 4, 5, 6], 0))
    assert found.verdict == law
    assert found.value == pytest.approx(float(law == "exponential"), abs=0.3)
    u, v = found.lines[float(law == "exponential")]
    assert np.exp(u) == pytest.approx(4_000, rel=0.3)
    assert v == pytest.approx(5.0 if law == "power" else np.log(7.0), rel=0.1)


def test_a_grid_as_coarse_as_the_first_time_hides_the_law():
    """Four thousand is seen at 32,768 at the earliest; taken as exact, such times would exclude a power."""
    k, times, solved, _ = drawn("exponential", [1, 2, 3], 1, spacing=32_768)
    assert bend_of(k, times, solved, 32_768.0).verdict == "inconclusive"
    assert bend_of(k, times, solved, 1.0).interval.low > 0


def test_too_few_sizes_get_a_sentence():
    with pytest.raises(SpecError, match="three sizes with a success"):
        bend_of(*drawn("power", [1, 2], 0))
