"""KS-29 to KS-33, and KS-19, 23, 26 and 28, under a wrong theory."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from sorites.ledger import verdict_of
from sorites.papers.kim_suzuki import (
    contrast_claims,
    log_step_claims,
    model_claims,
    published_claims,
    radius_claims,
    trend_claims,
)
from sorites.papers.kim_suzuki.published import Published
from sorites.papers.registry import papers
from sorites.store import Store
from sorites.theory import elimination, rounding
from sorites.theory import parity_class as pc
from sorites.training import PLAIN, Trained

CLAIMS = papers()["kim-suzuki"].claims()


def tiny(id, **changes):
    """What the check says at tiny size, with these parameters changed."""
    size = dataclasses.replace(CLAIMS[id].parameters("tiny"), **changes)
    return verdict_of(CLAIMS[id].evidence(size, PLAIN).comparisons)


def outcome(seeds, **metrics):
    """A training that was not run: metrics as they end, or with records."""
    result = object.__new__(Trained)  # no real history behind it
    ends = {
        name: np.broadcast_to(np.asarray(value, float), (seeds,))
        for name, value in metrics.items()
        if np.ndim(value) < 2
    }
    history = SimpleNamespace(last=ends.__getitem__, seeds=range(seeds), metrics=metrics)
    object.__setattr__(result, "history", history)
    return result


RIGHT = {"random": (0.001, 0.001, 1.9), "adversarial": (0.002, 0.9, 2.0)}  # error at radii 0.1, 0.5 and 3


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [
        (RIGHT, "holds"),
        ({**RIGHT, "adversarial": (0.0005, 0.9, 2.0)}, "fails"),  # harms less than noise at the smallest radius
        ({**RIGHT, "adversarial": (0.002, 0.0005, 2.0)}, "fails"),
        ({"random": (0.001, 0.001, 0.001), "adversarial": (0.002, 0.002, 0.002)}, "fails"),  # never breaks
        ({"random": (1.9, 1.9, 1.9), "adversarial": (2.0, 2.0, 2.0)}, "fails"),  # breaks at once
    ],
)
def test_radii(monkeypatch, errors, verdict):
    def stub(size, lab):
        unit = CLAIMS["KS-29"].parameters("tiny").parting() / size.bits**2
        place = int(np.argmin(np.abs(np.array((0.1, 0.5, 3.0)) - size.noise / unit)))
        return outcome(size.seeds, **{"soft.error": errors[size.oracle][place]})

    monkeypatch.setattr(radius_claims, "trained", stub)
    assert tiny("KS-29", seeds=10) == verdict


def test_rounding_that_forgives_twice_as_much(monkeypatch):
    def stub(size, lab):  # siblings part where half the shift leaves the cell
        kept = rounding.room(float(min(log_step_claims.law(size), key=rounding.room))) > size.rate() * size.noise
        return outcome(size.seeds, **{"soft.error": 1e-3 if kept else 1.0})

    monkeypatch.setattr(radius_claims, "trained", stub)
    assert tiny("KS-29", radii=(0.1, 1.5), seeds=10, samples=3_000_000) == "holds"
    true = rounding.kept
    monkeypatch.setattr(
        rounding, "kept", lambda weight, noise, shift, adversarial: true(weight, noise, shift / 2, True)
    )
    assert tiny("KS-29", radii=(0.1, 1.5), seeds=10, samples=3_000_000) == "fails"


def test_a_variance_that_falls_as_a_power(monkeypatch):
    monkeypatch.setattr(pc, "population_variance", lambda d, k, slopes: pc.square_norm(slopes) / d**2)
    assert tiny("KS-30") == "fails"


def test_an_exponent_that_is_off_by_one(monkeypatch):
    true = trend_claims.proof_sum
    monkeypatch.setattr(trend_claims, "proof_sum", lambda kappa, depth: true(2 * kappa, depth))
    assert tiny("KS-31") == "fails"


def test_norms_that_grow_faster_than_the_lemma(monkeypatch):
    monkeypatch.setattr(trend_claims, "own_norm", lambda size: size.bits**3.0)
    assert tiny("KS-31") == "fails"


def test_elimination_that_is_said_to_need_a_sample_more(monkeypatch):
    true = elimination.solved_probability
    monkeypatch.setattr(elimination, "solved_probability", lambda bits, samples: true(bits, samples - 1))
    assert tiny("KS-32", updates=6) == "fails"


def test_sgd_that_stands_still():
    assert tiny("KS-32", pace=1e-6, updates=60) == "fails"


def test_twice_the_floor_of_the_sup_norm(monkeypatch):
    true = contrast_claims.sup_floor
    monkeypatch.setattr(contrast_claims, "sup_floor", lambda hidden, parities: 2 * true(hidden, parities))
    assert tiny("KS-33") == "fails"


def test_errors_beyond_a_bound_that_forgets_the_mass_elsewhere(monkeypatch):
    true = model_claims._error_bounds
    monkeypatch.setattr(model_claims, "_error_bounds", lambda layout, first, second: 0.25 * true(layout, first, second))
    assert tiny("KS-19") == "fails"


def pattern(passes):
    """bool[update, level] of three levels: what the filter lets through after 0 to 3 updates."""
    return np.array([[level <= passes(update) for level in (1, 2, 3)] for update in range(4)])


@pytest.mark.parametrize(
    ("printed", "verdict"),
    [(lambda update: 3, "holds"), (lambda update: update + 1, "fails")],  # all levels at once, or as with eps0 > 1
)
def test_a_small_threshold_that_works_fails_the_claim(monkeypatch, printed, verdict):
    def stub(size, lab):
        shape = pattern(printed if size.threshold < 1 else lambda update: update + 1)
        return outcome(size.seeds, **{"soft.answer": 1, "released": np.stack([shape] * size.seeds)})

    monkeypatch.setattr(log_step_claims, "trained", stub)
    assert tiny("KS-23") == verdict


@pytest.mark.parametrize("spared", [None, "quantised", "filtered", "threshold", "strength"])
def test_an_ablation_that_does_no_harm_fails_the_claim(monkeypatch, spared):
    plain = CLAIMS["KS-26"].parameters("tiny")

    def stub(size, lab):
        changed = [
            name
            for name in ("quantised", "filtered", "threshold", "strength")
            if getattr(size, name) != getattr(plain, name)
        ]
        return outcome(size.seeds, **{"soft.answer": 1 if not changed or changed == [spared] else 0.5})

    monkeypatch.setattr(log_step_claims, "trained", stub)
    monkeypatch.setattr(log_step_claims, "_parted", lambda size, result: size.seeds)  # siblings apart in every seed
    assert tiny("KS-26") == ("holds" if spared is None else "fails")


@pytest.mark.parametrize(("at", "verdict"), [((0, 100, 200), "holds"), ((0, 100, 100), "fails")])
def test_levels_released_at_once_fail(monkeypatch, at, verdict):
    size = Published(32, 8, 10_000, 350, 5.8, seeds=2)
    records = 350 // size.every + 1

    def stub(setting, lesson, lab):
        epochs = setting.every * np.arange(records)
        released = np.stack([epochs >= epoch for epoch in at], axis=1)
        loss = 7.0 - sum(3.0 * (epochs > epoch) for epoch in at[1:])
        return outcome(2, **{"released": np.stack([released] * 2), "own.loss": np.stack([loss] * 2)})

    monkeypatch.setattr(published_claims, "trained", stub)
    assert tiny("KS-28") == verdict


@pytest.mark.parametrize("id", ["KS-23", "KS-24", "KS-26"])
def test_the_rule_of_a_false_alarm_is_declared(id):
    assert "1 in 10,000" in log_step_claims.FEWER
    assert log_step_claims.FEWER in CLAIMS[id].departures


def test_paths_against_the_oracle_are_kept(tmp_path):
    """KS-7 and KS-33 share them, and a second check makes none."""
    store, size = Store(tmp_path), CLAIMS["KS-33"].parameters("tiny")
    first = CLAIMS["KS-33"].evidence(size, store)
    made = store.trained
    assert made == 9  # four learners: never told, told beyond eps; one with the exact gradient
    again = CLAIMS["KS-33"].evidence(size, store)
    assert (store.trained, again) == (made, first)
