"""The enumerated class against literal sums, and the closed forms against enumeration."""

import itertools
import math
from fractions import Fraction

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models.positional import positional
from sorites.supervision import teacher_forcing
from sorites.tasks import Parity
from sorites.theory import class_signal, krawtchouk
from sorites.theory import parity_class as pc
from sorites.theory.precision import in_float64

SIZES = [(4, 1), (5, 2), (6, 3), (7, 5), (8, 4), (6, 6)]


def literal_labels(bits: int, sparsity: int) -> np.ndarray:
    """Products of signs, one parity and one input at a time; input 0 is all +1, bit 0 varies fastest."""
    inputs = [tuple(reversed(signs)) for signs in itertools.product([1, -1], repeat=bits)]
    return np.array(
        [[math.prod(x[j] for j in subset) for x in inputs] for subset in itertools.combinations(range(bits), sparsity)]
    )


@pytest.mark.parametrize(("bits", "sparsity"), SIZES)
def test_labels_are_products_of_signs(bits, sparsity):
    codes = np.arange(2**bits)
    table = pc.labels(pc.masks(bits, sparsity), codes)
    np.testing.assert_array_equal(table, literal_labels(bits, sparsity))
    chosen = pc.signs(bits, codes)[pc.subsets(bits, sparsity)]
    np.testing.assert_array_equal(table, chosen.prod(axis=1))


@pytest.mark.parametrize(("bits", "sparsity"), SIZES)
def test_mean_labels_are_krawtchouk_values(bits, sparsity):
    table, codes = literal_labels(bits, sparsity), np.arange(2**bits)
    minus = np.bitwise_count(codes)
    for column, count in zip(table.T, minus, strict=True):
        assert Fraction(int(column.sum()), len(table)) == krawtchouk.mean_label(bits, sparsity, int(count))
        positive = int((column == 1).sum())
        assert positive == krawtchouk.positive_parities(bits, sparsity, int(count))
        assert positive == krawtchouk.positive_parities_series(bits, sparsity, int(count))
    assert krawtchouk.mean_label_square(bits, sparsity) == Fraction(1, math.comb(bits, sparsity))
    assert krawtchouk.mean_label_size(bits, sparsity) == pytest.approx(np.abs(table.mean(axis=0)).mean())


def test_the_transform_is_the_literal_sum():
    values = np.random.default_rng(0).normal(size=(32, 3))
    every = pc.labels(np.arange(32), np.arange(32)).astype(float)
    np.testing.assert_allclose(pc.walsh(values), every @ values, atol=1e-12)


def test_correlations_are_those_of_pairs():
    bits, sparsity = 7, 3
    codes = np.random.default_rng(1).integers(0, 2**bits, 50)
    parities = pc.masks(bits, sparsity)
    grid, means = pc.gram(pc.labels(parities, codes)), pc.correlations(bits, codes)
    np.testing.assert_allclose(grid, means[parities[:, None] ^ parities[None, :]], atol=1e-14)
    pairs = {int(a ^ b) for a, b in itertools.permutations(parities, 2)}
    assert sorted(pairs) == pc.differences(bits, sparsity).tolist()
    assert pc.largest_eigenvalue(pc.labels(parities, codes)) == pytest.approx(np.linalg.eigvalsh(grid)[-1])
    assert pc.largest_eigenvalue(pc.labels(parities, codes[:9])) == pytest.approx(
        np.linalg.eigvalsh(pc.gram(pc.labels(parities, codes[:9])))[-1]
    )


def test_population_variance_is_that_of_the_enumerated_class():
    bits, sparsity = 6, 3
    jacobian = np.random.default_rng(2).normal(size=(2**bits, 40))
    table = pc.labels(pc.masks(bits, sparsity), np.arange(2**bits))
    assert pc.population_variance(bits, sparsity, jacobian) == pytest.approx(pc.variance(pc.pulls(table, jacobian)))


