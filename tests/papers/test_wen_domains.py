"""Where the claims of Wen et al. are meant to hold, and that a wrong theory makes them fail."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from battery import LAB, holds_somewhere

from sorites.ledger import verdict_of, verify, verify_at
from sorites.papers.registry import papers
from sorites.papers.wen import (
    block_claims,
    dynamics_claims,
    gpt_claims,
    gradient_claims,
    memory_claims,
    need_claims,
    plateau_claims,
    precision_claims,
    representation_claims,
)
from sorites.papers.wen.block_claims import Batch, Repeated
from sorites.papers.wen.data_claims import Sizes
from sorites.papers.wen.entropy_claims import Pretrained
from sorites.papers.wen.experiments import FreshData, RepeatedData, Watched
from sorites.papers.wen.gpt_claims import Entropies, repeats_help
from sorites.papers.wen.memory_claims import Learners
from sorites.papers.wen.need_claims import Growth
from sorites.papers.wen.plateau import Plateaus
from sorites.papers.wen.precision_claims import Precision
from sorites.papers.wen.representation_claims import Networks
from sorites.theory import sparse_attention
from sorites.theory.plateau import ands, nearest

CLAIMS = papers()["wen"].claims()


@pytest.mark.parametrize("id", CLAIMS)
def test_every_claim_has_a_domain_that_can_be_drawn_from(id):
    holds_somewhere(CLAIMS[id])


def twice(function):
    return lambda *arguments: 2 * function(*arguments)


def found(id, size):
    """What the comparisons say, also at a size outside the domain."""
    return verdict_of(CLAIMS[id].evidence(size).comparisons)


def test_the_printed_losses_are_judged_by_counting():
    printed = [verify_at(CLAIMS["W1"], Sizes(4, k)).erratum["printed_verdict"] for k in (1, 3)]  # pyright: ignore
    assert printed == ["holds", "fails"]


def test_the_bounds_of_random_embeddings_can_fail(monkeypatch):
    size = Repeated(width=32, trials=50)
    assert found("W4", size) == "holds"
    near = sparse_attention.near_orthogonality
    monkeypatch.setattr(sparse_attention, "near_orthogonality", lambda *a: near(*a) / 2)
    assert found("W4", size) == "fails"


def test_lemma_4_needs_its_width(monkeypatch):
    size = Networks((40,), (5,), 6, 64, 1, 40)
    assert found("W5", size) == "holds"
    monkeypatch.setattr(representation_claims, "WIDE", 6)
    assert found("W5", size) == "fails"


def test_lemma_4_fails_in_a_narrow_table_only(monkeypatch):
    monkeypatch.setattr(representation_claims, "NARROW", 12)
    assert found("W5", Networks((40,), (5,), 6, 64, 1, 40)) == "fails"


def test_precision_is_of_order_log_n(monkeypatch):
    monkeypatch.setattr(precision_claims, "learned", lambda recipe, lab: None)
    monkeypatch.setattr(precision_claims, "_trained_right", lambda recipe, outcome, digits: 1.0)
    monkeypatch.setattr(precision_claims, "_least_bits", lambda right: 4.0)
    size = Precision((12, 30, 100), 64, 20, 4, 1024, 192, 3)
    assert found("W6", size) == "holds"
    monkeypatch.setattr(precision_claims, "_slope", lambda needed: (4.0, 0.1))
    assert found("W6", size) == "fails"
    monkeypatch.setattr(precision_claims, "_slope", lambda needed: (1.9, 0.1))
    assert found("W6", size) == "inconclusive"


def test_a_power_of_n_is_no_order_log_n():
    slope, error = precision_claims._slope({n: [0.2 * n] * 3 for n in (12, 30, 100)})
    assert slope - 4.5 * error > precision_claims.NEEDED


def test_pairwise_statistics_without_the_chain_only_guess(monkeypatch):
    size = Learners(10, 3, 1000, 10)
    assert found("W7", size) == "inconclusive"
    monkeypatch.setattr(memory_claims, "paired", lambda *arguments: True)
    assert found("W7", size) == "fails"


def test_attention_gets_no_gradient_only_while_nothing_is_read(monkeypatch):
    size, start = Batch(6, 3, 24, 4, 16), block_claims.initial_block
    assert found("W8", size) == "holds"
    monkeypatch.setattr(block_claims, "initial_block", lambda *a: block_claims.scattered(start(*a), 0))
    assert found("W8", size) == "fails"


def test_the_spread_around_the_pattern_is_that_of_the_law(monkeypatch):
    size = Repeated(12, 4, 128, 16, trials=200)
    assert found("W9", size) == "holds"
    monkeypatch.setattr(block_claims, "pattern_variance", twice(block_claims.pattern_variance))
    assert found("W9", size) == "fails"


def test_the_residual_of_the_mean_is_that_of_counts(monkeypatch):
    monkeypatch.setattr(gradient_claims, "mean_residual", twice(gradient_claims.mean_residual))
    assert found("W10", Repeated(4, 2, 128, 4, 64, 300)) == "fails"


@pytest.mark.parametrize("samples", [64, 256])
def test_the_residual_of_the_mean_has_the_order_of_its_law(samples):
    ratios = np.array([gradient_claims._residual(Repeated(6, 3, 128, 8), samples, seed) for seed in range(300)])
    error = ratios.std(ddof=1) / math.sqrt(300)
    assert 4.5 * error < 0.5  # a law of another order is off by a factor of two at one of the two
    assert abs(ratios.mean() - 1) < 4.5 * error


def test_the_bounds_of_table_1_can_fail(monkeypatch):
    size, law = Repeated(trials=20), sparse_attention.table_bounds
    assert found("W11", size) == "holds"
    monkeypatch.setattr(sparse_attention, "table_bounds", lambda *a: {name: each / 4 for name, each in law(*a).items()})
    assert found("W11", size) == "fails"


@pytest.mark.parametrize(
    ("id", "name"),
    [("W13", "target_signal"), ("W13", "leftover_signal"), ("W14", "attention_jump"), ("W16", "final_margin")],
)
def test_the_laws_of_three_steps_can_fail(monkeypatch, id, name):
    monkeypatch.setattr(sparse_attention, name, twice(getattr(sparse_attention, name)))
    assert verify(CLAIMS[id], "tiny", lab=LAB).verdict == "fails"


@pytest.mark.parametrize("id", ["W13", "W14", "W16"])
def test_the_printed_laws_are_measured_to_fail(id):
    assert verify(CLAIMS[id], "tiny", lab=LAB).erratum["printed_verdict"] == "fails"  # pyright: ignore


def test_lemma_32_is_tried_where_it_is_tight(monkeypatch):
    def learned(base, lab, rates):
        goal = rates[0, 0] * rates[1, 1] / (128 * base.neurons * (base.bits + base.sparsity / 2) ** 2)  # G
        missing = np.full((base.seeds, base.sparsity), math.exp(-0.7 * goal))
        return SimpleNamespace(missing=missing, share=1 - missing)

    monkeypatch.setattr(dynamics_claims, "learned", learned)
    assert verify(CLAIMS["W15"], "tiny").verdict == "holds"
    bound = dynamics_claims.sharp_bound
    monkeypatch.setattr(dynamics_claims, "sharp_bound", lambda *a: bound(*a) / 2)
    assert verify(CLAIMS["W15"], "tiny").verdict == "fails"


@pytest.mark.parametrize(("power", "verdict"), [(1, "holds"), (2, "fails")])
def test_the_batch_grows_at_most_linearly(monkeypatch, power, verdict):
    def learned(recipe, lab):
        return SimpleNamespace(sequences=np.full(recipe.seeds, float(recipe.samples >= 2 * recipe.bits**power)))

    monkeypatch.setattr(need_claims, "learned", learned)
    size = Growth((16, 32, 64), (32 * 4, 512, 1024, 2048, 8192), seeds=3)
    if power == 1:
        assert CLAIMS["W19"].evidence(size).seeds == 3 * 3  # every size stops at its first batch
    assert found("W19", size) == verdict


def members(times):
    """Rows of one_pass: k to times; None is censored at 10^5."""
    return [
        {
            "chain": chain,
            "sparsity": k,
            "seed": seed,
            "rate": 1e-3,
            "samples": each or 100_000,
            "solved": each is not None,
        }
        for (chain, k), many in times.items()
        for seed, each in enumerate(many)
    ]


BARE = {(False, 1): (1000, 1100), (False, 2): (10_000, 11_000), (False, 3): (90_000, None)}


@pytest.mark.parametrize(
    ("taught", "verdict"),
    [
        (((1000, 1100), (1500, 1600), (2000, 2100)), "holds"),
        (((1000, 1100), (3000, 3100), (9000, 9100)), "fails"),
        (((1000, 1100), (1500, 1600), (None, None)), "inconclusive"),
    ],
)
def test_growth_with_the_chain_is_judged_by_medians(monkeypatch, taught, verdict):
    rows = members(BARE | {(True, k + 1): each for k, each in enumerate(taught)})
    monkeypatch.setattr(gpt_claims, "one_pass", lambda size, lab: rows)
    assert found("W21", FreshData(chained=(1, 2, 3), bare=(1, 2, 3), seeds=2)) == verdict


@pytest.mark.parametrize(
    ("solved", "share", "verdict"), [(1, 0.95, "holds"), (1, 0.5, "fails"), (0, 0.5, "inconclusive")]
)
def test_only_solved_members_are_read(monkeypatch, solved, share, verdict):
    studied = SimpleNamespace(cases=(1, 2), solved=np.array([bool(solved)] * 2))
    monkeypatch.setattr(Watched, "studied", lambda self, lab: studied)
    monkeypatch.setattr(gpt_claims, "attention_on_targets", lambda studied, index: (share, share))
    assert found("W22", Watched(seeds=2)) == verdict


@pytest.mark.parametrize(
    ("there", "stuck", "verdict"),
    [(0.2, 0.9, "holds"), (0.8, 0.9, "fails"), (0.2, 0.1, "fails"), (0.2, None, "inconclusive")],
)
def test_entropy_is_low_when_solved_and_high_when_stuck(monkeypatch, there, stuck, verdict):
    def studied(self, lab, chain=True):
        hard = self.sparsity == 8
        last = (1.0 if stuck is None else stuck) if hard else there
        metrics = {"entropy": np.array([[[[0.95]], [[last]]]]), "forced.chain": np.array([[0.5, 1.0]])}
        return SimpleNamespace(solved=np.array([not hard or stuck is None]), history=SimpleNamespace(metrics=metrics))

    def sharpest(studied):
        return studied.history.metrics["entropy"][:, :, 0, 0]

    monkeypatch.setattr(Watched, "studied", studied)
    monkeypatch.setattr(gpt_claims, "sharpest", sharpest)
    assert found("W23", Entropies(sparsity=2, hard=8, seeds=1)) == verdict


@pytest.mark.parametrize(
    ("small", "large", "holds"),
    [
        ((10, 12), (30, 40), True),
        ((30, 40), (10, 12), False),
        ((10, 35), (30, 40), None),
        ((10, None), (30, 40), None),
        ((None, None), (10, 12), False),
        ((10, 12), (None, None), True),
    ],
)
def test_repeats_are_judged_by_censored_times(small, large, holds):
    def times(found):
        return np.array([50 if each is None else each for each in found]), np.array(
            [each is not None for each in found]
        )

    assert repeats_help(times(small), times(large)).holds is holds


@pytest.mark.parametrize(("times", "verdict"), [((10_000, 30_000), "holds"), ((30_000, 10_000), "fails")])
def test_a_large_set_takes_more_presentations(monkeypatch, times, verdict):
    def studied(self, lab, chain=False):
        cases = [SimpleNamespace(size=each) for each in self.sizes for _ in range(self.seeds)]
        took = {size: 2000 if chain else time for size, time in zip((400, 3000), times, strict=True)}
        return SimpleNamespace(
            cases=cases, solved=np.ones(len(cases), bool), samples=np.array([took[case.size] for case in cases]),
            history=SimpleNamespace(last=lambda name: np.ones(len(cases))),
        )  # fmt: skip

    monkeypatch.setattr(RepeatedData, "studied", studied)
    assert found("W24", RepeatedData(sizes=(400, 3000), seeds=2)) == verdict


def test_a_model_of_the_users_is_inside_the_domain():
    assert CLAIMS["W26"].outside(Pretrained(model="some/folder", data="some.jsonl", problems=50)) is None


AND = np.array([-0.5, 0.5, 0, 0, 0, 0, 0.5, 0.5])  # of the first bit and the XOR of the others
NESTED = np.array([-0.25, 0.25, 0.75, 0.25, 0.25, -0.25, 0.25, -0.25])  # the second bit AND (the first OR the third)
MAJORITY = np.array([0, 0.5, 0.5, 0, 0.5, 0, 0, -0.5])  # of three bits: right on 3/4 as well, for the other parity


def halted(coefficients, **changes):
    """Tables of one member that answers with these coefficients."""
    formula, law = nearest(coefficients)
    key = {"sparsity": 3, "seed": 0, "rate": 1e-3}
    mass, accuracy = float((coefficients**2).sum()), (1 + abs(coefficients[-1])) / 2
    member = key | {"solved": False, "moved": 0.0, "accuracy": accuracy, "mass": mass, "count": 4096}
    member |= {"formula": formula, "gates": ands(law[-1])}
    rows = [
        key | {"subset": subset, "coefficient": each, "error": 0.01, "law": goal}
        for subset, (each, goal) in enumerate(zip(coefficients, law, strict=True))
    ]
    return {"data": rows, "members": [member | changes], "curves": []}


@pytest.mark.parametrize(
    ("coefficients", "changes", "verdict"),
    [
        (AND, {}, "holds"),
        (NESTED, {}, "holds"),
        (MAJORITY, {}, "fails"),
        (AND * 0.8, {}, "fails"),  # what is said depends on other bits as well
        (AND, {"solved": True}, "inconclusive"),
        (AND, {"accuracy": 0.52}, "inconclusive"),
        (AND, {"moved": 0.3}, "inconclusive"),
    ],
)
def test_only_a_formula_that_reads_each_bit_once_is_a_plateau(monkeypatch, coefficients, changes, verdict):
    monkeypatch.setattr(Plateaus, "tables", lambda self, lab: halted(coefficients, **changes))
    assert found("W27", Plateaus()) == verdict


def test_another_level_of_a_plateau_fails(monkeypatch):
    monkeypatch.setattr(Plateaus, "tables", lambda self, lab: halted(AND))
    level = plateau_claims.predicted_accuracy
    monkeypatch.setattr(plateau_claims, "predicted_accuracy", lambda member: 0.5 + (level(member) - 0.5) / 2)
    assert found("W27", Plateaus()) == "fails"
