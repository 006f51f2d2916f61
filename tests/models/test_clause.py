"""The literal theory transformer and its exact reductions, in loss, gradient and training."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models import features, routing
from sorites.models.clause import block_mask, clause_loss
from sorites.models.srelu import SReLU, printed_modified
from sorites.tasks.actions import action_named
from sorites.tasks.lego import Lego, Sentences, Vocabulary, chained, encode
from sorites.theory.precision import in_float64
from sorites.training.lego_theory import train_routing, two_steps

ACTION, VARIABLES = action_named("S3"), 4
WORDS = Vocabulary(VARIABLES, ACTION.actions, ACTION.values)


def random_features() -> features.Features:
    return features.drawn(ACTION, WORDS.size, 3, 1.0, 3.0, SReLU(), jax.random.key(0))


def value_loss(model, sentences: Sentences, step: int):
    seen, target = encode(sentences, WORDS, step), encode(sentences, WORDS, step + 1)[:, -1]
    return jax.vmap(lambda clauses, goal: clause_loss(model(clauses), goal)[4])(seen, target).mean()


@in_float64
def test_features_equal_the_literal_network():
    """Loss^1 over all inputs, and its gradient on the features."""
    small = random_features()
    rows = [(g, y) for g in range(ACTION.actions) for y in range(ACTION.values)]
    actions, start = (jnp.asarray(each) for each in zip(*rows, strict=True))
    names = jnp.tile(jnp.asarray([0, 1]), (len(rows), 1))
    drawn = Sentences(names, actions[:, None], chained(jnp.asarray(ACTION.table), actions[:, None], start))

    def reduced(trained):
        return features.one_step_loss(
            eqx.tree_at(lambda f: (f.actions, f.values), small, trained), jnp.asarray(ACTION.table)
        )

    def literal(trained):
        model = features.literal(eqx.tree_at(lambda f: (f.actions, f.values), small, trained), WORDS)
        return value_loss(model, drawn, 1)

    weights = (small.actions, small.values)
    ours, theirs = (jax.jit(jax.value_and_grad(f))(weights) for f in (reduced, literal))
    assert float(ours[0]) == pytest.approx(float(theirs[0]), abs=1e-12)
    for a, b in zip(ours[1], theirs[1], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


@in_float64
def test_four_numbers_equal_the_literal_attention():
    """Attention, loss and rollout of sampled sentences of length 3."""
    small, numbers = random_features(), routing.Routing(*jnp.asarray([1.3, -0.2, 0.7, 0.1]))
    model = routing.literal_scores(numbers, features.literal(small, WORDS))
    drawn = Lego(ACTION, 3, VARIABLES).sentences(jax.random.split(jax.random.key(1), 32))
    for step in (1, 2, 3):
        masses = numbers.masses(3, jnp.asarray(step))
        attention = jax.vmap(model.attention)(encode(drawn, WORDS, step))
        np.testing.assert_allclose(attention[:, step - 1], masses.predicate, atol=1e-12)
        np.testing.assert_allclose(attention[:, 3 + step - 1], masses.answer, atol=1e-12)
        reduced = routing.loss(small, numbers, drawn.actions, drawn.values, step)
        assert float(reduced) == pytest.approx(float(value_loss(model, drawn, step)), abs=1e-12)
    written = routing.rollout(small, numbers, drawn.actions, drawn.values[:, 0], 3)
    own = drawn
    for step in (1, 2, 3):
        logits = jax.vmap(model)(encode(own, WORDS, step))[:, 4, WORDS.first_value : WORDS.blank]
        own = eqx.tree_at(
            lambda s: s.values, own, own.values.at[:, step].set(logits.argmax(axis=-1).astype(own.values.dtype))
        )
    np.testing.assert_array_equal(written, own.values[:, 1:])
    padded = jnp.pad(drawn.actions, ((0, 0), (0, 5)))
    shorter = routing.rollout(small, numbers, padded, drawn.values[:, 0], 3, jnp.asarray(3))
    np.testing.assert_array_equal(written, shorter)


@in_float64
def test_descent_on_four_numbers_equals_descent_on_the_blocks():
    """Three literal steps on the population of two-step sentences, every order of variables included."""
    action, variables = action_named("C2"), 3
    words = Vocabulary(variables, 2, 2)
    small = features.ideal(action, words.size, 2.0, SReLU())
    batch = two_steps(action).batch
    orders = jnp.asarray([[a, b, c] for a in range(3) for b in range(3) for c in range(3) if len({a, b, c}) == 3])
    count = len(batch.actions)
    drawn = Sentences(
        jnp.repeat(orders, count, axis=0), jnp.tile(batch.actions, (6, 1)), jnp.tile(batch.values, (6, 1))
    )
    model, mask, rate = features.literal(small, words), block_mask(words), 0.7

    def total(scores, model):
        model = eqx.tree_at(lambda m: m.scores, model, scores)
        seen = [(encode(drawn, words, step), encode(drawn, words, step + 1)[:, -1]) for step in (1, 2)]
        return sum(jax.vmap(lambda c, t: clause_loss(model(c), t)[4])(*each).mean() for each in seen)

    slope = jax.jit(jax.grad(total))
    for _ in range(3):
        model = eqx.tree_at(lambda m: m.scores, model, model.scores - rate * mask * slope(model.scores, model))
    end = train_routing(small, routing.uniform(), two_steps(action), (1, 2), variables, 3, rate, rule="plain").end
    expected = routing.literal_scores(end, model).scores
    assert float(jnp.abs(expected).max()) > 0.01
    np.testing.assert_allclose(model.scores, expected, atol=1e-12)


@pytest.mark.parametrize("version", ["standard", "printed", "modified"])
@in_float64
def test_slopes_are_derivatives(version):
    activation = SReLU(version=version, ceiling=3.0)
    x = jnp.linspace(-4, 4, 161) + 1e-3
    np.testing.assert_allclose(jax.vmap(jax.grad(activation))(x), activation.derivative(x), atol=1e-12)


def test_bad_settings_are_refused():
    for bad, words in (({"power": 3}, "power=3"), ({"width": 0.0}, "width=0"), ({"version": "other"}, "other")):
        with pytest.raises((SpecError, TypeError, Exception), match=words):
            SReLU(**bad)


def test_what_is_seen_of_actions_and_of_values_starts_apart():
    """Each of the two blocks has a key of its own, so that normal numbers agree nowhere."""
    small = features.drawn(ACTION, WORDS.size, 50, 1.0, 3.0, SReLU(), jax.random.key(0))
    several = min(small.actions.shape[-1], small.values.shape[-1])
    first, second = small.actions[..., :several].ravel(), small.values[..., :several].ravel()
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / np.sqrt(first.size)  # four standard errors
    assert not np.isin(np.asarray(first), np.asarray(second)).any()


def test_bias_and_ceiling_grow_with_the_logarithm_of_the_vocabulary():
    small = features.drawn(ACTION, 100, 3, 0.5, 3.0, SReLU(), jax.random.key(0))
    assert float(small.bias) == pytest.approx(0.5 * np.log(100))
    assert float(small.ceiling) == pytest.approx(3.0 * np.log(100))
    assert float(small.others) == 100 - ACTION.values


def test_the_printed_values_of_the_modified_srelu():
    """Assumption B.2 with leak 0.1 and ceiling 2: x^2/2 down to the leak, then a line, then a constant."""
    relu = SReLU(4, 0.5, "modified", leak=0.1, ceiling=2.0)
    below = printed_modified(jnp.asarray([0.0, -0.05, -0.1, -1.0, -2.0, -3.0]), relu)
    np.testing.assert_allclose(below, [0.0, 0.05**2 / 2, 0.1 * 0.1, 0.1 * 1.0, 0.1 * 2.0, 0.1 * 2.0], rtol=1e-6)
    above = printed_modified(jnp.asarray([0.25, 0.5, 1.0, 3.0]), relu)
    bend = 0.25**4 / (4 * 0.5**3)  # x^q / (q rho^(q-1)); a straight line less rho (1 - 1/q) from rho to the ceiling
    np.testing.assert_allclose(above, [bend, 0.5 - 0.375, 1.0 - 0.375, 2.0 - 0.375], rtol=1e-6)
