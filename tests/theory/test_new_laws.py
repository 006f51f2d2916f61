"""Laws of rounding, of links, of margins and of elimination against draws and enumeration."""

import itertools

import numpy as np
import pytest

from sorites.models import LINKS
from sorites.statistics import semi_log_slope
from sorites.theory import elimination, link_law, margins, rounding, tree_law
from sorites.theory.count_chain import GATE_COEFFICIENTS


@pytest.mark.parametrize("weight", [7.0, 7.3, 6.61])
@pytest.mark.parametrize(("adversarial", "shift"), [(True, 0.2), (False, 0.2), (False, 0.7), (True, 0.6)])
def test_siblings_that_round_together(weight, adversarial, shift):
    generator, noise, draws = np.random.default_rng(0), 0.15, 200_000
    pair = weight + noise * generator.normal(size=(2, draws))
    if adversarial:
        pair = np.stack([pair.max(axis=0) + shift, pair.min(axis=0) - shift])
    else:
        pair += generator.uniform(-shift, shift, size=pair.shape)
    together = (np.floor(pair + 0.5) == np.floor(weight + 0.5)).all(axis=0).mean()
    assert together == pytest.approx(rounding.kept(weight, noise, shift, adversarial) ** 2, abs=0.006)


def test_room_is_the_way_to_a_half_integer():
    assert [round(rounding.room(each), 12) for each in (7.0, 7.3, 7.5, 7.9)] == [0.5, 0.2, 0.0, 0.4]


@pytest.mark.parametrize(("bits", "sparsity", "stage"), [(8, 4, 1), (8, 4, 2), (16, 8, 3), (7, 4, 2)])
def test_the_cosine_has_its_closed_form(bits, sparsity, stage):
    found = link_law.signal(bits, sparsity, stage, LINKS["cosine"], tree_law.CURVATURE)
    assert found == pytest.approx(tree_law.signal(bits, sparsity, stage), rel=1e-12)


def test_another_link_by_enumeration():
    """Stage 1 of n = 6, k = 4 with the quartic link: every input."""
    inputs = np.array(list(itertools.product((-1, 1), repeat=6)), float)
    z, label = inputs.mean(axis=1), inputs[:, 0] * inputs[:, 1]
    value, slope = -1 + 4 * z**2 - 2 * z**4, 8 * z - 8 * z**3
    by_hand = ((value - label) * slope * (inputs[:, 0] - z)).mean() / 6
    assert link_law.child_gradient(6, 4, 1, LINKS["quartic"]) == pytest.approx(by_hand, rel=1e-12)


def test_margins_by_enumeration():
    """Five keys, +1 with chance 0.3, AND."""
    keys, plus = 5, 0.3
    found = dict(
        zip(
            *margins.separations(
                keys, plus, GATE_COEFFICIENTS["and"], lambda z: 2 * max(z, 0) - 1, lambda z: float(z > 0)
            ),
            strict=True,
        )
    )
    by_hand: dict[float, float] = {}
    for signs in itertools.product((1, -1), repeat=keys):
        chance = np.prod([plus if sign > 0 else 1 - plus for sign in signs])
        mean, label = sum(signs) / keys, 1 if signs[0] == signs[1] == 1 else -1
        margin = round(label * (2 * max(mean, 0) - 1), 12)
        by_hand[margin] = by_hand.get(margin, 0) + chance * (mean > 0) * label * (signs[0] - signs[2])
    assert found.keys() == by_hand.keys()
    for margin, value in by_hand.items():
        assert found[margin] == pytest.approx(value, abs=1e-15)


def test_elimination_finds_the_secret_or_says_that_it_cannot():
    generator = np.random.default_rng(0)
    secret = np.array([1, 4, 5, 11])
    inputs = generator.integers(0, 2, (30, 12)).astype(bool)
    labels = inputs[:, secret].sum(axis=1) % 2 == 1
    np.testing.assert_array_equal(elimination.eliminate(inputs, labels), secret)
    assert elimination.eliminate(inputs[:11], labels[:11]) is None
    assert elimination.eliminate(np.tile(inputs[:6], (4, 1)), np.tile(labels[:6], 4)) is None


def test_the_chance_of_elimination_by_enumeration():
    """Three samples of two bits: 42 of 64 span the plane."""
    spanning = 0
    for rows in itertools.product(itertools.product((0, 1), repeat=2), repeat=3):
        spanning += elimination.eliminate(np.array(rows, bool), np.zeros(3, bool)) is not None
    assert spanning / 64 == elimination.solved_probability(2, 3) == 42 / 64
    assert elimination.solved_probability(4, 3) == 0


def test_the_rate_of_an_exponential():
    sizes = np.array([2, 3, 5, 8])
    assert semi_log_slope(sizes, 3 * np.exp(-0.7 * sizes)).value == pytest.approx(-0.7)


def test_elimination_of_several_at_once_in_more_than_a_word():
    """Three secrets of 70 bits; the fourth sees one bit never, and any secret with it fits as well."""
    generator = np.random.default_rng(0)
    inputs, secrets = generator.random((4, 90, 70)) < 0.5, generator.random((4, 70)) < 0.3
    inputs[3, :, 66] = False
    labels = np.einsum("tsb,tb->ts", inputs.astype(int), secrets) % 2 == 1
    fits, found = elimination.eliminate_each(inputs, labels)
    np.testing.assert_array_equal(fits, [True, True, True, False])
    np.testing.assert_array_equal(found[:3], secrets[:3])
