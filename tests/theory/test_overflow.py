"""Laws at sizes whose exponentials or binomials exceed every float."""

import math

import pytest

from sorites.errors import SpecError
from sorites.theory import concentration, gated_laws, sign_dynamics


@pytest.mark.parametrize(
    "law",
    [
        lambda size: sign_dynamics.column_error(8, size),
        lambda size: sign_dynamics.other_share(8, size, 1),
        lambda size: 0.5 - sign_dynamics.child_share(8, size, 1),
        lambda size: gated_laws.other_mass(8, size),
        concentration.attention_error,
    ],
)
def test_what_vanishes_is_zero_in_the_end(law):
    values = [law(size) for size in (1.0, 10.0, 300.0, 1e4, 1e300)]
    assert values == sorted(values, reverse=True)
    assert values[1] > 0
    assert values[-2:] == [0.0, 0.0]
    assert math.isfinite(law(-1e4))


@pytest.mark.parametrize("chance", [0.3, 0.5, 0.501])
@pytest.mark.parametrize("strict", [True, False])
def test_tails_of_many_signs(chance, strict):
    count = 1201
    logs = [
        math.lgamma(count + 1) - math.lgamma(plus + 1) - math.lgamma(count - plus + 1)
        + plus * math.log(chance) + (count - plus) * math.log(1 - chance)
        for plus in range(601 if strict else 600, count + 1)
    ]  # fmt: skip
    assert sign_dynamics.strict_tail(count, chance, strict) == pytest.approx(math.fsum(map(math.exp, logs)), rel=1e-9)


def test_tails_at_the_ends():
    middle = 0.5 + 0.5 / math.sqrt(math.pi * 500_000)  # half of the middle term, by Stirling
    assert sign_dynamics.strict_tail(10**6, 0.5) == pytest.approx(middle, abs=1e-8)
    for count in (7, 10**6):
        assert [sign_dynamics.strict_tail(count, chance) for chance in (0.0, 1.0)] == [0.0, 1.0]
    with pytest.raises(SpecError, match="at most 10,000,000"):
        sign_dynamics.strict_tail(10**9, 0.5)


def test_errors_that_no_rate_leaves_are_refused():
    assert sign_dynamics.rate_for_error(2, 0) == 0.0
    for error in (0, 2, -1):
        with pytest.raises(SpecError, match="above 0 and below 2"):
            sign_dynamics.rate_for_error(8, error)
    rate = sign_dynamics.rate_for_error(8, 0.25)
    assert sign_dynamics.column_error(8, rate) == pytest.approx(0.25)


def test_lengths_and_times_without_an_error_are_refused():
    for words in ((0, 6), (0.1, 2)):
        with pytest.raises(SpecError, match="bound the length"):
            concentration.reached_length(*words)
    for law in (concentration.descent_time, concentration.limiting_time):
        with pytest.raises(SpecError, match="error=0"):
            law(0, 6, 8, 5.0, 6, 1.0)
