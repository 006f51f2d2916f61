"""Verdicts: how comparisons become one, what a record looks like, how flags override."""

import dataclasses
import json
import math

import pytest

from sorites.errors import SpecError, require
from sorites.ledger import (
    Among,
    Between,
    Claim,
    Domain,
    Erratum,
    Evidence,
    Powers,
    Real,
    anywhere,
    at_least,
    at_most,
    equal,
    interval_inside,
    override,
    shown,
    verdict_of,
    verify,
    verify_at,
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
        "erratum", "departures", "revised", "seeds", "seconds", "scale", "parameters",
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


@dataclasses.dataclass(frozen=True)
class Sized:
    bits: int = 8
    sparsity: int = 4
    rate: float = 1.0
    gate: str = "and"
    seeds: int = 3

    def __post_init__(self):
        require(self.sparsity <= self.bits, f"a secret fits: sparsity={self.sparsity}; use fewer")


DOMAIN = Domain(
    {"bits": Between(4, 16), "sparsity": Powers(2, 16), "rate": Real(0.1, 10, log=True), "gate": Among("and", "or")},
    where=lambda size: size.bits - size.sparsity != 3,
    because="bits - sparsity is not 3",
)
INSIDE = Claim("X-1", "none", "", "identity", "", {"tiny": Sized(6), "quick": Sized(seeds=5)},
               lambda size: Evidence((equal("one", 1, 1, 0),)), domain=DOMAIN)  # fmt: skip


def test_sizes_are_drawn_from_the_domain():
    sizes = anywhere(INSIDE, 40, 7)
    assert sizes == anywhere(INSIDE, 40, 7)
    assert sizes != anywhere(INSIDE, 40, 8)
    assert all(verify_at(INSIDE, size).verdict == "holds" for size in sizes)
    assert {size.gate for size in sizes} == {"and", "or"}
    assert {size.sparsity for size in sizes} >= {2, 4, 8}
    assert len({size.bits for size in sizes}) > 5
    assert all(size.seeds == 5 and size.bits - size.sparsity != 3 for size in sizes)
    assert anywhere(dataclasses.replace(INSIDE, domain=None), 5, 0) == [Sized(seeds=5)]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bits": 17}, "bits=17, which is meant to be 4 to 16"),
        ({"sparsity": 5}, "sparsity=5, which is meant to be powers of two from 2 to 16"),
        ({"rate": 0.05}, "rate=0.05"),
        ({"gate": "parity"}, "gate=parity, which is meant to be and or or"),
        ({"seeds": 4}, "seeds=4, which is meant to be 3 or 5"),
        ({"bits": 7}, "bits - sparsity is not 3"),
    ],
)
def test_outside_its_domain_nothing_is_said(changes, words):
    verdict = verify_at(INSIDE, dataclasses.replace(Sized(), **changes))
    assert verdict.verdict == "inconclusive"
    assert verdict.departures[0].startswith("outside its domain: ")
    assert words in verdict.departures[0]
    assert verdict.measured == 1  # it is measured all the same
    assert verify_at(INSIDE, Sized(bits=9)).verdict == "holds"
    assert verify(INSIDE, "tiny").verdict == "holds"
