"""LI-25 to LI-30 under a wrong theory."""

import dataclasses
import functools
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.ledger import verdict_of
from sorites.papers.log_icot import ablation_claims, hardness_claims, oracle_claims, training_claims, trend_claims
from sorites.papers.log_icot.experiments import AlgorithmOne
from sorites.papers.log_icot.unmasked import relatives
from sorites.papers.registry import papers
from sorites.tasks import Parity
from sorites.theory import gated_laws, link_law, rounding
from sorites.training import PLAIN

CLAIMS = papers()["log-icot"].claims()


def tiny(id, **changes):
    """What the check says at tiny size, with these parameters changed."""
    size = dataclasses.replace(CLAIMS[id].parameters("tiny"), **changes)
    return verdict_of(CLAIMS[id].evidence(size, PLAIN).comparisons)


def outcome(seeds, error):
    ends = {"padded.error": np.full(seeds, float(error)), "padded.answer": np.full(seeds, float(error < 1))}
    return SimpleNamespace(history=SimpleNamespace(last=ends.__getitem__, seeds=range(seeds)))


RIGHT = {"random": (0.001, 0.001, 1.9), "adversarial": (0.002, 0.9, 2.0)}  # error at radii 0.1, 0.5 and 3


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [
        ({**RIGHT, "adversarial": (0.002, 0.01, 2.0)}, "holds"),
        ({**RIGHT, "adversarial": (0.0005, 0.01, 2.0)}, "fails"),  # harms less than noise at the smallest radius
        ({"random": (0.001, 0.001, 0.001), "adversarial": (0.002, 0.002, 0.002)}, "fails"),  # never breaks
        ({"random": (1.9, 1.9, 1.9), "adversarial": (2.0, 2.0, 2.0)}, "fails"),  # breaks at once
    ],
)
def test_radii(monkeypatch, errors, verdict):
    def stub(size, lab):
        unit = CLAIMS["LI-25"].parameters("tiny").parting() / size.bits**2
        place = int(np.argmin(np.abs(np.array((0.1, 0.5, 3.0)) - size.noise / unit)))
        return outcome(size.seeds, errors[size.oracle][place])

    monkeypatch.setattr(oracle_claims, "trained", stub)
    assert tiny("LI-25", seeds=10) == verdict


def test_rounding_that_forgives_twice_as_much(monkeypatch):
    def stub(size, lab):
        return outcome(size.seeds, 1e-3 if max(size.rates()) * size.noise < 0.5 else 1.0)

    monkeypatch.setattr(oracle_claims, "trained", stub)
    changes = {"radii": (0.1, 1.5), "seeds": 10, "samples": 3_000_000}
    assert tiny("LI-25", **changes) == "holds"
    true = rounding.kept
    monkeypatch.setattr(
        rounding, "kept", lambda weight, noise, shift, adversarial: true(weight, noise, shift / 2, True)
    )
    assert tiny("LI-25", **changes) == "fails"


@pytest.mark.parametrize(("power", "verdict"), [(1.0, "holds"), (0.5, "fails")])
def test_an_error_of_another_exponent(monkeypatch, power, verdict):
    """What is trained has the law's error; the theory's K_n grows as n^(power eps/16) far out."""
    true = gated_laws.literal_strength
    monkeypatch.setattr(gated_laws, "literal_strength", lambda n, eps: true(n, eps if n < 1000 else power * eps))
    monkeypatch.setattr(
        trend_claims,
        "trained",
        lambda size, lab: outcome(size.seeds, trend_claims.error_law(size.bits, size.sparsity, size.strength)),
    )
    assert tiny("LI-26") == verdict


@pytest.mark.parametrize("power", [1, 4])
def test_an_error_that_falls_by_another_rate(monkeypatch, power):
    """exp(-K) or exp(-4K) in place of exp(-2K)."""
    monkeypatch.setattr(
        trend_claims, "trained", lambda size, lab: outcome(size.seeds, 0.5 * np.exp(-power * size.strength))
    )
    assert tiny("LI-26") == "fails"


def test_a_gradient_bound_of_another_exponent(monkeypatch):
    true = gated_laws.gradient_bound
    monkeypatch.setattr(gated_laws, "gradient_bound", lambda slope, sparsity, stage: true(slope / 2, sparsity, stage))
    assert tiny("LI-27") == "fails"


def test_gradients_that_grow_faster_than_the_lemma(monkeypatch):
    monkeypatch.setattr(trend_claims, "output_norm", lambda model, chains, stage: model.layout.inputs**3.5)
    assert tiny("LI-27") == "fails"


def test_an_oracle_with_its_cases_swapped(monkeypatch):
    monkeypatch.setattr(hardness_claims, "ClassOracle", functools.partial(hardness_claims.ClassOracle, printed=True))
    assert tiny("LI-28") == "fails"


def test_relatives_multiply_to_the_thought():
    task = Parity(10, 8)
    secret = task.draw(jax.random.key(3))
    tokens = np.asarray(task.sample(secret, jax.random.key(4), 64).tokens[:, 0])
    sibling, parent = relatives(task, secret).T
    np.testing.assert_array_equal(tokens[sibling] * tokens[parent], tokens[10:-1])


def test_weights_at_keys_that_are_no_relatives(monkeypatch):
    monkeypatch.setattr(
        ablation_claims, "relatives", lambda task, secret: 0 * relatives(task, secret) + task.layout.positions - 2
    )
    assert tiny("LI-29") == "fails"


def test_the_cosines_signal_for_another_link(monkeypatch):
    true = link_law.signal
    monkeypatch.setattr(link_law, "signal", lambda *given: 2 * true(*given))  # children at K/2
    assert tiny("LI-30") == "fails"


def test_the_rule_of_nine_in_ten_is_declared():
    assert "1 of 100,000" in training_claims.ENOUGH
    for id in ("LI-14", "LI-19", "LI-22"):
        assert training_claims.ENOUGH in CLAIMS[id].departures


@pytest.mark.parametrize(
    ("experiment", "words"),
    [(AlgorithmOne(oracle="mean"), "oracle='mean'"), (AlgorithmOne(mask="block"), "mask='block'")],
)
def test_settings_that_cannot_run_are_refused(experiment, words):
    with pytest.raises(SpecError, match=words):
        experiment.run()
