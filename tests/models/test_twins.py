"""Every model against its literal twin, and the exact relations between models."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models import MODELS, AbstractModel, block
from sorites.models.gated import gated
from sorites.models.open_gates import open_gates
from sorites.models.positional import positional
from sorites.models.reader import reader
from sorites.tasks import Boolean, Chain, Parity

TASK = Parity(8, 4)
SERIAL = Parity(6, 4, "serial")
SAMPLES = 6


def random_like(model, seed=0):
    """The model with independent normal weights."""
    arrays, rest = eqx.partition(model, eqx.is_inexact_array)
    rng = np.random.default_rng(seed)
    return eqx.combine(jax.tree.map(lambda a: jnp.asarray(rng.normal(size=a.shape)), arrays), rest)


def chains_of(task: Boolean, removed: int, count: int = SAMPLES) -> Chain:
    """True chains with the first thoughts padded, built in numpy so that no program is compiled."""
    rng = np.random.default_rng(1)
    inputs = rng.choice([-1, 1], (task.bits, count))
    leaves, thoughts = inputs[: task.sparsity], []
    if task.decomposition == "serial":
        thoughts = list(np.cumprod(leaves, axis=0)[1:])
    while len(leaves) > 1 and task.decomposition == "tree":
        leaves = leaves[0::2] * leaves[1::2]
        thoughts += list(leaves)
    tokens = np.concatenate([inputs, thoughts])
    shown = np.arange(len(tokens)) >= task.bits + removed
    shown[: task.bits] = True
    return Chain(
        jnp.asarray(tokens[:, None], jnp.int8), task.layout, jnp.asarray(np.repeat(shown[:, None], count, axis=1))
    )


def literal(live, chains, layout, link, depth):
    """The printed transformer's stage readout, thoughts by batch."""
    data = jnp.where(chains.shown, chains.tokens[:, 0], 0).T.astype(float)
    stream = block.forward(block.full_weights(live, layout), data, layout, link)[-1]
    return block.decode(stream, depth, layout, data.shape[0]).T[layout.inputs :]


@pytest.mark.parametrize("task", [TASK, SERIAL], ids=["tree", "serial"])
@pytest.mark.parametrize("link", ["cosine", "quartic"])
def test_gated_is_the_printed_transformer(task, link):
    """LI-2: values and gradients, every depth, every stage of padding."""
    layout = task.layout
    with jax.enable_x64(True):
        model = random_like(gated(task, link))

        def both(live, chains, depth):
            twin = literal(live, chains, layout, model.link, depth)
            mine = eqx.tree_at(lambda m: m.weights, model, live).predict_batch(chains, depth).mean()[:, 0]
            return mine, twin

        @eqx.filter_jit
        def compare(live, chains, depth):
            probe = jnp.asarray(np.random.default_rng(2).normal(size=(layout.thoughts, SAMPLES)))
            grads = [jax.grad(lambda w: jnp.sum(probe * both(w, chains, depth)[i]))(live) for i in (0, 1)]  # noqa: B023
            return both(live, chains, depth), grads

        for depth in range(1, layout.depth + 1):
            for removed in range(layout.thoughts):
                (mine, twin), grads = compare(model.weights, chains_of(task, removed), depth)
                np.testing.assert_allclose(mine, twin, atol=1e-12)
                for one, other in zip(*grads, strict=True):
                    np.testing.assert_allclose(one, other, atol=1e-12)


SIGNS = {name: make for name, make in MODELS.items() if name != "decoder"}
BY_POSITION = ("gated", "reader", "open-gates", "positional")
MAKERS = {**SIGNS, "positional-causal": lambda task: positional(task, mask="causal")}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("depth", [None, 1])
def test_read_batch_is_read_for_every_chain(name, depth):
    with jax.enable_x64(True):
        model, chains = random_like(MAKERS[name](TASK)), chains_of(TASK, 1)

        @eqx.filter_jit
        def both(model, chains):
            return model.predict_batch(chains, depth).mean(), AbstractModel.predict_batch(model, chains, depth).mean()

        batch, alone = both(model, chains)
        assert batch.shape == (TASK.layout.thoughts, 1, SAMPLES)
        np.testing.assert_allclose(batch, alone, atol=1e-12)


