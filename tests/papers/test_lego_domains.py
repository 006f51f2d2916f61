"""LEGO's claims over their domains: what is drawn, and that a wrong theory makes a claim fail."""

import dataclasses

import numpy as np
import pytest
from battery import LAB, holds_somewhere

from sorites.ledger import verdict_of, verify_at
from sorites.papers.lego import (
    attention_claims,
    data_claims,
    feature_claims,
    floor_claims,
    length_claims,
    order_claims,
    plateau_claims,
    rate_claims,
    recursion_claims,
)
from sorites.papers.lego.decoder_claims import above_zero
from sorites.papers.lego.feature_claims import often
from sorites.papers.lego.order_claims import correlated
from sorites.papers.lego.power_claims import Power
from sorites.papers.registry import papers

CLAIMS = papers()["lego"].claims()


def judged(id, **changes):
    claim = CLAIMS[id]
    return verify_at(claim, dataclasses.replace(claim.parameters("tiny"), **changes), "tiny", lab=LAB).verdict


@pytest.mark.parametrize("id", CLAIMS)
def test_every_claim_names_its_domain(id):
    holds_somewhere(CLAIMS[id])


@pytest.mark.parametrize("id", ["L2", "L6", "L21"])
def test_printed_forms_are_measured(id):
    claim = CLAIMS[id]
    erratum = claim.evidence(claim.parameters("tiny"), LAB).erratum
    assert erratum is not None
    assert erratum.printed_verdict == "fails"


def test_events_in_another_order_fail(monkeypatch):
    events = data_claims.events
    monkeypatch.setattr(data_claims, "events", lambda action: events(action)[[0, 2, 1, 3, 4, 5]])
    assert judged("L2") == "fails"


def test_loads_of_another_law_fail(monkeypatch):
    true = data_claims.too_many
    monkeypatch.setattr(data_claims, "too_many", lambda length, points: true(length, points + 1))
    assert judged("L21") == "fails"


@pytest.mark.parametrize("share", [2.0, 0.5])
def test_features_of_another_size_fail(monkeypatch, share):
    bent = feature_claims.bent
    monkeypatch.setattr(feature_claims, "bent", lambda ceiling: share * bent(ceiling))
    assert judged("L5") == "fails"


def test_the_easy_and_the_hard_action_swapped_fail():
    claim = CLAIMS["L16"]
    tiny = claim.parameters("tiny")
    swapped = dataclasses.replace(tiny, easy=tiny.hard, hard=tiny.easy)  # outside its domain: the comparisons are read
    assert verdict_of(claim.evidence(swapped, LAB).comparisons) == "fails"


def test_another_imbalance_fails(monkeypatch):
    monkeypatch.setattr(feature_claims, "imbalance", lambda action: float(action.values))
    assert judged("L6") == "fails"


def test_the_reversed_order_fails(monkeypatch):
    order = order_claims.greedy_order
    monkeypatch.setattr(order_claims, "greedy_order", lambda start: order(-start))
    assert judged("L7") == "fails"


@pytest.mark.parametrize(("hits", "verdict"), [(9, True), (7, None), (1, False)])
def test_few_cases_do_not_decide_a_share(hits, verdict):
    assert often("share", hits, 10, 0.9).holds is verdict


@pytest.mark.parametrize(("measured", "verdict"), [(0.7, True), (0.5, None), (-0.9, False)])
def test_few_pairs_do_not_decide_a_correlation(measured, verdict):
    assert correlated("rank", [measured] * 2, 9, 0.6).holds is verdict


@pytest.mark.parametrize("share", [2.0, 0.5])
def test_another_time_of_growth_fails(monkeypatch, share):
    time = Power.time.fget
    assert time is not None
    monkeypatch.setattr(Power, "time", property(lambda size: share * time(size)))
    assert judged("L8") == "fails"


