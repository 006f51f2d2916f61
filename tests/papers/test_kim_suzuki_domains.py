"""Where kim-suzuki's claims are meant to hold, and that a wrong theory makes them fail."""

import dataclasses
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from battery import holds_somewhere

from sorites.ledger import Comparison, verdict_of, verify
from sorites.papers.kim_suzuki import (
    counting_claims,
    gradient_claims,
    log_step_claims,
    model_claims,
    one_step_claims,
    published_claims,
    tree_claims,
)
from sorites.papers.kim_suzuki.log_step_claims import LogSteps
from sorites.papers.kim_suzuki.log_step_law import chance, law
from sorites.papers.kim_suzuki.one_step_claims import Augmented
from sorites.papers.registry import papers
from sorites.statistics import Slope
from sorites.statistics.proportions import Interval
from sorites.theory import krawtchouk, products
from sorites.theory import parity_class as pc
from sorites.training import PLAIN, Trained

CLAIMS = papers()["kim-suzuki"].claims()


@pytest.mark.parametrize("id", CLAIMS)
def test_every_claim_has_a_domain(id):
    holds_somewhere(CLAIMS[id])


def tiny(id, lab=PLAIN):
    return verify(CLAIMS[id], "tiny", lab=lab)


def scaled(function, by):
    return lambda *given: by * function(*given)


def test_tokens_of_another_tree_fail(monkeypatch):
    real = tree_claims.Parity

    def crossed(bits, sparsity):
        task = real(bits, sparsity)
        children = lambda secret: jnp.roll(task.children(secret), 1, axis=0)  # noqa: E731
        return SimpleNamespace(draw=task.draw, sample=task.sample, children=children)

    monkeypatch.setattr(tree_claims, "Parity", crossed)
    assert tiny("KS-1").verdict == "fails"


@pytest.mark.parametrize(
    ("id", "module", "name", "by"),
    [
        ("KS-5", pc, "separation", 0.3),
        ("KS-6", pc, "expected_variance", 2),
        ("KS-12", products, "correlation_bound", 0.5),
        ("KS-21", model_claims, "_lemma_six", 0.01),
    ],
)
def test_a_law_that_is_wrong_by_a_factor_fails(monkeypatch, id, module, name, by):
    monkeypatch.setattr(module, name, scaled(getattr(module, name), by))
    verdict = tiny(id)
    assert verdict.verdict == "fails"
    assert verdict.erratum is None


def test_a_gradient_above_a_tenth_of_its_bound_is_seen(monkeypatch):
    real = model_claims.link_named
    monkeypatch.setattr(model_claims, "link_named", lambda name: SimpleNamespace(lipschitz=real(name).lipschitz / 20))
    assert tiny("KS-10").verdict == "fails"


def test_an_eigenvalue_above_its_bound_fails(monkeypatch):
    monkeypatch.setattr(counting_claims, "_dual", lambda size: (2.0, 1.0))
    assert tiny("KS-8").verdict == "fails"


def test_the_erratum_of_lemma_8_is_measured(monkeypatch):
    assert tiny("KS-9").erratum["printed_verdict"] == "fails"
    monkeypatch.setattr(krawtchouk, "mean_label_size", lambda bits, sparsity: 2.0 ** (-bits / 2))
    assert tiny("KS-9").erratum["printed_verdict"] == "holds"
    monkeypatch.setattr(krawtchouk, "mean_label_size", lambda bits, sparsity: 1 / bits)
    assert tiny("KS-9").verdict == "fails"


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(1.8, 2.2, "fails"), (1.2, 1.8, "inconclusive"), (0.8, 1.2, "holds")]
)
def test_samples_that_grow_as_the_theorem_says_fail(monkeypatch, low, high, verdict):
    slope = Slope((low + high) / 2, Interval(low, high))
    monkeypatch.setattr(gradient_claims, "exponents", lambda size, lab: (slope, slope))
    monkeypatch.setattr(gradient_claims, "smallest", lambda size, lab: np.array(size.bits, float))
    assert tiny("KS-17").verdict == verdict


