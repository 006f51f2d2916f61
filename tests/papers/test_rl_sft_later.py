"""RS-35 to RS-39 under a wrong theory."""

import dataclasses

import numpy as np
import pytest

from sorites.ledger import verdict_of
from sorites.papers.registry import papers
from sorites.papers.rl_sft import bound_claims, margin_claims, sample_claims
from sorites.theory import margins, sign_dynamics
from sorites.training import PLAIN

CLAIMS = papers()["rl-sft"].claims()


def tiny(id, **changes):
    """What the check says at tiny size, with these parameters changed."""
    size = dataclasses.replace(CLAIMS[id].parameters("tiny"), **changes)
    return verdict_of(CLAIMS[id].evidence(size, PLAIN).comparisons)


@pytest.mark.parametrize("factor", [0.5, 2])
def test_a_rate_that_is_off_by_a_factor(monkeypatch, factor):
    true = sign_dynamics.rate_for_error
    monkeypatch.setattr(sign_dynamics, "rate_for_error", lambda keys, error: factor * true(keys, error))
    assert tiny("RS-35") == "fails"


def test_columns_of_twice_the_error(monkeypatch):
    true = sign_dynamics.column_error
    monkeypatch.setattr(sign_dynamics, "column_error", lambda *given: 2 * true(*given))
    assert tiny("RS-36") == "fails"


def test_the_threshold_of_parity_for_and(monkeypatch):
    true = sign_dynamics.generation_threshold
    monkeypatch.setattr(sign_dynamics, "generation_threshold", lambda gate, keys: true("parity", keys))
    assert tiny("RS-36") == "fails"


def test_a_gradient_of_the_other_sign(monkeypatch):
    true = bound_claims.reward_gradient
    monkeypatch.setattr(bound_claims, "reward_gradient", lambda *given: -true(*given))
    assert tiny("RS-36") == "fails"


@pytest.mark.parametrize("factor", [0.25, 16])
def test_a_variance_that_is_off(monkeypatch, factor):
    true = sample_claims.second_moment
    monkeypatch.setattr(sample_claims, "second_moment", lambda *given: factor * true(*given))
    sample_claims.chains_for.cache_clear()
    assert tiny("RS-37", bits=(12,), seeds=40) == "fails"
    sample_claims.chains_for.cache_clear()


def test_noise_that_is_said_to_cost_nothing(monkeypatch):
    true = sample_claims.wrong_signs
    monkeypatch.setattr(sample_claims, "wrong_signs", lambda d, k, n, noise=0.0: true(d, k, n))
    sample_claims.chains_for.cache_clear()
    assert tiny("RS-38", seeds=20) == "fails"
    sample_claims.chains_for.cache_clear()


def test_a_margin_that_pushes_the_other_way(monkeypatch):
    true = margins.separations

    def swapped(*given):
        values, separation = true(*given)
        return values, separation * np.where(values == values[separation > 0][0], -1, 1)

    monkeypatch.setattr(margins, "separations", swapped)
    assert tiny("RS-39") == "fails"


def test_tokens_of_another_gate(monkeypatch):
    monkeypatch.setattr(margin_claims, "chance_of_plus", lambda gate, level: 0.5)
    assert tiny("RS-39", bits=8, sparsity=8) == "fails"
