"""Every transformation of JAX works on the models: derivatives in forward mode, reverse mode and of second order."""

import equinox as eqx
import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.models.decoder import decoder
from sorites.models.gated import gated
from sorites.models.gpt import gpt
from sorites.models.perceptron import perceptron
from sorites.models.positional import positional
from sorites.tasks import Lego, Parity
from sorites.theory.precision import in_float64

PARITY, LEGO = Parity(6, 4), Lego("C3", 2, 4)
SMALL = {"heads": 2, "width": 8, "hidden": 12}
MODELS = {
    "gpt of one layer": (PARITY, lambda kernels: gpt(PARITY, 1, kernels=kernels, **SMALL)),
    "gpt of two layers": (PARITY, lambda kernels: gpt(PARITY, 2, kernels=kernels, **SMALL)),
    "gpt of clauses": (LEGO, lambda kernels: gpt(LEGO, 2, kernels=kernels, **SMALL)),
    "decoder": (LEGO, lambda kernels: decoder(LEGO, 4, 8, 2, 12, kernels=kernels)),
    "gated": (PARITY, lambda _: gated(PARITY)),
    "positional": (PARITY, lambda _: positional(PARITY)),
    "positional, one thought a round": (PARITY, lambda _: positional(PARITY, mask="causal")),
    "perceptron": (PARITY, lambda _: perceptron(PARITY)),
}


def loss_of(name: str, kernels: str, own: bool = False):
    """A function of a vector of weights, some weights and a direction; `own`: through soft thoughts of the model."""
    task, make = MODELS[name]
    chains = task.sample(task.draw(jax.random.key(2)), jax.random.key(3), 16)
    model = make(kernels).init(jax.random.key(0))
    arrays, rest = eqx.partition(model, model.trainable())
    weights, unravel = jax.flatten_util.ravel_pytree(jax.tree.map(lambda leaf: leaf.astype(jnp.float64), arrays))
    weights = weights + 0.3 * jnp.asarray(np.random.default_rng(0).normal(size=weights.shape))

    def loss(weights):
        model = eqx.combine(unravel(weights), rest)
        said = model.generate_and_predict(chains, jax.random.key(4), "soft")[1] if own else model.predict_batch(chains)
        return sum(jnp.sum(jnp.sin(leaf)) for leaf in jax.tree.leaves(said)) / 16

    return loss, weights, jnp.asarray(np.random.default_rng(1).normal(size=weights.shape))


def derivatives(loss, weights, direction):
    """The same numbers by every transformation: first and second derivatives along the direction."""
    gradient = jax.grad(loss)(weights)
    first = {
        "grad": gradient @ direction,
        "jvp": jax.jvp(loss, (weights,), (direction,))[1],
        "linearize": jax.linearize(loss, weights)[1](direction),
        "jacfwd": jax.jacfwd(lambda step: loss(weights + step * direction))(0.0),
        "vmap": jax.vmap(jax.grad(loss))(jnp.stack([weights, 2 * weights]))[0] @ direction,
    }
    second = {
        "jvp of grad": jax.jvp(jax.grad(loss), (weights,), (direction,))[1],
        "grad of grad": jax.grad(lambda weights: jax.grad(loss)(weights) @ direction)(weights),
        "grad of jvp": jax.grad(lambda weights: jax.jvp(loss, (weights,), (direction,))[1])(weights),
    }
    return gradient, first, second


@pytest.mark.parametrize("name", MODELS)
@in_float64
def test_all_transformations_agree_with_differences_and_with_the_reference(name):
    loss, weights, direction = loss_of(name, "auto")
    compare(loss, weights, direction)
    if "gpt" in name or name == "decoder":
        plain = loss_of(name, "reference")[0]
        found, expected = (jax.jit(jax.value_and_grad(f))(weights) for f in (loss, plain))
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-9)
        np.testing.assert_allclose(found[1], expected[1], atol=1e-9)
        compare(plain, weights, direction)


@pytest.mark.parametrize("name", ["gpt of two layers", "positional", "positional, one thought a round"])
@in_float64
def test_so_do_they_through_thoughts_of_the_model(name):
    compare(*loss_of(name, "auto", own=True))


@pytest.mark.parametrize("mask", ["lower-levels", "causal"])
@in_float64
def test_so_do_they_through_a_soft_chain(mask):
    model = positional(PARITY, mask=mask)
    rng = np.random.default_rng(0)
    inputs, gates = jnp.asarray(rng.normal(size=(6, 5))), jnp.asarray(rng.normal(size=PARITY.layout.thoughts))
    shape, count = model.weights.shape, model.weights.size

    def loss(both):
        here = eqx.tree_at(lambda model: model.weights, model, both[:count].reshape(shape))
        return jnp.sum(jnp.sin(here.generate_soft(inputs, gates * both[count:])))

    compare(loss, *(jnp.asarray(rng.normal(size=count + len(gates))) for _ in range(2)))


def compare(loss, weights, direction):
    gradient, first, second = jax.jit(lambda *given: derivatives(loss, *given))(weights, direction)
    step, jitted = 1e-5, jax.jit(jax.value_and_grad(loss))
    (up, above), (down, below) = (jitted(weights + sign * step * direction) for sign in (1, -1))
    slope = (up - down) / (2 * step)
    for name, found in first.items():
        np.testing.assert_allclose(found, gradient @ direction, rtol=1e-9, atol=1e-11, err_msg=name)
        np.testing.assert_allclose(found, slope, rtol=1e-5, atol=1e-7, err_msg=name)
    for name, found in second.items():
        np.testing.assert_allclose(found, second["jvp of grad"], atol=1e-8, err_msg=name)
        np.testing.assert_allclose(found, (above - below) / (2 * step), rtol=1e-4, atol=1e-5, err_msg=name)


def test_the_engine_takes_kernels_that_reverse_mode_differentiates():
    make = MODELS["gpt of two layers"][1]
    assert make("auto").for_gradient().kernels == "reverse-only"
    assert make("reference").for_gradient().kernels == "reference"
    model = gated(PARITY)
    assert model.for_gradient() is model
