"""Probes against direct computation on models whose behaviour is known."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.models.gated import gated
from sorites.models.positional import positional
from sorites.probes import (
    ChildMass,
    Enough,
    Entropy,
    LengthCurve,
    Loss,
    Outcome,
    child_masses,
    normalised_entropy,
    separation,
)
from sorites.supervision import direct, teacher_forcing
from sorites.tasks import Lego

STRENGTH = 30.0


@pytest.fixture(scope="module")
def secret(task):
    return task.draw(jax.random.key(0))


@pytest.fixture(scope="module")
def chains(task, secret):
    return task.sample(secret, jax.random.key(1), 64)


def solved(task, secret, make, wrong=()):
    """A model that attends to the children of every thought, but not on the `wrong` levels."""
    layout, model = task.layout, make(task)
    children = np.asarray(task.children(secret))
    full = np.zeros((layout.thoughts, layout.positions), np.float32)
    for thought, pair in enumerate(children):
        if layout.levels[thought] not in wrong:
            full[thought, pair] = STRENGTH
    if make is positional:
        return eqx.tree_at(lambda m: m.weights, model, jnp.asarray(full))
    rows = zip(layout.ends, layout.ends[1:], strict=False)
    live = tuple(jnp.asarray(full[a - layout.inputs : b - layout.inputs, :a]) for a, b in rows)
    return eqx.tree_at(lambda m: m.weights, model, live)


@pytest.mark.parametrize("make", [gated, positional])
def test_a_solved_model_has_all_mass_on_the_children(task, secret, chains, make):
    model = solved(task, secret, make)
    mass = child_masses(model, task.children(secret))
    np.testing.assert_allclose(mass, 0.5, atol=1e-6)
    np.testing.assert_allclose(ChildMass()(model, task, secret, chains, ())["child_mass"], [1, 1], atol=1e-6)


def test_child_mass_is_the_worst_of_a_level(task, secret, chains):
    model = solved(task, secret, gated, wrong=(1,))
    lowered = eqx.tree_at(lambda m: m.weights[0], model, model.weights[0].at[0].set(0.0))
    mass = ChildMass()(lowered, task, secret, chains, ())["child_mass"]
    np.testing.assert_allclose(mass, [2 / 8, 1], atol=1e-6)


def test_answers_and_levels(task, secret, chains):
    right = solved(task, secret, gated)
    found = Outcome()(right, task, secret, chains, ())
    assert found["padded.answer"] == found["padded.chain"] == 1
    assert found["padded.error"] < 1e-5
    np.testing.assert_allclose(found["padded.levels"], [1, 1])
    upper = solved(task, secret, gated, wrong=(2,))
    found = Outcome()(upper, task, secret, chains, ())
    share = found["padded.levels"]
    assert share[0] == 1
    assert share[1] == found["padded.answer"] == found["padded.chain"] < 1


@pytest.mark.parametrize("count", [230, 492, 647, 1006, 3148])  # where n * (1/n) is not 1 in float32
def test_all_right_is_exactly_one_for_any_number_of_chains(task, secret, count):
    model, chains = solved(task, secret, gated), task.sample(secret, jax.random.key(2), count)
    found = jax.jit(lambda: Outcome("padded")(model, task, secret, chains, ()))()
    assert float(found["padded.answer"]) == 1
    assert float(found["padded.chain"]) == 1
    assert np.all(np.asarray(found["padded.levels"]) == 1)


@pytest.mark.parametrize(("count", "block"), [(64, 16), (70, 16), (230, 128), (492, 512)])
def test_enough_is_the_share_of_chains_that_outcome_finds(task, secret, count, block):
    chains = task.sample(secret, jax.random.key(3), count)
    for wrong in ((), (2,), (1, 2)):
        model = solved(task, secret, gated, wrong)
        share = float(Outcome("forced")(model, task, secret, chains, ())["forced.chain"])
        right = round(share * count)
        for needed in (0.0, max(right - 1, 0) / count, share, min((right + 1) / count, 1.0), 1.0):
            probe = Enough(np.float32(needed), block=block)
            found = jax.jit(lambda probe: probe(model, task, secret, chains, ()))(probe)["forced.enough"]  # noqa: B023
            assert float(found) == (share >= np.float32(needed)), (wrong, needed)


def test_enough_reads_no_further_than_it_takes_to_tell(task, secret, monkeypatch):
    chains, blocks = task.sample(secret, jax.random.key(4), 64), []
    read = type(gated(task)).predict_batch

    def counted(self, *arguments, **named):
        jax.debug.callback(lambda: blocks.append(1))
        return read(self, *arguments, **named)

    monkeypatch.setattr(type(gated(task)), "predict_batch", counted)
    for wrong, share, expected in (((), 1.0, 4), ((), 0.5, 2), ((1, 2), 1.0, 1), ((1, 2), 0.0, 0)):
        blocks.clear()
        found = Enough(share, block=16)(solved(task, secret, gated, wrong), task, secret, chains, ())
        jax.effects_barrier()
        assert (float(found["forced.enough"]), len(blocks)) == (not wrong or share == 0, expected)


def test_a_model_that_reads_its_thoughts_answers_by_rolling_out(task, secret, chains):
    model = solved(task, secret, positional)
    assert Outcome("rolled")(model, task, secret, chains, ())["rolled.answer"] == 1
    assert Outcome("forced")(model, task, secret, chains, ())["forced.chain"] == 1
    assert Outcome()(model, task, secret, chains, ())["padded.answer"] < 1  # one pass over padding is not enough


def test_loss_is_the_sum_of_what_is_taught(task, secret, chains):
    terms = (teacher_forcing(task.layout), direct(task.layout))
    model = gated(task)
    each = [term(model, task, secret, chains, jax.random.key(0)) for term in terms]
    loss = Loss()(model, task, secret, chains, terms)["own.loss"]
    np.testing.assert_allclose(loss, sum(map(float, each)), rtol=1e-6)


def test_entropy_runs_from_one_hot_to_uniform(task, secret, chains):
    rows = jnp.array([[0.25] * 4, [1.0, 0, 0, 0], [0.5, 0.5, 0, 0]])
    np.testing.assert_allclose(normalised_entropy(rows), [1, 0, 0.5], atol=1e-6)
    np.testing.assert_allclose(Entropy()(gated(task), task, secret, chains, ())["entropy"], [1, 1], rtol=1e-6)
    goal = Entropy()(solved(task, secret, gated), task, secret, chains, ())["entropy"]
    np.testing.assert_allclose(goal, np.log(2) / np.log([8, 10]), rtol=1e-5)


class TestSeparation:
    gradient = jnp.array([[-0.3, 0.2, -0.4, 0.1], [0.5, -0.2, 0.4, -0.25]])
    children = jnp.array([[0, 2], [1, 3]])

    def test_it_splits_the_descent_direction(self):
        found = separation(self.gradient, self.children)
        np.testing.assert_allclose(found.child, [[0.3, 0.4], [0.2, 0.25]])
        np.testing.assert_allclose(found.other, [[0, -0.2, 0, -0.1], [-0.5, 0, -0.4, 0]])

    def test_the_margin_leaves_the_childrens_places_out(self):
        assert float(separation(self.gradient, self.children).margin) == pytest.approx(0.2 + 0.1)


class Writer:
    """Writes the truth but for one clause of one sentence, and one value of another."""

    def generate(self, truth, key, how):
        first = truth.layout.inputs
        tokens = truth.tokens.at[first, 3, 1].add(1)  # a variable: the value beside it is right
        return tokens.at[first + 1, 4, 2].add(1)

    def attend(self, chains):
        step, length = np.arange(chains.layout.thoughts), chains.layout.thoughts
        rows = np.zeros((1, length, chains.layout.positions, 4), np.float32)
        rows[:, step, step] = 0.75
        rows[:, step, length + step] = 0.25
        return (jnp.asarray(rows),)


def test_a_length_curve_by_hand():
    asked = Lego("C3", 3, 6)
    found = LengthCurve(asked, 4)(Writer(), asked, asked.draw(jax.random.key(0)), None, None)
    assert float(found["values@3"]) == 0.75  # every value of three sentences in four
    assert float(found["clauses@3"]) == 0.5
    np.testing.assert_allclose(found["rates@3"], [1, 0.75, 1])
    np.testing.assert_allclose(found["predicate@3"], 0.75)
    np.testing.assert_allclose(found["query@3"], 0.25)