@pytest.mark.parametrize("name", BY_POSITION)
def test_attention_rows_are_distributions(name):
    model = MODELS[name](TASK)
    for layer in model.attention():
        np.testing.assert_allclose(layer.sum(axis=1), 1, rtol=1e-6)
    assert model.init(jax.random.key(0)) is model


@eqx.filter_jit
def output_and_gradient(model, chains):
    def total(model):
        scores = model.predict_batch(chains).mean()
        return jnp.sum(scores**2), scores

    (_, scores), gradient = eqx.filter_value_and_grad(total, has_aux=True)(model)
    return scores, jax.tree.leaves(gradient)


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True))


def test_shown_thoughts_are_never_read_by_the_gated_model():
    """LI-20, bit for bit; the reader, on the same weights, does read them."""
    shown, padded = chains_of(TASK, 0), chains_of(TASK, TASK.layout.thoughts)
    flipped = Chain(shown.tokens.at[TASK.bits :].multiply(-1), shown.layout, shown.shown)
    for make, blind in ((gated, True), (reader, False)):
        model = random_like(make(TASK))
        outcomes = [output_and_gradient(model, chains) for chains in (shown, padded, flipped)]
        assert same(outcomes[0], outcomes[1]) is blind
        assert same(outcomes[0], outcomes[2]) is blind


def test_reader_with_everything_padded_is_gated():
    with jax.enable_x64(True):
        model = random_like(gated(TASK))
        mine = eqx.tree_at(lambda m: m.weights, reader(TASK), model.weights)
        padded = chains_of(TASK, TASK.layout.thoughts)
        for one, other in zip(
            jax.tree.leaves(output_and_gradient(mine, padded)),
            jax.tree.leaves(output_and_gradient(model, padded)),
            strict=True,
        ):
            np.testing.assert_allclose(one, other, atol=1e-14)


def test_open_gates_shut_as_prescribed_are_gated():
    layout = TASK.layout
    with jax.enable_x64(True):
        model = random_like(gated(TASK))
        full = block.full_weights(model.weights, layout).transpose(0, 2, 1)[:, layout.inputs :]
        levels = np.asarray(layout.levels)
        gates = np.where(levels[None] == np.arange(1, layout.depth + 1)[:, None], 1e3, -1e3)
        free = eqx.tree_at(lambda m: (m.weights, m.gates), open_gates(TASK), (full, jnp.asarray(gates)))
        for chains in (chains_of(TASK, 0), chains_of(TASK, 2)):
            for depth in (1, 2):
                mine, other = (each.predict_batch(chains, depth).mean() for each in (free, model))
                np.testing.assert_allclose(mine, other, atol=1e-14)
        for one, other in zip(free.attention(), model.attention(), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-14)


def test_positional_rolled_out_is_a_fixed_point():
    """After depth rounds on its own soft thoughts another reading changes nothing (kim-suzuki Sec. 3)."""
    layout = TASK.layout
    with jax.enable_x64(True):
        model, chains = random_like(positional(TASK, mask="lower-levels")), chains_of(TASK, 0)
        feed = jnp.where(jnp.arange(layout.positions)[:, None] < TASK.bits, chains.tokens[:, 0], 0.0)
        rounds = []
        for _ in range(layout.depth + 1):
            thoughts = model.predict_batch(Chain(feed[:, None], layout)).mean()[:, 0]
            feed = jnp.concatenate([feed[: TASK.bits], thoughts])
            rounds.append(np.asarray(thoughts))
        assert np.abs(rounds[0] - rounds[1]).max() > 0.1
        np.testing.assert_array_equal(rounds[-1], rounds[-2])


def test_zero_weights_are_uniform_attention():
    for layer, (_, end) in zip(gated(TASK).attention(), [(2, 8), (1, 10)], strict=True):
        np.testing.assert_allclose(layer, 1 / end, rtol=1e-6)


def test_an_unknown_mask_is_refused():
    with pytest.raises(SpecError, match=r"a mask is one of causal.*mask='full'; use one of these or a function"):
        positional(TASK, mask="full")
