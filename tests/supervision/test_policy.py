"""Policy gradients: estimators agree with the exact gradient they estimate; refusals."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models import AbstractModel, policy_for
from sorites.models.positional import positional
from sorites.supervision import (
    Blocks,
    CountChain,
    Draw,
    ExactReward,
    ExpectedReward,
    OwnPrefix,
    PolicyGradient,
    Repeated,
    Sampled,
    credit,
    expected_reward,
    outcome_reward,
    process_reward,
    self_generated,
)
from sorites.tasks import Boolean, Parity

TASK = Parity(6, 4)
WHERE = np.full(3, 1 / 3)


def slope(source, loss_function, model, task, secret, key=None):
    return source.gradient(loss_function, model, task, Draw(secret, None, jnp.zeros((), jnp.uint32), key, None))[1]


@pytest.fixture(scope="module")
def model():
    start = positional(TASK, policy_for("parity"), "previous-level")
    weights = 0.5 * jax.random.normal(jax.random.key(0), start.weights.shape)
    return eqx.tree_at(lambda m: m.weights, start, weights)


@pytest.fixture(scope="module")
def secret():
    return TASK.draw(jax.random.key(0))


@eqx.filter_jit
def _estimate(taught, source, model, secret):
    def loss_function(model, chains, key):
        return taught(model, TASK, secret, chains, key)

    return -slope(source, loss_function, model, TASK, secret, jax.random.key(1)).weights


@eqx.filter_jit
def _exact(model, secret, discount):
    return slope(ExactReward(6, WHERE, "prefix", discount), None, model, TASK, secret).weights


@pytest.mark.parametrize(
    ("objective", "source", "discount"),
    [
        (ExpectedReward(), Sampled(20_000), 0.0),
        (PolicyGradient(credit(TASK.layout, "token")), Sampled(60_000), 0.0),
        (PolicyGradient(credit(TASK.layout, "step"), "batch"), Sampled(60_000), 0.0),
        (PolicyGradient(credit(TASK.layout, "return", 0.5)), Sampled(60_000), 0.5),
        (PolicyGradient(credit(TASK.layout, "return")), Blocks(5_000, 12), 1.0),
    ],
    ids=("rao-blackwell", "token", "step with a baseline", "discounted return", "return"),
)
def test_estimators_are_unbiased(objective, source, discount, model, secret):
    found = _estimate(process_reward(TASK.layout, objective), source, model, secret)
    exact = _exact(model, secret, np.float32(discount))
    np.testing.assert_allclose(found, -exact, atol=0.006)  # 60,000 chains: a standard error below 0.0015


def test_a_group_baseline_keeps_all_but_one_share(model, secret):
    """Subtracting the group's own mean scales the expected gradient by (G-1)/G."""
    objective = PolicyGradient(credit(TASK.layout, "step"), "group", 4)
    found = _estimate(process_reward(TASK.layout, objective), Repeated(60_000, 4), model, secret)
    exact = _exact(model, secret, np.float32(0))
    np.testing.assert_allclose(found, -0.75 * exact, atol=0.006)


@pytest.mark.parametrize("gate", ["parity", "and", "nor"])
def test_counting_is_the_exact_gradient_at_uniform_attention(gate):
    task = Boolean(6, 4, gate)
    model, secret = positional(task, policy_for(gate), "previous-level"), task.draw(jax.random.key(2))
    counted = slope(CountChain(), None, model, task, secret).weights
    exact = eqx.filter_jit(lambda model: slope(ExactReward(6, WHERE), None, model, task, secret))(model).weights
    np.testing.assert_allclose(counted, exact, atol=1e-7)


def test_counting_elsewhere_is_not_a_number(model, secret):
    assert np.isnan(slope(CountChain(), None, model, TASK, secret).weights).all()


def test_serial_chains_have_exact_rewards_too():
    task = Parity(5, 3, "serial")
    model = positional(task, policy_for("parity"), "inputs-and-previous")
    secret = task.draw(jax.random.key(0))
    goal = np.full((2, 7), -30.0)
    np.put_along_axis(goal, np.asarray(task.children(secret)), 30.0, axis=1)
    trained = eqx.tree_at(lambda m: m.weights, model, jnp.asarray(goal))
    for labels in ("prefix", "truth"):
        assert float(expected_reward(trained, task, secret, np.full(2, 0.5), labels)) == pytest.approx(1)


def test_own_thoughts_of_a_batch_are_those_of_each_chain(model, secret):
    """The generation of the positional model, level by level, against reading everything again in every round."""
    chains = TASK.sample(secret, jax.random.key(3), 16)
    batch = eqx.filter_jit(OwnPrefix("greedy"))(model, chains, jax.random.key(0), None)
    tokens, said = AbstractModel.generate_and_predict(model, chains, jax.random.key(0), "greedy")
    np.testing.assert_array_equal(AbstractModel.generate(model, chains, jax.random.key(0), "greedy"), batch.tokens)
    np.testing.assert_array_equal(tokens, batch.tokens)
    np.testing.assert_allclose(said.mean(), batch.prediction.mean(), atol=1e-6)


def test_refusals(model):
    with pytest.raises(SpecError, match="credit='chain'"):
        credit(TASK.layout, "chain")
    with pytest.raises(SpecError, match="baseline='mean'"):
        PolicyGradient(credit(TASK.layout), "mean")
    with pytest.raises(SpecError, match="group=1"):
        PolicyGradient(credit(TASK.layout), "group")
    with pytest.raises(SpecError, match="batch=10, times=4"):
        Repeated(10, 4)
    wide = Parity(24, 2)
    with pytest.raises(SpecError, match="at most 20 bits"):
        expected_reward(positional(wide, policy_for("parity"), "previous-level"), wide, jnp.arange(2), np.ones(1))
    with pytest.raises(SpecError, match="labels='self'"):
        expected_reward(model, TASK, jnp.arange(4), WHERE, "self")
    with pytest.raises(SpecError, match="gate='iff'"):
        policy_for("iff")


def test_what_a_thought_weighs():
    """1/(k-1) each where every thought is taught; all of it on the answer of an outcome reward."""
    for taught in (process_reward(TASK.layout), self_generated(TASK.layout)):
        np.testing.assert_allclose(taught.where, WHERE[:, None])
    np.testing.assert_allclose(outcome_reward(TASK.layout).where, [[0], [0], [1]])