def outcome(accuracy, error, seeds, **more):
    """A training that was not run."""
    last = {"soft.answer": np.full(seeds, float(accuracy)), "soft.error": np.full(seeds, float(error))}
    result = object.__new__(Trained)  # no real history behind it
    for name, value in {"history": SimpleNamespace(last=last.__getitem__, seeds=range(seeds)), **more}.items():
        object.__setattr__(result, name, value)
    return result


@pytest.mark.parametrize(("worst", "verdict"), [(0.4, "holds"), (0.01, "fails")])
def test_a_worst_case_that_harms_less_than_noise_fails(monkeypatch, worst, verdict):
    def stub(size, lab):
        if not size.strength:
            return outcome(0.9, 1.5, size.seeds)
        error = worst if size.oracle == "adversarial" else 0.03 if size.noise else 400 / size.samples / size.strength
        return outcome(1, error, size.seeds)

    monkeypatch.setattr(one_step_claims, "trained", stub)
    assert tiny("KS-18").verdict == verdict


def test_the_printed_rate_is_judged_where_the_rule_asks_for_more():
    size = CLAIMS["KS-18"].parameters("quick")
    assert one_step_claims._printed(size, size.seeds).holds is False
    assert one_step_claims._printed(size, 0).holds
    assert one_step_claims._printed(dataclasses.replace(size, bits=16, sparsity=8), size.seeds).tolerance is None


@pytest.mark.parametrize("by", [0.5, 0.25])
def test_half_the_uninformative_positions_fail(monkeypatch, by):
    real = Augmented.allowed
    monkeypatch.setattr(Augmented, "allowed", lambda size: by * real(size))
    assert tiny("KS-22").verdict == "fails"


def written(size, weights):
    """What a training would leave: these weights at the children of each level, 0 elsewhere."""
    task = size.task()
    secrets = [task.draw(jax.random.key(seed)) for seed in range(size.seeds)]
    found = np.zeros((size.seeds, task.layout.thoughts, task.layout.positions))
    for seed, secret in enumerate(secrets):
        each = weights[np.asarray(task.layout.levels) - 1]
        np.put_along_axis(found[seed], np.asarray(task.children(secret)), np.stack([each, each], axis=1), axis=1)
    result = outcome(1, 1e-3, size.seeds, models=SimpleNamespace(weights=found))
    result.history.secrets = secrets
    return result


@pytest.mark.parametrize(("by", "verdict"), [(1, "holds"), (2, "fails"), (1.2289, "fails")])
def test_weights_off_the_law_fail(monkeypatch, by, verdict):  # 1.2289 = 1/s(32): the leading term without its signal
    monkeypatch.setattr(log_step_claims, "trained", lambda size, lab: written(size, np.round(by * law(size))))
    assert tiny("KS-24").verdict == verdict


def test_near_a_half_integer_nothing_is_said():
    assert log_step_claims._rounded("", 8.45, 9).holds is None
    assert log_step_claims._rounded("", 8.3, 9).holds is False
    assert log_step_claims._rounded("", 8.45, 8).holds
    size = LogSteps(seeds=10)
    on, off = (dataclasses.replace(size, strength=float(each / law(size)[0] * size.strength)) for each in (11.5, 11.0))
    assert chance(on) < 0.01 < 0.5 < chance(off)
    assert log_step_claims._seeds("", on, 3).holds is None
    assert log_step_claims._seeds("", off, 0).holds is False


@pytest.mark.parametrize(("direct", "verdict"), [(0.5, "holds"), (0.55, "fails")])
def test_an_answer_that_is_half_learned_fails(monkeypatch, direct, verdict):
    accuracy = {"direct": direct, "free": 0.6, "forced": 1, "consistent": 1}
    monkeypatch.setattr(published_claims, "trained", lambda size, lesson, lab: outcome(accuracy[lesson], 0, size.seeds))
    found = tiny("KS-27")
    assert found.verdict == verdict
    assert any("Published are d=64" in each for each in found.departures)
    assert not published_claims._own(CLAIMS["KS-28"].parameters("paper"))


def test_a_verdict_needs_a_decided_comparison():
    assert verdict_of((Comparison("", 1, 2, 0, None),)) == "inconclusive"
