"""A GPT on chains: the fast form is the literal one, with pads, classes, slots and soft thoughts; so is cached
writing."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models import AbstractModel, ClassLogits, SignLogits
from sorites.models.gpt import gpt
from sorites.tasks import Composition, Lego, Parity, Sequences

TASKS = {
    "tree": Parity(6, 4),
    "flat": Parity(6, 3, "flat"),
    "released": Sequences(6, 3, 2, "released", 4),
    "composition": Composition("S3", 5, 4),
    "lego": Lego("C3", 2, 4),
}
COUNT = 7


def scattered(task, **fields):
    """Weights large enough that every part matters."""
    fields = {"layers": 2, "heads": 2, "width": 16, "hidden": 20} | fields
    model = gpt(task, **fields).init(jax.random.key(0))
    keys = iter(jax.random.split(jax.random.key(1), 99))
    return jax.tree.map(lambda leaf: leaf + 0.3 * jax.random.normal(next(keys), leaf.shape, leaf.dtype), model)


def chains_of(task):
    return task.sample(task.draw(jax.random.key(2)), jax.random.key(3), COUNT)


def numbers(said):
    return jax.tree.leaves(said)[0]


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("name", TASKS)
def test_the_fast_form_is_the_literal_one(name, layers):
    task = TASKS[name]
    model, chains, layout = scattered(task, layers=layers), chains_of(task), task.layout
    place = jnp.arange(layout.positions)
    views = [chains, chains.with_shown(place < layout.inputs), chains.with_shown(place != layout.inputs)]

    @eqx.filter_jit
    def both(model, chains):
        def total(model, read):
            said = read(model, chains)
            return jnp.sum(numbers(said) ** 2), said

        forms = [lambda model, chains: model.predict_batch(chains), AbstractModel.predict_batch]
        return [eqx.filter_value_and_grad(total, has_aux=True)(model, form) for form in forms]

    for view in views:
        ((_, fast), slope), ((_, literal), twin) = both(model, view)
        assert isinstance(fast, SignLogits if task.alphabet.signs else ClassLogits)
        np.testing.assert_allclose(numbers(fast), numbers(literal), atol=2e-5)
        for one, other in zip(jax.tree.leaves(slope), jax.tree.leaves(twin), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-3, atol=2e-2)


@pytest.mark.parametrize("name", TASKS)
def test_cached_writing_is_reading_again(name):
    task = TASKS[name]
    model, chains = scattered(task), chains_of(task)
    cached = model._cached(chains, jax.random.key(4), "greedy")
    if task.layout.slots == 1:
        again = AbstractModel.generate(model, chains, jax.random.key(4), "greedy")
    else:  # a token at a time, each read by the next
        again = chains.tokens
        for thought in range(task.layout.inputs, task.layout.positions):
            for slot in range(task.layout.slots):
                said = model.predict_batch(chains.with_tokens(again)).greedy()
                again = again.at[thought, slot].set(said[thought - task.layout.inputs, slot].astype(again.dtype))
    np.testing.assert_array_equal(cached, again)
    np.testing.assert_array_equal(model.generate(chains, jax.random.key(4), "greedy"), again)
    sampled = model._cached(chains, jax.random.key(5), "sampled")
    assert sampled.dtype == chains.tokens.dtype
    tokens, said = model.generate_and_predict(chains, jax.random.key(4), "greedy")
    np.testing.assert_array_equal(tokens, again)
    np.testing.assert_array_equal(said.greedy(), again[task.layout.inputs :])


def test_soft_thoughts_mix_embeddings():
    """At certainty a soft thought is the token; in between it is differentiated."""
    task = TASKS["tree"]
    model, chains = scattered(task), chains_of(task)
    as_floats = chains.with_tokens(chains.tokens.astype(jnp.float32))
    np.testing.assert_allclose(numbers(model.predict_batch(as_floats)), numbers(model.predict_batch(chains)), atol=2e-5)
    tokens, said = model.generate_and_predict(chains, jax.random.key(0), "soft")
    np.testing.assert_allclose(tokens[task.bits :], said.mean(), atol=1e-6)
    slope = eqx.filter_grad(lambda m: jnp.sum(m.generate_and_predict(chains, jax.random.key(0), "soft")[1].margin[-1]))(
        model
    )
    assert np.abs(slope.net.tokens).max() > 0
    with pytest.raises(SpecError, match="soft thoughts need signs"):
        scattered(TASKS["composition"]).generate_and_predict(chains_of(TASKS["composition"]), jax.random.key(0), "soft")


@pytest.mark.parametrize("name", TASKS)
def test_attention_in_chain_coordinates(name):
    task = TASKS[name]
    model, chains = scattered(task), chains_of(task)
    layers = model.attend(chains)
    assert len(layers) == 2
    layout = task.layout
    for layer in layers:
        assert layer.shape == (2, layout.thoughts, layout.positions, COUNT)
        rows = np.asarray(layer.sum(axis=2))
        assert (rows <= 1 + 1e-5).all()
        if not model.start:
            np.testing.assert_allclose(rows, 1, rtol=1e-5)
        for thought in range(
            layout.thoughts
        ):  # nobody looks ahead; a thought's own slots may be read by its later ones
            later = layer[:, thought, layout.inputs + thought + (layout.slots > 1) :]
            assert np.abs(later).max(initial=0) == 0


def test_the_pad_is_a_token_of_its_own():
    task = TASKS["tree"]
    model, chains = scattered(task), chains_of(task)
    hidden = chains.with_shown(jnp.arange(task.layout.positions) < task.bits)
    moved = eqx.tree_at(lambda m: m.pad, model, model.pad + 1)
    assert (
        np.asarray(moved.predict_batch(hidden).margin[1:]) != np.asarray(model.predict_batch(hidden).margin[1:])
    ).any()
    np.testing.assert_array_equal(moved.predict_batch(chains).margin, model.predict_batch(chains).margin)


def test_dropout_needs_a_key_and_bf16_stays():
    task = TASKS["tree"]
    model, chains = gpt(task, width=16, dropout=0.5, weights="bfloat16").init(jax.random.key(0)), chains_of(task)
    assert {leaf.dtype for leaf in jax.tree.leaves(model)} == {jnp.dtype("bfloat16")}
    still, dropped = model.predict_batch(chains), model.predict_batch(chains, key=jax.random.key(1))
    assert still.margin.dtype == jnp.float32
    assert (np.asarray(still.margin) != np.asarray(dropped.margin)).any()


def test_what_it_cannot_read_is_refused():
    model = gpt(TASKS["tree"], width=16)
    assert "room=11" in model.refuses(Parity(8, 4).layout, Parity(8, 4).alphabet)
    assert "make the model from the task" in model.refuses(TASKS["composition"].layout, TASKS["composition"].alphabet)
    assert model.refuses(Parity(5, 4).layout, Parity(5, 4).alphabet) is None
    with pytest.raises(SpecError, match="room=3; use 9 or more"):
        gpt(TASKS["tree"], room=3)
    with pytest.raises(SpecError, match="divisor"):
        gpt(TASKS["tree"], heads=5)
