"""Sources of gradients against averages taken by hand."""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sorites
from sorites.errors import SpecError
from sorites.models.gated import gated
from sorites.models.positional import positional
from sorites.store import describe, member_id
from sorites.supervision import (
    Blocks,
    Draw,
    Enumerated,
    Noisy,
    Pooled,
    Repeated,
    Sampled,
    sources,
    teacher_forcing,
)
from sorites.tasks import AbstractTask, Parity
from sorites.training import GD, Evaluation, Run, Stage

BATCH = 64
PACKAGE = Path(sorites.__file__).parent


@pytest.fixture(scope="module")
def model(task):
    rng = np.random.default_rng(0)
    weights = tuple(jnp.asarray(rng.normal(size=w.shape), jnp.float32) for w in gated(task).weights)
    return eqx.tree_at(lambda m: m.weights, gated(task), weights)


@pytest.fixture(scope="module")
def secret(task):
    return task.draw(jax.random.key(0))


@pytest.fixture(scope="module")
def loss_function(task, secret):
    term = teacher_forcing(task.layout)

    def loss(model, chains, key):
        return term(model, task, secret, chains, key)

    return loss


@pytest.fixture(scope="module")
def gradient(loss_function, task, model, secret):
    """The gradient of a source under a key, as one flat vector; one program per kind of source."""

    @eqx.filter_jit
    def compiled(source, pool, key):
        return source.gradient(loss_function, model, task, Draw(secret, pool, jnp.zeros((), jnp.uint32), key, None))[1]

    return lambda source, key, pool=None: flat(compiled(source, pool, key))


@pytest.fixture(scope="module")
def on_chains(loss_function, model):
    compiled = eqx.filter_jit(lambda chains: eqx.filter_grad(loss_function)(model, chains, jax.random.key(0)))
    return lambda chains: flat(compiled(chains))


def flat(tree):
    return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(tree)])


def test_a_fresh_batch(gradient, on_chains, task, secret):
    key = jax.random.key(5)
    chains = task.sample(secret, jax.random.split(key)[0], BATCH)
    np.testing.assert_allclose(gradient(Sampled(BATCH), key), on_chains(chains), atol=1e-7)
    assert (gradient(Sampled(BATCH), jax.random.key(6)) != gradient(Sampled(BATCH), key)).any()


def test_blocks_are_averaged(gradient, on_chains, task, secret):
    key = jax.random.key(5)
    each = [on_chains(task.sample(secret, jax.random.split(block)[0], 48)) for block in jax.random.split(key, 2)]
    np.testing.assert_allclose(gradient(Sampled(96, block=50), key), np.mean(each, axis=0), atol=1e-7)


def test_a_pool_is_descended_in_blocks_of_one_size():
    """If that takes few enough; one that fits is one block."""
    found = {batch: sources._blocks_of_a_pool(batch, 4_096) for batch in (16_384, 20_000, 50_000, 300_000, 16_411)}
    assert found == {16_384: 1, 20_000: 5, 50_000: 16, 300_000: 75, 16_411: 5}  # the last is a prime


def test_an_empty_block_is_refused():
    for make in (lambda: Sampled(8, block=0), lambda: Pooled(8, 8, block=0)):
        with pytest.raises(SpecError, match="block=0; use 1 or more"):
            make()


@pytest.mark.parametrize("source", [Sampled(96, block=50), Pooled(96, 96, block=20), Pooled(128, 90, block=20)])
def test_draws_do_not_depend_on_the_device(monkeypatch, gradient, task, secret, source):
    """The same chains, blocks and id where JAX reports another backend."""
    run = Run(gated(task), [Stage(task, (teacher_forcing(task.layout),), source, GD(0.5), 4, Evaluation(2, 16))])
    key, seen = jax.random.key(5), []
    for backend in ("cpu", "gpu"):
        monkeypatch.setattr(jax, "default_backend", lambda backend=backend: backend)
        pool = source.prepare(task, secret, jax.random.key(1), None)
        draw = Draw(secret, pool, jnp.zeros((), jnp.uint32), key, None)
        tokens = []

        def loss_function(model, chains, key, tokens=tokens):
            tokens.append(chains.tokens)
            return jnp.mean(model.predict_batch(chains).mean())

        with jax.disable_jit():
            source.gradient(loss_function, gated(task), task, draw)
        tokens = [np.asarray(jax.lax.stop_gradient(each)).tobytes() for each in tokens]
        seen.append((tokens, source.pieces, member_id(run, 0), describe(run)))
    assert seen[0] == seen[1]
    assert len(seen[0][0]) > 1


def test_nothing_that_is_taught_or_measured_asks_for_the_device():
    """A number depends on the run and the seed: block sizes are fields."""
    folders = ("supervision", "probes", "papers", "store", "report", "ledger", "statistics", "theory")
    asking = ("default_backend", "on_gpu")
    for folder in folders:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            assert not [word for word in asking if word in path.read_text()], path


def test_enumeration_is_the_average_over_all_inputs(gradient, on_chains, task, secret):
    everything = task.enumerate(secret)
    parts = [on_chains(jax.tree.map(lambda leaf: leaf[..., i::4], everything)) for i in range(4)]  # noqa: B023
    found = gradient(Enumerated(task.bits), jax.random.key(0))
    np.testing.assert_allclose(found, np.mean(parts, axis=0), atol=1e-7)
    assert Enumerated(task.bits).samples == 256


def test_a_full_pool_is_full_batch_descent(gradient, on_chains, task, secret):
    source = Pooled(BATCH, BATCH)
    pool = source.prepare(task, secret, jax.random.key(1), None)
    for seed in (0, 1):
        np.testing.assert_allclose(gradient(source, jax.random.key(seed), pool), on_chains(pool), atol=1e-7)