def test_expected_variance_is_the_mean_over_every_sample():
    """n = 2 samples of 3 bits: all 64 samples, one by one."""
    bits, sparsity, codes = 3, 2, np.arange(8)
    jacobian = np.random.default_rng(3).normal(size=(8, 4))
    table = pc.labels(pc.masks(bits, sparsity), codes)
    found = [
        pc.variance(pc.pulls(table[:, list(pair)], jacobian[list(pair)])) for pair in itertools.product(codes, repeat=2)
    ]
    noise = pc.sampling_noise(jacobian, table.mean(axis=0))
    law = pc.expected_variance(pc.population_variance(bits, sparsity, jacobian), noise, 2)
    assert np.mean(found) == pytest.approx(law)


def test_the_dual_bound_holds_and_is_the_dual_gram_matrix():
    bits, sparsity = 8, 4
    codes = np.random.default_rng(4).integers(0, 2**bits, 12)
    table = pc.labels(pc.masks(bits, sparsity), codes).astype(float)
    mean = table.T @ table / len(table)  # m(x_i x_j)
    count = np.bitwise_count(codes[:, None] ^ codes[None, :])
    law = np.vectorize(lambda minus: float(krawtchouk.mean_label(bits, sparsity, int(minus))))(count)
    np.testing.assert_allclose(mean, law, atol=1e-14)
    top = pc.largest_eigenvalue(pc.labels(pc.masks(bits, sparsity), codes)) / len(table)
    assert 1 / 12 <= top <= pc.dual_bound(law) + 1e-12


def test_the_exact_floor_is_attained_by_the_mean_of_the_untold():
    table = literal_labels(6, 3).astype(float)
    untold = table[:7]
    best = untold.mean(axis=0)
    loss = ((untold - best) ** 2).mean(axis=1).sum() / len(table)
    assert loss == pytest.approx(pc.exact_floor(7 / len(table), len(table)))
    assert pc.printed_floor(0.0, 0.1) == -math.inf


@in_float64
def literal_chain(bits: int, sparsity: int) -> tuple[float, float]:
    """Class variance and per-sample noise of the teacher-forced gradient, target by target, input by input."""
    task = Parity(bits, sparsity)
    model, taught = positional(task), teacher_forcing(task.layout)

    def each(secret):
        def one(tokens):
            chain = task.think(secret, tokens[:, None])
            return eqx.filter_grad(lambda m: taught(m, task, secret, chain, jax.random.key(0)))(model).weights

        return jax.vmap(one, in_axes=1)(jnp.asarray(pc.signs(bits, np.arange(2**bits)))).reshape(2**bits, -1)

    found = np.stack([np.asarray(jax.jit(each)(jnp.asarray(s))) for s in pc.subsets(bits, sparsity)])
    means = found.mean(axis=1)
    noise = ((found - means[:, None]) ** 2).sum(axis=-1).mean()
    return pc.variance(means), float(noise)


@pytest.mark.parametrize(("bits", "sparsity"), [(4, 2), (5, 4), (6, 4)])
def test_the_chain_tells_what_the_law_says(bits, sparsity):
    told, noise = literal_chain(bits, sparsity)
    assert class_signal.chain_variance(bits, sparsity) == pytest.approx(told, rel=1e-10)
    assert class_signal.chain_noise(bits, sparsity) == pytest.approx(noise, rel=1e-10)


def test_leaf_chances_add_up():
    chances = class_signal.leaf_probabilities(9, 4)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    np.testing.assert_allclose(chances.sum(axis=0), 4 / 9)


def test_classes_that_cannot_be_enumerated_are_refused():
    with pytest.raises(SpecError, match="sparsity=9"):
        pc.subsets(8, 9)
    with pytest.raises(SpecError, match="fewer bits"):
        pc.subsets(40, 20)
    with pytest.raises(SpecError, match="fewer samples"):
        pc.labels(pc.masks(16, 8), np.arange(2**16))


@pytest.mark.parametrize(("bits", "sparsity"), [(5, 4), (5, 1), (6, 2), (6, 3)])
def test_differences_are_the_sums_of_two_parities(bits, sparsity):
    masks = [mask for mask in range(2**bits) if mask.bit_count() == sparsity]
    expected = {first ^ second for first, second in itertools.permutations(masks, 2)}
    assert pc.differences(bits, sparsity).tolist() == sorted(expected)
