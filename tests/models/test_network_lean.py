"""Norms folded into the maps after them and a GELU that keeps its input alone are the same network, slopes included."""

import jax
import jax.numpy as jnp
import numpy as np

from sorites.models.network import Architecture, Network, network
from sorites.models.network_lean import gelu, lean
from sorites.models.network_reduced import answers
from sorites.theory.precision import in_float64


def moved(architecture: Architecture, places: int) -> Network:
    """With scales that are not 1, shifts and biases that are not 0."""
    leaves, tree = jax.tree.flatten(network(architecture, places, jax.random.key(0)))
    keys = jax.random.split(jax.random.key(1), len(leaves))
    leaves = [leaf + 0.1 * jax.random.normal(key, leaf.shape) for leaf, key in zip(leaves, keys, strict=True)]
    return jax.tree.unflatten(tree, leaves)


@in_float64
def test_the_network_and_its_gradients_are_the_same():
    model = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), moved(Architecture(2, 2, 8, 12, spread=0.5), 7))
    tokens = jax.random.bernoulli(jax.random.key(2), 0.5, (5, 7)).astype(jnp.int32)

    found = []
    for change in (lambda model: model, lean):

        def of(model, change=change):
            logits, _ = answers(change(model), tokens, (4, 5, 6))
            return jnp.sum(jnp.sin(logits)), logits

        found.append(jax.value_and_grad(of, has_aux=True)(model))
    for ours, theirs in zip(*map(jax.tree.leaves, found), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12, rtol=1e-10)


@in_float64
def test_gelu_and_its_slope():
    x = jnp.linspace(-9, 9, 181, dtype=jnp.float64)
    for ours, theirs in zip(*(jax.vjp(f, x) for f in (gelu, lambda x: jax.nn.gelu(x, approximate=True))), strict=True):
        if callable(ours):
            ours, theirs = ours(jnp.cos(x))[0], theirs(jnp.cos(x))[0]
        np.testing.assert_allclose(ours, theirs, atol=1e-13)
