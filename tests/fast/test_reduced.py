"""The reduced network equals the plain one under `jax.vmap`, on a CPU and as a GPU computes it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.fast import attention_kernel, few_queries, reduced
from sorites.models.network import Architecture, embed, network
from sorites.theory.precision import in_float64


def drawn(architecture: Architecture, positions: int, vocab: int = 2, dtype=jnp.float32):
    """Weights large enough that every part matters, biases included."""
    leaves, tree = jax.tree.flatten(network(architecture, positions, jax.random.key(0), vocab))
    keys = jax.random.split(jax.random.key(1), len(leaves))
    moved = [leaf.astype(dtype) + 0.3 * jax.random.normal(key, leaf.shape, dtype)
             for key, leaf in zip(keys, leaves, strict=True)]  # fmt: skip
    return jax.tree.unflatten(tree, moved)


def compare(net, numbers, hidden, first, close, reverse_only=False):
    """Logits and the gradient of a sum over them."""
    pad = jnp.linspace(-1, 1, net.architecture.width, dtype=net.tokens.dtype)

    def plain(net):
        return jax.vmap(net.continued)(embed(net, pad, numbers, hidden))[0][:, first:]

    def ours(net):
        return reduced.logits(net, pad, numbers, hidden, first, reverse_only)

    def both(function):
        @eqx.filter_jit
        @eqx.filter_value_and_grad(has_aux=True)
        def total(net):
            logits = function(net)
            return jnp.sum(jnp.sin(logits.astype(jnp.float32) if close > 1e-8 else logits)), logits

        (_, logits), gradient = total(net)
        return [logits, *jax.tree.leaves(gradient)]

    for found, expected in zip(both(ours), both(plain), strict=True):
        scale = max(float(np.abs(expected).max()), 1e-3)
        np.testing.assert_allclose(found / scale, expected / scale, atol=close)


def bits(batch, length):
    return jax.random.bernoulli(jax.random.key(5), 0.5, (batch, length)).astype(jnp.int32)


CASES = [(1, 1, 9, 6), (1, 1, 9, 8), (1, 4, 7, 6), (2, 2, 9, 5), (2, 2, 9, 3), (3, 1, 6, 5), (3, 2, 9, 8), (2, 4, 9, 1)]


@pytest.mark.parametrize("batch", [3, 40])  # too few to share a prefix, and enough
@pytest.mark.parametrize(("layers", "heads", "length", "first"), CASES)
@in_float64
def test_bits(layers, heads, length, first, batch):
    net = drawn(Architecture(layers, heads, 16, 20), length, dtype=jnp.float64)
    compare(net, bits(batch, length), None, first, 1e-11)


@pytest.mark.parametrize("layers", [1, 2])
@in_float64
def test_hidden_positions_other_tokens_and_soft_bits(layers):
    hidden = jnp.arange(7)[None] == jnp.arange(8)[:, None]
    net = drawn(Architecture(layers, 2, 16, 20), 7, dtype=jnp.float64)
    compare(net, bits(8, 7), hidden, 4, 1e-11)
    compare(net, jnp.linspace(0, 1, 56, dtype=jnp.float64).reshape(8, 7), hidden, 4, 1e-11)
    net = drawn(Architecture(layers, 2, 16, 20), 7, 5, dtype=jnp.float64)
    compare(net, jax.random.randint(jax.random.key(5), (8, 7), 0, 5), None, 4, 1e-11)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_bfloat16_products(layers):
    net = drawn(Architecture(layers, 2, 16, 20, compute="bfloat16"), 9)
    compare(net, bits(40, 9), None, 7, 0.15)


@pytest.mark.parametrize("compute", ["float32", "bfloat16"])
@pytest.mark.parametrize("reverse_only", [False, True])
def test_as_a_gpu_computes_it(monkeypatch, compute, reverse_only):
    """With folded norms, and the kernel for middle layers if only a gradient is asked."""
    calls, attend = [], attention_kernel.attend

    def interpreted(split, heads):
        calls.append(split.dtype)
        return attend(split, heads, True)

    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(attention_kernel, "attend", interpreted)
    net = drawn(Architecture(3, 2, 16, 16, compute=compute), 9)
    compare(net, bits(40, 9), None, 7, 1e-4 if compute == "float32" else 0.15, reverse_only)
    assert calls == [jnp.dtype(compute)] * reverse_only


def test_few_queries_pay_where_they_are_few():
    assert few_queries.few_pay(2, 9, 16, 8)
    assert not few_queries.few_pay(2, 9, 16, 0)
    assert not few_queries.few_pay(2, 9, 16, 3)