def test_a_batch_comes_out_of_its_pool(gradient, on_chains, task, secret):
    source = Pooled(pool=BATCH, batch=1)
    pool = source.prepare(task, secret, jax.random.key(1), None)
    one = gradient(source, jax.random.key(3), pool)
    single = [on_chains(jax.tree.map(lambda leaf: leaf[..., i : i + 1], pool)) for i in range(BATCH)]  # noqa: B023
    assert np.abs(np.array(single) - one).max(axis=1).min() < 1e-6
    assert source.samples == 1


def test_a_noisy_oracle_errs_by_at_most_its_error(gradient):
    key, error = jax.random.key(5), 0.25
    exact = gradient(Sampled(BATCH), jax.random.split(key)[0])
    noise = gradient(Noisy(Sampled(BATCH), error), key) - exact
    assert np.abs(noise).max() <= error * (1 + 1e-5)
    assert np.abs(noise).max() > error / 2
    assert noise.std() > 0
    worst = gradient(Noisy(Sampled(BATCH), error, adversarial=True), key)
    np.testing.assert_allclose(np.abs(worst - exact), error, atol=1e-6)
    assert Noisy(Sampled(BATCH), error).samples == BATCH


def test_an_adversary_parts_siblings_and_lifts_the_rest(gradient, task, secret):
    key, error = jax.random.key(5), 0.25
    exact = gradient(Sampled(BATCH), jax.random.split(key)[0])
    pushed = (gradient(Noisy(Sampled(BATCH), error, adversarial=True), key) - exact) / error
    children, thought, place = np.asarray(task.children(secret)), 0, 0
    for weights in gated(task).weights:
        for _ in range(weights.shape[0]):
            here, pair = slice(place, place + weights.shape[1]), children[thought]
            before, push = exact[here], pushed[here]
            np.testing.assert_allclose(push[pair].sum(), 0, atol=1e-5)
            gap = before[pair] + error * push[pair]
            np.testing.assert_allclose(abs(np.diff(gap)), abs(np.diff(before[pair])) + 2 * error, rtol=1e-5)
            np.testing.assert_allclose(np.delete(push, pair), -1, atol=1e-5)
            thought, place = thought + 1, here.stop


@pytest.mark.parametrize("radius", [0.02, 0.05, 0.1, 0.3, 1.0])
def test_an_adversary_harms_at_least_as_much_as_noise(radius):
    task = Parity(12, 4)
    term, source = teacher_forcing(task.layout), Pooled(20_000, 20_000)
    start = positional(task, "cosine", "causal")

    @eqx.filter_jit
    def harm(noisy, seed):
        """Largest error of the answer after the one step of kim-suzuki's Theorem 5."""
        draw, train, test, step = jax.random.split(jax.random.key(seed), 4)
        secret = task.draw(draw)
        pool, held = source.prepare(task, secret, train, None), task.sample(secret, test, 500)
        _, slope = noisy.gradient(
            lambda model, chains, key: term(model, task, secret, chains, key), start, task,
            Draw(secret, pool, jnp.zeros((), jnp.uint32), step, None),
        )  # fmt: skip
        stepped = eqx.tree_at(lambda m: m.weights, start, -20 * 12**2 / np.pi**2 * slope.weights)
        answer = stepped.generate_soft(held.tokens[:12, 0].astype(jnp.float32))[-1]
        return jnp.abs(answer - held.tokens[-1, 0]).max()

    both = [
        np.mean([float(harm(Noisy(source, radius / 12**2, adversarial), seed)) for seed in range(4)])
        for adversarial in (False, True)
    ]
    assert both[1] >= both[0] - 1e-6, both


def test_the_noisy_pool_is_its_sources_pool(task, secret):
    pool = Noisy(Pooled(8, 4), 0.1).prepare(task, secret, jax.random.key(1), None)
    assert pool.tokens.shape == (task.layout.positions, 1, 8)
    assert Sampled(8).prepare(task, secret, jax.random.key(1), None) is None


def test_refusals():
    task = Parity(4, 2)
    with pytest.raises(SpecError, match=r"which weights a thought's two children have"):
        sources._against([jnp.zeros(3)], task.children(task.draw(jax.random.key(0))))
    with pytest.raises(SpecError, match=r"a batch holds at least one chain: batch=0; use 1 or more"):
        Sampled(0)
    with pytest.raises(SpecError, match=r"a batch comes out of the pool: batch=9, pool=8; use 1 <= batch"):
        Pooled(8, 9)
    with pytest.raises(SpecError, match=r"only some tasks can list their inputs: task=Boolean; sample instead"):
        AbstractTask.enumerate(Parity(4, 2), None)


@pytest.mark.parametrize("source", [Sampled(64), Sampled(64, block=32), Blocks(32, 2), Repeated(64, 1)])
def test_a_batch_and_what_is_drawn_on_it_have_keys_of_their_own(source, task, secret):
    """The objective draws chains from the key that it gets: they are others than those of its batch."""

    def equal(model, chains, key):
        again = task.sample(secret, key, chains.tokens.shape[-1]).tokens
        return (again == chains.tokens)[: task.bits].mean() + 0 * model.weights.sum()

    draw = Draw(secret, None, jnp.zeros((), jnp.uint32), jax.random.key(1), None)
    share, _ = source.gradient(equal, positional(task), task, draw)
    assert float(share) == pytest.approx(0.5, abs=0.1)  # 512 bits: four standard errors are 0.09
