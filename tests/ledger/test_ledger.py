"""Verdicts: how comparisons become one, what a record looks like, how flags override."""

import dataclasses
import json
import math

import pytest

from sorites.errors import SpecError
from sorites.ledger import (
    Claim,
    Erratum,
    Evidence,
    at_least,
    at_most,
    equal,
    interval_inside,
    override,
    shown,
    verdict_of,
    verify,
)


@dataclasses.dataclass(frozen=True)
class Size:
    bits: int = 4
    rate: float = 0.5
    sizes: tuple[int, ...] = (1, 2)
    calibration: str = "exact"
    reset: bool = True
    seeds: int = 3


def claim(*comparisons, expected="holds", erratum=None):
    def check(size: Size) -> Evidence:
        return Evidence(comparisons, seeds=size.seeds, erratum=erratum, departures=("a departure",))

    return Claim("X-1", "paper", "Thm 1", "finite", "says", {"tiny": Size(2), "quick": Size()}, check, expected)


def test_comparisons_decide():
    assert equal("a", 1.0, 1.0 + 1e-13, 1e-12).holds
    assert equal("a", 1.0, 1.1, 0.05).holds is False
    assert at_most("a", 1.0, 1.0).holds
    assert at_most("a", 1.1, 1.0).holds is False
    assert at_least("a", 17, 18).holds is False
    assert interval_inside("a", 1.0, (0.9, 1.1), 1.0, 0.2).holds is True
    assert interval_inside("a", 1.0, (0.7, 1.1), 1.0, 0.2).holds is None
    assert interval_inside("a", 2.0, (1.9, 2.1), 1.0, 0.2).holds is False
    assert shown("a", None, 3.0).holds


def test_one_failure_fails_and_doubt_is_inconclusive():
    good, bad = equal("good", 0, 0, 0), equal("bad", 0, 1, 0)
    doubt = interval_inside("doubt", 1, (0, 2), 1, 0.5)
    assert verdict_of((good,)) == "holds"
    assert verdict_of((good, doubt)) == "inconclusive"
    assert verdict_of((good, doubt, bad)) == "fails"
    assert verdict_of(()) == "inconclusive"


def test_records_have_the_agreed_keys_and_no_nan():
    verdict = verify(claim(equal("one", 1, math.nan, 0), at_most("two", 1, math.inf)))
    record = json.loads(json.dumps(verdict.record(), allow_nan=False))
    assert set(record) >= {
        "id", "paper", "label", "kind", "says", "verdict", "expected", "predicted", "measured", "tolerance",
        "erratum", "departures", "seeds", "seconds", "scale", "parameters",
    }  # fmt: skip
    assert record["predicted"].keys() == record["measured"].keys() == record["tolerance"].keys() == {"one", "two ≤"}
    assert record["measured"]["one"] is None
    assert record["verdict"] == "fails"
    assert isinstance(record["seeds"], int)


def test_one_comparison_is_a_number_and_none_is_null():
    assert verify(claim(equal("one", 1, 1, 0))).measured == 1
    assert verify(claim()).measured is None


def test_an_erratum_travels():
    record = verify(claim(erratum=Erratum("old", "new", "fails"))).record()
    assert record["erratum"] == {"printed": "old", "corrected": "new", "printed_verdict": "fails"}
    assert record["departures"] == ["a departure"]


def test_a_scale_without_settings_uses_the_next_smaller():
    assert claim().parameters("paper") == Size()
    assert claim().parameters("tiny") == Size(2)


def test_flags_are_typed():
    size = override(Size(), {"bits": "7", "rate": "2", "sizes": "3,4", "calibration": "literal", "reset": "false"})
    assert size == Size(7, 2.0, (3, 4), "literal", False)
    assert override(Size(), {"unknown": "1"}) == Size()


@pytest.mark.parametrize(
    ("flag", "value", "words"),
    [
        ("bits", "x", "whole number"),
        ("rate", "y", "a number"),
        ("reset", "maybe", "true or false"),
        ("seeds", "0", "seeds=0"),
    ],
)
def test_bad_flags_are_refused(flag, value, words):
    with pytest.raises(SpecError, match=words):
        override(Size(), {flag: value})