def test_another_exponent_of_the_loser_fails(monkeypatch):
    limit = Power.limit.fget
    assert limit is not None
    monkeypatch.setattr(Power, "limit", property(lambda size: limit(size) ** 0.5))
    assert judged("L8") == "fails"


def test_another_pace_fails(monkeypatch):
    pace = plateau_claims.pace
    monkeypatch.setattr(plateau_claims, "pace", lambda theory, error: pace(theory, error) / 2)
    assert judged("L14") == "fails"


def test_a_pace_that_still_changes_does_not_decide():
    assert plateau_claims.settled("S4", [0.1, 0.2, 0.4]).holds is None
    assert plateau_claims.settled("S4", [0.1, 0.2, 0.21]).holds


def test_another_dilution_fails(monkeypatch):
    law = attention_claims.dilution_law
    monkeypatch.setattr(attention_claims, "dilution_law", lambda error, others: law(error, others / 2))
    assert judged("L15") == "fails"


@pytest.mark.parametrize(("classes", "ceiling"), [(2, 0.0), (1, 1.0), (1, -1.0)])
def test_another_floor_fails(monkeypatch, classes, ceiling):
    floor = floor_claims.loss_floor
    monkeypatch.setattr(floor_claims, "loss_floor", lambda d, top: floor(classes * d, top + ceiling))
    assert judged("L18") == "fails"


def test_the_promise_of_concentration_needs_a_large_ceiling():
    assert length_claims.promised_from(0.01) == pytest.approx(253.26)
    assert 5.04 * length_claims.upper_gap(length_claims.promised_from(0.01)) == pytest.approx(0.01)


@pytest.mark.parametrize(("name", "value"), [("CONCENTRATED", 0.1), ("upper_gap", lambda clipping: 1e-3)])
def test_another_bound_of_the_attention_error_fails(monkeypatch, name, value):
    monkeypatch.setattr(length_claims, name, value)
    assert judged("L17") == "fails"


@pytest.mark.parametrize(
    ("seeds", "verdict"),
    [
        ((1.0,), None),
        ((1.0, 1.1, 0.9), True),
        ((-1.0, -1.1, -0.9), None),
        ((-1.0, -1.1, -0.9, -1.05, -0.95, -1.0), False),
    ],
)
def test_few_seeds_do_not_refute_a_mean(seeds, verdict):
    assert above_zero("fall", np.array(seeds)).holds is verdict


@pytest.mark.parametrize("id", ["L23", "L25"])
def test_without_self_training_it_fails(monkeypatch, id):
    """Two steps alone do not reach |X| - 1."""
    accuracies = recursion_claims.accuracies
    first = {}

    def stuck(features, routing, action, lengths, count):
        return accuracies(features, first.setdefault("routing", routing), action, lengths, count)

    monkeypatch.setattr(recursion_claims, "accuracies", stuck)
    assert judged(id) == "fails"


@pytest.mark.parametrize("share", [2.0, 0.5])
def test_another_time_of_concentration_fails(monkeypatch, share):
    law = rate_claims.descent_time
    monkeypatch.setattr(rate_claims, "descent_time", lambda *given: share * law(*given))
    assert judged("L24") == "fails"


def test_another_exponent_of_the_error_fails(monkeypatch):
    law = rate_claims.descent_time
    monkeypatch.setattr(rate_claims, "descent_time", lambda error, *given: law(error**1.1, *given))
    assert judged("L24") == "fails"


def test_another_reach_fails(monkeypatch):
    law = rate_claims.reached_length
    monkeypatch.setattr(rate_claims, "reached_length", lambda error, values: law(error, values) / 2)
    assert judged("L24") == "fails"


@pytest.mark.parametrize(("right", "length"), [((1, 1, 0), 20), ((0, 0, 0), 10), ((1, 1, 1), np.inf)])
def test_the_length_at_which_half_are_right(right, length):
    found = rate_claims.half_right(np.array([10, 20, 40]), np.array(right, float))
    assert found == pytest.approx(length * 2**0.5 if right == (1, 1, 0) else length)
