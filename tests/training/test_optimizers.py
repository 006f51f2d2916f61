"""A battery over every rule: still on zero gradient, one step by hand, nothing else moves."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models.open_gates import open_gates
from sorites.tasks import Parity
from sorites.training import GD, OPTIMIZERS, Adam, AdamW, Clip, Decay, Frozen, Normalised, Quantised, Sign

RATE = 0.3
rng = np.random.default_rng(0)


def random_like(model, scale=1.0):
    return jax.tree.map(lambda leaf: jnp.asarray(scale * rng.normal(size=leaf.shape), jnp.float32), model)


PARAMS = random_like(open_gates(Parity(8, 4)), 2.0)
GRADIENT = random_like(PARAMS, 0.1)
W = {name: np.asarray(getattr(PARAMS, name), float) for name in ("weights", "gates")}
G = {name: np.asarray(getattr(GRADIENT, name), float) for name in ("weights", "gates")}
NORM = np.sqrt(sum((g**2).sum() for g in G.values()))
LARGEST = max(np.abs(g).max() for g in G.values())


def rounded(w, step):
    return np.floor(w + step + 0.5) - w


RULED = [  # a rule, and its first update by hand
    (GD(RATE), lambda w, g: -RATE * g),
    (Sign(RATE), lambda w, g: -RATE * np.sign(g)),
    (Sign(RATE, tolerance=0.5), lambda w, g: -RATE * np.where(np.abs(g) <= 0.5 * LARGEST, 0, np.sign(g))),
    (Normalised(RATE), lambda w, g: -RATE * g / NORM),
    (Adam(RATE), lambda w, g: -RATE * g / (np.abs(g) + 1e-8)),
    (AdamW(RATE), lambda w, g: -RATE * g / (np.abs(g) + 1e-8)),
    (Clip(GD(RATE), NORM / 2), lambda w, g: -RATE * g / 2),
    (Clip(GD(RATE), 2 * NORM), lambda w, g: -RATE * g),
    (Decay(GD(RATE), 10), lambda w, g: -RATE * g),
    (AdamW(RATE, decay=0.1), lambda w, g: -RATE * (g / (np.abs(g) + 1e-8) + 0.1 * w)),
    (Quantised(GD(RATE)), lambda w, g: rounded(w, -RATE * g)),
    (Quantised(Sign(RATE)), lambda w, g: rounded(w, -RATE * np.sign(g))),
]


def name(optimizer):
    inner = getattr(optimizer, "optimizer", None)
    return type(optimizer).__name__ if inner is None else f"{type(optimizer).__name__}({name(inner)})"


PLAIN = [GD(RATE), Sign(RATE), Normalised(RATE), Adam(RATE), AdamW(RATE)]


@eqx.filter_jit
def first_update(optimizer, params, gradient):
    transformation = optimizer.transformation()
    return transformation.update(gradient, transformation.init(params), params)[0]


def test_the_battery_covers_the_registry():
    assert {type(optimizer) for optimizer in PLAIN} == set(OPTIMIZERS.values())


@pytest.mark.parametrize(("optimizer", "formula"), RULED, ids=[name(optimizer) for optimizer, _ in RULED])
def test_one_step_by_hand(optimizer, formula):
    update = first_update(optimizer, PARAMS, GRADIENT)
    for part in W:
        np.testing.assert_allclose(getattr(update, part), formula(W[part], G[part]), atol=2e-5)


@pytest.mark.parametrize("optimizer", [*PLAIN, *(Frozen(optimizer, ("gates",)) for optimizer in PLAIN)], ids=name)
def test_zero_gradient_moves_nothing(optimizer):
    for leaf in jax.tree.leaves(first_update(optimizer, PARAMS, jax.tree.map(jnp.zeros_like, GRADIENT))):
        assert not leaf.any()


@pytest.mark.parametrize("optimizer", PLAIN, ids=name)
def test_quantised_weights_are_integers_and_stay_on_zero_gradient(optimizer):
    moved = eqx.apply_updates(PARAMS, first_update(Quantised(optimizer), PARAMS, GRADIENT))
    for leaf in jax.tree.leaves(moved):
        np.testing.assert_array_equal(leaf, np.round(leaf))
    still = first_update(Quantised(optimizer), moved, jax.tree.map(jnp.zeros_like, GRADIENT))
    assert not any(leaf.any() for leaf in jax.tree.leaves(still))


def test_halves_round_up():
    half = jax.tree.map(lambda leaf: jnp.full_like(leaf, 0.5), PARAMS)
    nothing = jax.tree.map(jnp.zeros_like, PARAMS)
    for start, end in ((0.5, 1), (-0.5, 0), (1.5, 2), (2.5, 3)):  # floor(x + 1/2), not banker's
        params = jax.tree.map(lambda leaf: leaf - 0.5 + start, half)  # noqa: B023
        moved = eqx.apply_updates(params, first_update(Quantised(GD(RATE)), params, nothing))
        assert (moved.gates == end).all()


@pytest.mark.parametrize("optimizer", [*PLAIN, AdamW(RATE, decay=0.1), Quantised(GD(RATE))], ids=name)
def test_frozen_parts_stand_still_and_the_others_move_as_if_alone(optimizer):
    update = first_update(Frozen(optimizer, ("gates",)), PARAMS, GRADIENT)
    assert not update.gates.any()
    alone = eqx.tree_at(lambda m: m.gates, GRADIENT, jnp.zeros_like(GRADIENT.gates))
    np.testing.assert_allclose(update.weights, first_update(optimizer, PARAMS, alone).weights, rtol=1e-6)


def test_a_new_rate_does_not_retrace():
    traces = []

    @eqx.filter_jit
    def counted(optimizer):
        traces.append(optimizer)
        return optimizer.transformation().update(GRADIENT, optimizer.transformation().init(PARAMS), PARAMS)[0]

    makers = (*OPTIMIZERS.values(), lambda rate: Quantised(GD(rate)))
    for make in makers:
        for rate in (0.1, 0.2, np.float32(0.3), 1):
            counted(make(rate))
    counted(AdamW(0.1, decay=0.01, momentum=0.8))
    assert len(traces) == len(makers)


@pytest.mark.parametrize("rate", [-1.0, 0.0, float("nan"), float("inf")])
@pytest.mark.parametrize("make", OPTIMIZERS.values())
def test_a_rate_is_positive(make, rate):
    with pytest.raises(SpecError, match=r"a rate is a positive number: rate=.*; use one above 0"):
        make(rate)


def test_a_misspelt_part_is_refused():
    with pytest.raises(SpecError, match=r"a frozen part is a field of the model: 'gate'; use its name"):
        Frozen(GD(RATE), ("gate",)).transformation().update(GRADIENT, (), PARAMS)


def test_a_decaying_rate_falls_to_its_end():
    optimizer = Decay(GD(RATE), 4, by=0.5)
    transformation = optimizer.transformation()
    state, moves = transformation.init(PARAMS), []
    for _ in range(6):
        update, state = transformation.update(GRADIENT, state, PARAMS)
        moves.append(np.asarray(update.gates / GRADIENT.gates).mean())
    np.testing.assert_allclose(moves, [-RATE * share for share in (1, 0.875, 0.75, 0.625, 0.5, 0.5)], rtol=1e-5)
    with pytest.raises(SpecError, match="what decays is a rate: Quantised has none"):
        Decay(Quantised(GD(RATE)), 4)
    with pytest.raises(SpecError, match="a norm is a positive number"):
        Clip(GD(RATE), 0.0)
