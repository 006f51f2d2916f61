"""Every claim of RL-SFT has a domain, and the mended ones fail under a wrong theory."""

import itertools
import types

import numpy as np
import pytest
from battery import holds_somewhere

from sorites.ledger import verdict_of
from sorites.papers.registry import papers
from sorites.papers.rl_sft import (
    flow_claims,
    freeze_claims,
    outcome_claims,
    serial_claims,
    task_claims,
    uniform_claims,
)
from sorites.papers.rl_sft.estimator_variance import KINDS, second_moment
from sorites.papers.rl_sft.flow_claims import Times
from sorites.papers.rl_sft.freeze_claims import Frozen
from sorites.papers.rl_sft.outcome_claims import Summary
from sorites.papers.rl_sft.serial_claims import Counted, Rated
from sorites.papers.rl_sft.setting import Serial
from sorites.papers.rl_sft.sft_claims import Levelwise
from sorites.papers.rl_sft.uniform_claims import Table
from sorites.theory import count_chain, reward_flow, sign_dynamics
from sorites.theory.precision import in_float64
from sorites.training import PLAIN

CLAIMS = papers()["rl-sft"].claims()


@pytest.mark.parametrize("id", CLAIMS)
def test_a_claim_has_a_domain_that_can_be_drawn_from(id):
    holds_somewhere(CLAIMS[id])


def outcome(id, size):
    return verdict_of(CLAIMS[id].evidence(size, PLAIN).comparisons)


def test_activations_of_another_gate(monkeypatch):
    right = task_claims.policy_for
    monkeypatch.setattr(task_claims, "policy_for", lambda name: right({"or": "and"}.get(name, name)))
    assert outcome("RS-2", task_claims.Line(5)) == "fails"


def test_a_count_chain_that_is_wrong_at_one_size_only(monkeypatch):
    """What is enumerated is the size that is asked for."""
    right, size = count_chain.uniform_gradient, Table(7, 4, 200, 8, ("parity",))
    assert outcome("RS-12", size) == "holds"

    def wrong(bits, *rest):
        found = right(bits, *rest)
        return found._replace(relevant=(2 if bits == 7 else 1) * found.relevant)

    monkeypatch.setattr(count_chain, "uniform_gradient", wrong)
    assert outcome("RS-12", size) == "fails"


@pytest.mark.parametrize(("times", "verdict"), [(1, "holds"), (4, "fails")])
def test_signs_by_an_estimator_of_half_the_spread(monkeypatch, times, verdict):
    right, size = uniform_claims.right_signs, Table(12, 8, 4_000, 16)
    monkeypatch.setattr(uniform_claims, "right_signs", lambda d, k, n, name: right(d, k, times * n, name))
    assert outcome("RS-13", size) == verdict


