"""The kernel, interpreted on a CPU, equals plain attention and its gradient; and a GPU's compiler can lower it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.fast import attention_kernel as kernel
from sorites.fast.shared_prefix import attend

SIZES = [(9, 2, 12), (33, 4, 180), (17, 1, 64), (16, 1, 16), (1, 3, 5), (4, 2, 8)]


def drawn(batch, length, heads, dim, kind=jnp.float32):
    split, gradient = jax.random.split(jax.random.key(0))
    return (jax.random.normal(split, (batch, length, 3 * heads * dim)).astype(kind),
            jax.random.normal(gradient, (batch, length, heads * dim)).astype(kind))  # fmt: skip


def value_and_gradient(function, split, gradient):
    value, back = jax.vjp(function, split)
    return value, back(gradient)[0]


@pytest.mark.parametrize(("length", "heads", "dim"), SIZES)
def test_equals_plain_attention(length, heads, dim):
    given = drawn(5, length, heads, dim)
    on_chip = value_and_gradient(lambda split: kernel.attend(split, heads, True), *given)
    plain = value_and_gradient(lambda split: attend(split, 0, heads), *given)
    for ours, theirs in zip(on_chip, plain, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=5e-6)


def test_rounds_as_bfloat16_does():
    given = drawn(4, 21, 2, 24, jnp.bfloat16)
    exact = value_and_gradient(lambda split: attend(split, 0, 2), *(each.astype(jnp.float32) for each in given))
    found = value_and_gradient(lambda split: kernel.attend(split, 2, True), *given)
    for ours, theirs in zip(found, exact, strict=True):
        assert np.linalg.norm(np.asarray(ours, np.float32) - theirs) < 1e-2 * np.linalg.norm(theirs)


def test_members_side_by_side():
    split, gradient = (each.reshape(3, 4, *each.shape[1:]) for each in drawn(12, 7, 2, 8))
    both = jax.vmap(lambda *given: value_and_gradient(lambda split: kernel.attend(split, 2, True), *given))
    for member, found in enumerate(zip(*both(split, gradient), strict=True)):
        alone = value_and_gradient(lambda split: attend(split, 0, 2), split[member], gradient[member])
        for ours, theirs in zip(found, alone, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=5e-6)


def test_a_gpu_can_lower_it(monkeypatch):
    split, gradient = drawn(2, 33, 4, 180, jnp.bfloat16)
    traced = jax.jit(lambda *given: value_and_gradient(lambda split: kernel.attend(split, 4), *given)[1])
    assert "_gradient" in traced.trace(split, gradient).lower(lowering_platforms=("cuda",)).as_text()
    assert not kernel.fits(split, 33, 4)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert kernel.fits(split, 33, 4)
    assert not kernel.fits(split, 65, 4)
    assert not kernel.fits(split, 33, 1)
