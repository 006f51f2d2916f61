"""Norms folded into the maps behind them, and the GPU's forms of GELU and softmax, equal the plain ones."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_products import derivatives

from sorites.fast.fused import folded, gelu, norm_and_map, softmax
from sorites.models.network import Linear, Norm, standardize, tanh_gelu
from sorites.theory.precision import in_float64


def normal(seed, *shape):
    return jax.random.normal(jax.random.key(seed), shape, jnp.result_type(float))


@in_float64
def test_a_folded_norm_is_the_norm_and_its_map():
    parts = [normal(seed, *shape) for seed, shape in enumerate([(6, 4), (4,), (4,), (4, 5), (5,)])]

    def plain(rows, scale, shift, weight, bias):
        return Linear(weight, bias)(Norm(scale, shift)(rows))

    def ours(rows, scale, shift, weight, bias):
        return folded(Norm(scale, shift), Linear(weight, bias))(standardize(rows))

    for mine, theirs in zip(derivatives(ours, *parts), derivatives(plain, *parts), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-11)


def test_a_gpu_folds_where_rows_have_more_entries_than_weights(monkeypatch):
    norm, linear = Norm(normal(0, 4), normal(1, 4)), Linear(normal(2, 4, 5), normal(3, 5))
    few, many = normal(4, 5, 4), normal(4, 6, 4)
    assert norm_and_map(norm, linear, many)[0] is norm
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert norm_and_map(norm, linear, few)[0] is norm
    standard, after = norm_and_map(norm, linear, many)
    assert standard is not norm
    np.testing.assert_allclose(after(standard(many)), linear(norm(many)), atol=1e-5)


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_gelu_and_softmax_on_both_devices(monkeypatch, backend):
    seen = np.tril(np.ones((5, 5), bool))[[0, 1, 2, 4]][None, None]

    @in_float64
    def compare():
        scores, x = 9 * normal(3, 2, 3, 4, 5), jnp.linspace(-9, 9, 181, dtype=jnp.float64)
        plain = derivatives(lambda scores: jax.nn.softmax(scores, axis=-1, where=seen), scores)
        plain += derivatives(tanh_gelu, x)
        monkeypatch.setattr(jax, "default_backend", lambda: backend)
        ours = derivatives(lambda scores: softmax(scores, seen), scores) + derivatives(gelu, x)
        return ours, plain

    for mine, theirs in zip(*compare(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)
