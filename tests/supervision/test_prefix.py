"""What the model reads: true thoughts, padding, or its own."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from sorites.errors import SpecError
from sorites.models import AbstractModel, ClassLogits, SignMeans
from sorites.models.gated import gated
from sorites.models.positional import positional
from sorites.supervision import OwnPrefix, TruePrefix, direct, inputs_only, teacher_forcing, without
from sorites.tasks import Chain

COUNT = 16


@pytest.fixture(scope="module")
def chains(task):
    return task.sample(task.draw(jax.random.key(0)), jax.random.key(1), COUNT)


@pytest.fixture(scope="module")
def model(task):
    weights = np.random.default_rng(0).normal(size=(task.layout.thoughts, task.layout.positions))
    return eqx.tree_at(lambda m: m.weights, positional(task), jnp.asarray(3 * weights, jnp.float32))


@eqx.filter_jit
def reading(prefix, model, chains):
    return prefix(model, chains, jax.random.key(2), None)


@pytest.fixture(scope="module")
def readings(model, chains):
    return {how: reading(OwnPrefix(how), model, chains) for how in ("soft", "greedy", "sampled")}


@pytest.mark.parametrize("how", ["soft", "greedy", "sampled"])
def test_own_thoughts_stand_on_the_true_inputs_and_are_consistent(how, readings, model, chains, task):
    own = readings[how]
    np.testing.assert_array_equal(own.tokens[: task.bits], chains.tokens[: task.bits])
    again = model.predict_batch(Chain(own.tokens, chains.layout)).mean()  # each thought from the own thoughts below it
    np.testing.assert_allclose(own.prediction.mean(), again, atol=1e-6)


def test_soft_thoughts_are_the_scores(readings, task):
    np.testing.assert_array_equal(readings["soft"].tokens[task.bits :], readings["soft"].prediction.mean())


def test_greedy_thoughts_are_the_signs(readings, task):
    own = readings["greedy"]
    np.testing.assert_array_equal(own.tokens[task.bits :], np.where(own.prediction.mean() >= 0, 1, -1))
    assert own.tokens.dtype == jnp.int8


def test_sampled_thoughts_are_signs(readings, task):
    assert set(np.unique(readings["sampled"].tokens)) == {-1, 1}


class TestChoose:
    def test_sampling_frequencies(self):
        means, count = jnp.array([-1.0, -0.6, 0.0, 0.3, 1.0]), 4000
        said = SignMeans(jnp.broadcast_to(means[:, None], (5, count)))
        drawn = np.asarray(said.choose("sampled", jax.random.key(0)), float)
        error = 4.5 * np.sqrt((1 - np.asarray(means) ** 2) / count)  # zero at certainty
        assert (np.abs(drawn.mean(axis=1) - means) <= error).all()

    @pytest.mark.parametrize("lowest", [True, False])
    def test_a_token_of_probability_zero_is_never_drawn(self, monkeypatch, lowest):
        extreme = -1.0 if lowest else float(np.nextafter(np.float32(1), np.float32(0)))
        monkeypatch.setattr(jax.random, "uniform", lambda key, shape, minval: jnp.full(shape, extreme))
        certain = SignMeans(jnp.array([[-1.0], [1.0]]))
        assert certain.choose("sampled", jax.random.key(0)).ravel().tolist() == [-1, 1]

    def test_the_sign_of_zero_is_plus_one(self):
        assert SignMeans(jnp.zeros((1, 1))).choose("greedy", jax.random.key(0)).item() == 1

    def test_classes(self):
        said = ClassLogits(jnp.array([[[0.0, 50.0, 0.0]], [[50.0, 0.0, 0.0]]]))
        for how in ("greedy", "sampled"):
            assert said.choose(how, jax.random.key(0)).ravel().tolist() == [1, 0]
        with pytest.raises(SpecError, match=r"soft thoughts need signs: ClassLogits; use greedy"):
            said.choose("soft", jax.random.key(0))


@pytest.mark.parametrize(("how", "flows"), [("soft", True), ("greedy", False), ("sampled", False)])
def test_only_soft_thoughts_are_differentiated(how, flows, model, chains):
    def answer(model):
        return jnp.sum(OwnPrefix(how)(model, chains, jax.random.key(0), None).prediction.mean()[-1])

    gradient = eqx.filter_jit(eqx.filter_grad(answer))(model).weights
    assert np.abs(gradient[-1]).max() > 0
    assert bool(np.abs(gradient[:-1]).max() > 0) is flows


def test_shown_pads_what_it_hides(task, chains, model):
    everything = TruePrefix(np.ones(task.layout.positions, bool))
    nothing = TruePrefix(inputs_only(task.layout))
    np.testing.assert_array_equal(
        reading(everything, model, chains).prediction.mean(), model.predict_batch(chains).mean()
    )
    padded = jnp.where(jnp.arange(task.layout.positions)[:, None, None] < task.bits, chains.tokens, 0)
    expected = model.predict_batch(Chain(padded, chains.layout)).mean()
    np.testing.assert_array_equal(reading(nothing, model, chains).prediction.mean(), expected)


class TestRegimes:
    def test_without_pads_and_teaches_the_rest(self, task):
        for removed, depth in enumerate((1, 1, 2)):
            term = without(task.layout, removed)
            assert term.prefix.shown.tolist() == [True] * 8 + [i >= removed for i in range(3)]
            assert term.where.tolist() == [[float(i >= removed)] for i in range(3)]
            assert term.level == depth

    def test_direct_pads_every_thought_and_teaches_the_answer(self, task):
        term = direct(task.layout)
        assert term.prefix.shown.tolist() == [True] * 8 + [False] * 3
        assert term.where.tolist() == [[0.0], [0.0], [1.0]]
        assert term.level is None

    def test_teacher_forcing_shows_and_teaches_everything(self, task):
        term = teacher_forcing(task.layout)
        assert term.prefix.shown is None
        assert term.where.tolist() == [[1.0]] * 3

    def test_the_loss_is_equation_one(self, task, chains):
        """(1/2B) sum_i sum_{m left} (prediction - truth)^2 at uniform attention, by hand."""
        model, secret = gated(task), task.draw(jax.random.key(0))
        loss = without(task.layout, 2)(model, task, secret, chains, jax.random.key(0))
        x = np.asarray(chains.tokens[:, 0], float)
        first = -np.cos(np.pi * x[:8].mean(axis=0))
        second = -np.cos(np.pi * (x[:8].sum(axis=0) + 2 * first) / 10)
        assert float(loss) == pytest.approx(np.mean((second - x[10]) ** 2) / 2, rel=1e-5)

    @pytest.mark.parametrize("removed", [-1, 3])
    def test_the_answer_is_never_removed(self, task, removed):
        with pytest.raises(SpecError, match=rf"the answer is never removed: removed={removed} of 3; use 0 to 2"):
            without(task.layout, removed)


def test_an_unknown_way_is_refused():
    with pytest.raises(SpecError, match=r"own thoughts are soft, greedy or sampled: how='beam'; use one"):
        OwnPrefix("beam")


class Uniform(AbstractModel):
    """Its means are drawn from the key that it reads with."""

    weights: Array

    def predict(self, chain, depth=None, key=None):
        return SignMeans(jax.random.uniform(key, (chain.layout.thoughts, 1)))


def test_dropout_has_a_key_of_its_own(chains, task):
    """No chain drops out what another term of the stage draws for its own thoughts of some round."""
    key, shape = jax.random.key(2), (task.layout.thoughts, 1)
    dropped = np.asarray(TruePrefix()(Uniform(jnp.zeros(())), chains, key, None).prediction.mean())
    rounds = [jax.random.uniform(jax.random.fold_in(key, number), shape) for number in range(COUNT)]
    assert dropped.shape == (*shape, COUNT)
    assert not np.isin(dropped, np.asarray(rounds)).any()
