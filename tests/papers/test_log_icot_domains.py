"""Log-ICoT's claims name where they hold, and a wrong theory makes them fail."""

import dataclasses

import numpy as np
import pytest
from battery import holds_somewhere

from sorites.ledger import verdict_of
from sorites.papers.log_icot import batch_claims, residual_claims, training_claims, tree_claims
from sorites.papers.log_icot.adam_claims import first_variance
from sorites.papers.log_icot.experiments import AlgorithmOne
from sorites.papers.log_icot.training_claims import TINY, enough
from sorites.papers.registry import papers
from sorites.theory import gated_laws, products, tree_law
from sorites.training import linear_icot

CLAIMS = papers()["log-icot"].claims()


def verdict(id: str, **changes) -> str:
    """What the check says at tiny size, with these parameters changed."""
    claim = CLAIMS[id]
    return verdict_of(claim.evidence(dataclasses.replace(claim.parameters("tiny"), **changes)).comparisons)


def scaled(monkeypatch, module, name: str, factor: float) -> None:
    """The theory's function off by a factor."""
    true = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given, **named: factor * true(*given, **named))


@pytest.mark.parametrize("id", CLAIMS)
def test_every_claim_names_its_domain(id):
    holds_somewhere(CLAIMS[id])


def test_the_tree_is_read_off_the_tokens(monkeypatch):
    monkeypatch.setattr(tree_claims, "pairwise", _halves)
    assert verdict("LI-1") == "fails"


def _halves(leaves: np.ndarray) -> np.ndarray:
    """The first half multiplied with the second, not neighbours."""
    levels = [leaves]
    while len(levels[-1]) > 1:
        half = len(levels[-1]) // 2
        levels.append(levels[-1][:half] * levels[-1][half:])
    return np.concatenate(levels[1:])


def test_stages_of_another_curriculum_are_noticed(monkeypatch):
    monkeypatch.setattr(tree_claims, "log_icot", linear_icot)
    assert verdict("LI-24") == "fails"


@pytest.mark.parametrize(
    ("id", "module", "name", "factor"),
    [
        ("LI-4", gated_laws, "collapse_bound", 0.1),
        ("LI-4", batch_claims, "distance_variance", 0.01),
        ("LI-8", gated_laws, "gradient_bound", 0.1),
        ("LI-9", products, "correlation_bound", 0.5),
        ("LI-23", residual_claims, "limit", 0.5),
    ],
)
def test_a_law_that_is_off_by_a_factor_fails(monkeypatch, id, module, name, factor):
    scaled(monkeypatch, module, name, factor)
    assert verdict(id) == "fails"


def test_correlations_twice_as_large_break_the_sharper_threshold(monkeypatch):
    true = batch_claims._largest
    monkeypatch.setattr(batch_claims, "_largest", lambda size: (true(size)[0], 2 * true(size)[1]))
    assert verdict("LI-9") == "fails"


def test_a_literal_rate_that_grew_would_teach(monkeypatch):
    monkeypatch.setattr(gated_laws, "literal_strength", lambda bits, epsilon: 2 if bits == 65_536 else 10)
    assert verdict("LI-13") == "fails"


def test_a_wrong_signal_solves_no_seed(monkeypatch):
    scaled(monkeypatch, tree_law, "signal", 6)  # children at K = 1
    assert verdict("LI-14", seeds=8, samples=5_000) == "fails"
    assert verdict("LI-19", seeds=8, samples=5_000) == "fails"


def test_a_later_rate_forty_times_too_large_moves_trained_layers(monkeypatch):
    true = AlgorithmOne.rates
    monkeypatch.setattr(
        AlgorithmOne, "rates", lambda size: [true(size)[0] / 3, *(40 * rate for rate in true(size)[1:])]
    )
    assert verdict("LI-18") == "fails"


def test_an_error_bound_that_is_too_small_fails(monkeypatch):
    scaled(monkeypatch, training_claims, "_error_bound", 0.01)
    assert verdict("LI-19") == "fails"


@pytest.mark.parametrize("id", ["LI-14", "LI-18", "LI-19"])
def test_the_calibrated_rate_is_declared(id):
    assert any("calibration=exact" in each for each in CLAIMS[id].evidence(TINY).departures)


def test_start_losses_ten_percent_off_fail(monkeypatch):
    scaled(monkeypatch, tree_law, "start_loss", 1.1)
    assert verdict("LI-21") == "fails"


def test_adam_without_a_rate_learns_nothing():
    assert verdict("LI-22", steps=25, rate=1e-4) == "fails"


@pytest.mark.parametrize(("bits", "sparsity"), [(8, 4), (30, 16)])
def test_variance_of_the_first_loss(bits, sparsity):
    inputs = np.random.default_rng(0).integers(0, 2, size=(100_000, bits)) * 2 - 1
    labels = inputs[:, 0:sparsity:2] * inputs[:, 1:sparsity:2]
    loss = ((-np.cos(np.pi * inputs.mean(axis=1))[:, None] - labels) ** 2).sum(axis=1) / 2
    assert loss.var() == pytest.approx(first_variance(bits, sparsity), rel=0.03)


@pytest.mark.parametrize(("right", "seeds", "holds"), [(18, 20, True), (17, 20, None), (3, 4, None), (9, 20, False)])
def test_few_solved_seeds_fail_only_where_chance_does_not_explain_them(right, seeds, holds):
    assert enough(right, seeds).holds is holds