@pytest.mark.parametrize(
    ("estimator", "kind"), list(itertools.product(("Rao-Blackwell", "REINFORCE, token", "REINFORCE, step"), KINDS))
)
def test_the_variance_of_an_estimator_by_enumeration(estimator, kind):
    """d = 9, k = 8: every input with every four tokens of level 1."""
    bits, sparsity = 9, 8
    inputs = np.array(list(itertools.product((-1, 1), repeat=bits)))
    tokens = np.array(list(itertools.product((-1, 1), repeat=sparsity // 2)))
    xi = inputs.mean(axis=1)
    q, slope = 2 * xi**2 - 1, 4 * xi
    labels = inputs[:, 0:sparsity:2] * inputs[:, 1:sparsity:2]
    place = {"child": 0, "secret": 2, "idle": 8}[kind]
    push = (inputs[:, place] - xi) / bits / (sparsity - 1)
    if estimator == "Rao-Blackwell":
        found = ((slope * labels[:, 0] * push) ** 2).mean()
    else:
        chance = ((1 + tokens[None] * q[:, None, None]) / 2).prod(axis=2)  # input x tokens
        each = tokens[None] * labels[:, None]
        reward = each.sum(axis=2) if estimator.endswith("step") else each[:, :, 0]
        twice = 1 + tokens[None, :, 0] * q[:, None]  # the own token's chance; one of chance zero is never drawn
        score = tokens[None, :, 0] * slope[:, None] / np.where(twice > 0, twice, 1)
        square = chance * (score * reward * push[:, None]) ** 2
        found = square.sum(axis=1).mean()
    assert second_moment(bits, sparsity, estimator, kind) == pytest.approx(found, rel=1e-12)


def test_twice_the_column_error(monkeypatch):
    right, size = sign_dynamics.column_error, Levelwise(5, 4, 3.0, 3)
    assert outcome("RS-15", size) == "holds"
    monkeypatch.setattr(sign_dynamics, "column_error", lambda keys, rate, steps=1: 2 * right(keys, rate, steps))
    assert outcome("RS-15", size) == "fails"


def test_half_the_column_error_breaks_the_theorems_bound(monkeypatch):
    right = sign_dynamics.column_error
    monkeypatch.setattr(sign_dynamics, "column_error", lambda keys, rate, steps=1: right(keys, rate, steps) / 2)
    found = CLAIMS["RS-15"].evidence(Levelwise(5, 4, 3.0, 3)).comparisons
    assert [each for each in found if "largest column error" in each.name and each.holds is False]


def test_serial_keys_counted_without_the_thought(monkeypatch):
    right = sign_dynamics.column_error
    assert outcome("RS-30", Rated(5, 3)) == "holds"
    monkeypatch.setattr(sign_dynamics, "column_error", lambda keys, rate, steps=1: right(keys - 1, rate, steps))
    assert outcome("RS-30", Rated(5, 3)) == "fails"


def _history(parted, level):
    """Three members of a tree of three levels; level 1 by update."""
    levels = np.ones((3, len(level), 3))
    levels[:, :, 0] = level
    apart = np.zeros_like(levels)
    apart[:, :, 0] = parted
    history = types.SimpleNamespace(metrics={"rolled.levels": levels, "parted": apart})
    return types.SimpleNamespace(history=history)


@pytest.mark.parametrize(
    ("unfrozen", "verdict"),
    [
        (_history([0, 0, 1, 0], [0.5, 1, 0.8, 1]), "holds"),  # parted after update 2, met again after update 3
        (_history([0, 0, 0, 0], [0.5, 1, 1, 1]), "fails"),  # freezing makes no difference
        (_history([0, 0, 0, 0], [0.5, 1, 0.8, 1]), "fails"),  # level 1 goes wrong, and not by siblings that part
    ],
)
def test_freezing(monkeypatch, unfrozen, verdict):
    frozen = _history([0, 0, 0, 0], [0.5, 1, 1, 1])
    monkeypatch.setattr(freeze_claims, "trained", lambda size, lab: unfrozen if size.freeze == "none" else frozen)
    assert outcome("RS-19", Frozen(12, 8, updates=3, seeds=3, gates=("and",))) == verdict


def test_levels_that_do_not_drive_each_other(monkeypatch):
    size = Times((10,), 8, 0.45)
    assert outcome("RS-28", size) == "holds"

    def alone(bits, sparsity, share):
        first, stage = (reward_flow.escape_time(keys, sparsity - 1, share) for keys in (bits, sparsity // 2))
        return first, first + stage

    monkeypatch.setattr(flow_claims, "coupled_times", alone)
    assert outcome("RS-28", size) == "fails"


def test_unfiltered_chains_are_stuck_where_a_first_sign_is_missing(monkeypatch):
    task = Serial(9, 3).task()
    assert in_float64(serial_claims._blanks)(task) == 3
    assert in_float64(serial_claims._swing)(task, 4.0, 6) == 1
    monkeypatch.setattr(serial_claims, "_blanks", lambda task: 0)
    assert outcome("RS-33", Counted(9, (3,), 4.0, 6, ())) == "fails"


def test_an_outcome_reward_that_falls_like_the_root_of_the_bits(monkeypatch):
    right, size = outcome_claims.direction, Summary(6, 4, 4.0, 3)
    fraction = in_float64(outcome_claims._fraction)
    assert verdict_of(fraction(size)) == "holds"
    assert verdict_of(fraction(Summary(4, 4, 4.0, 3))) == "holds"  # every bit is secret: no gradient at all

    def slow(task, model, teaching):
        return right(task, model, "rl") * (task.bits**-0.5 if teaching == "outcome" else 1)

    monkeypatch.setattr(outcome_claims, "direction", slow)
    assert verdict_of(fraction(size)) == "fails"
