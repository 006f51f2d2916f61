"""The exact tree law against enumeration, and against the law of independent keys."""

import itertools
import math

import numpy as np
import pytest

from sorites.theory import gated_laws, products, tree_law


def enumerated(bits: int, sparsity: int, stage: int) -> tuple[np.ndarray, float]:
    """Gradient of one query by source, and the stage's loss, averaged over every input; exact lower layers."""
    inputs = np.array(list(itertools.product([1, -1], repeat=bits)), float)
    level, columns = inputs[:, :sparsity], [inputs]
    for _ in range(1, stage):
        level = level[:, 0::2] * level[:, 1::2]
        columns.append(level)
    keys, label = np.concatenate(columns, axis=1), level[:, 0] * level[:, 1]
    z = keys.mean(axis=1)
    error, slope = -np.cos(np.pi * z) - label, np.pi * np.sin(np.pi * z)
    gradient = ((error * slope)[:, None] * (keys - z[:, None])).mean(axis=0) / keys.shape[1]
    return gradient, sparsity / 2**stage * 0.5 * (error**2).mean()


@pytest.mark.parametrize(("bits", "sparsity"), [(4, 2), (6, 4), (8, 8), (10, 8)])
def test_the_law_is_the_population(bits, sparsity):
    for stage in range(1, int(math.log2(sparsity)) + 1):
        gradient, loss = enumerated(bits, sparsity, stage)
        law = tree_law.start_gradient(bits, sparsity, stage)
        places = tree_law.places(bits, sparsity, stage)
        assert sum(place.count for place in places) == tree_law.keys_of_stage(bits, sparsity, stage)
        expected = sorted(law[place.name] for place in places for _ in range(place.count))
        np.testing.assert_allclose(np.sort(gradient), expected, rtol=0, atol=1e-14)
        assert tree_law.start_loss(bits, sparsity, stage) == pytest.approx(loss, abs=1e-14)


@pytest.mark.parametrize(("bits", "sparsity"), [(6, 4), (8, 8)])
def test_what_does_not_see_the_label(bits, sparsity):
    """The mean of phi(z) phi'(z) (x_j - z) / N over every input."""
    for stage in range(1, int(math.log2(sparsity)) + 1):
        inputs = np.array(list(itertools.product([1, -1], repeat=bits)), float)
        level, columns = inputs[:, :sparsity], [inputs]
        for _ in range(1, stage):
            level = level[:, 0::2] * level[:, 1::2]
            columns.append(level)
        keys = np.concatenate(columns, axis=1)
        z = keys.mean(axis=1)
        pull = -np.cos(np.pi * z) * np.pi * np.sin(np.pi * z)
        found = (pull[:, None] * (keys - z[:, None])).mean(axis=0) / keys.shape[1]
        law = tree_law.unlabelled_gradient(bits, sparsity, stage)
        expected = [law[place.name] for place in tree_law.places(bits, sparsity, stage) for _ in range(place.count)]
        np.testing.assert_allclose(np.sort(found), np.sort(expected), rtol=0, atol=1e-14)


@pytest.mark.parametrize(("keys", "ratio"), [(16, 0.6756), (30, 0.8032), (64, 0.8997), (256, 0.9734), (1024, 0.9933)])
def test_independent_keys_have_the_catalogue_values(keys, ratio):
    assert tree_law.exchangeable_signal(keys) == pytest.approx(ratio, abs=6e-5)
    assert tree_law.signal(keys, 2, 1) == pytest.approx(tree_law.exchangeable_signal(keys), rel=1e-12)


def test_later_stages_differ_from_independent_keys():
    """At n=24, k=8 the last stage's signal is 6 % below the law of independent keys: a calibration needs the tree."""
    tree, independent = tree_law.signal(24, 8, 3), tree_law.exchangeable_signal(tree_law.keys_of_stage(24, 8, 3))
    assert 0.05 < 1 - tree / independent < 0.07


def test_literal_strength_is_two_up_to_65536():
    assert {gated_laws.literal_strength(bits, 1.0) for bits in (2, 30, 1000, 65_536)} == {2}
    assert gated_laws.literal_strength(65_537, 1.0) == 3
    root = gated_laws.log_size_for_concentration()
    assert root / 16 == pytest.approx(math.log(root), rel=1e-9)


def test_trivial_products_of_the_papers_example():
    """n=8, k=4: b1 b3 b9 is trivial where b9 = b1 b3."""
    masks = products.input_sets(8, np.array([[0, 2], [4, 6], [8, 9]]))
    assert masks[0] ^ masks[2] ^ masks[8] == 0
    assert masks[10] == masks[0] ^ masks[2] ^ masks[4] ^ masks[6]
    assert products.trivial_quadruples(masks[:8]) == 3 * 64 - 16


def test_correlations_are_those_of_the_products():
    signs = np.array([[1, -1, 1], [-1, -1, 1], [1, 1, 1], [1, -1, -1]])
    assert products.largest_correlation(signs, [0b011]) == pytest.approx(abs((signs[:, 0] * signs[:, 1]).mean()))
    assert products.largest_correlation(signs, [0b001, 0b100]) == pytest.approx(0.5)
    alone = [products.largest_correlation(signs, [product]) for product in range(1, 8)]
    assert products.largest_correlation(signs, list(range(1, 8))) == max(alone) > min(alone)
