"""The oracle answers with the class mean while it may, and its shortcut through the mean label is exact."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sorites.errors import SpecError
from sorites.models.perceptron import perceptron
from sorites.models.positional import positional
from sorites.probes import Loss
from sorites.supervision import OwnPrefix, Squared, Supervision, TrueLabels, direct, teacher_forcing
from sorites.supervision.class_oracle import ClassOracle, class_chains, mean_chains
from sorites.tasks import Boolean, Parity
from sorites.theory.parity_class import subsets
from sorites.training import GD, Evaluation, Run, Stage, train

TASK = Parity(6, 4)
SECRET = jnp.array([0, 2, 3, 5])
KEY = jax.random.key(0)


def latent(layout):
    return Supervision(OwnPrefix("soft"), TrueLabels(), direct(layout).where, Squared())


def loss_function(taught, secret=SECRET):
    return lambda model, chains, key: taught(model, TASK, secret, chains, key)


def drawn_positional():
    model = positional(TASK)
    return eqx.tree_at(lambda m: m.weights, model, jax.random.normal(KEY, model.weights.shape))


LEARNERS = [
    (perceptron(TASK, 8).init(KEY), direct(TASK.layout)),
    (drawn_positional(), latent(TASK.layout)),
    (drawn_positional(), direct(TASK.layout)),
]


def literal_mean(model, taught, inputs):
    """The gradient of every target's own loss, one target at a time, then their mean."""

    @eqx.filter_jit
    def gradient(model, secret):
        return eqx.filter_grad(loss_function(taught, secret))(model, TASK.think(secret, inputs), KEY)

    gradients = [gradient(model, jnp.asarray(secret)) for secret in subsets(TASK.bits, TASK.sparsity)]
    return jax.tree.map(lambda *leaves: jnp.mean(jnp.stack(leaves), axis=0), *gradients)


@eqx.filter_jit
def at(model, taught, chains):
    return eqx.filter_grad(loss_function(taught))(model, chains, KEY)


def assert_close(first, second, atol=2e-6):
    for left, right in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        np.testing.assert_allclose(left, right, atol=atol)


@pytest.mark.parametrize(("model", "taught"), LEARNERS)
def test_the_class_mean_is_the_gradient_at_the_mean_label(model, taught):
    inputs = TASK.inputs(jax.random.key(1), 40)
    mean = literal_mean(model, taught, inputs)
    for chains in (mean_chains(TASK, inputs), class_chains(TASK, inputs)):
        assert_close(at(model, taught, chains), mean)


def test_with_a_chain_the_class_is_read_target_by_target():
    inputs, taught, model = TASK.inputs(jax.random.key(1), 40), teacher_forcing(TASK.layout), drawn_positional()
    found = at(model, taught, class_chains(TASK, inputs))
    assert_close(found, literal_mean(model, taught, inputs))


@pytest.mark.parametrize("answer_only", [True, False])
def test_it_tells_exactly_beyond_its_error(answer_only):
    model, taught = LEARNERS[0]
    free = ClassOracle(np.inf, 50, answer_only)
    known = free.prepare(TASK, SECRET, jax.random.key(2))
    assert known.target.tokens.shape[-1] == 50
    hidden = free.answer(loss_function(taught), model, known, KEY)
    assert not hidden.revealed
    deviation = float(hidden.deviation)
    told = ClassOracle(0.99 * deviation, 50, answer_only).answer(loss_function(taught), model, known, KEY)
    assert told.revealed
    assert_close(told.gradient, eqx.filter_grad(loss_function(taught))(model, known.target, KEY), atol=0)
    assert_close(hidden.gradient, eqx.filter_grad(loss_function(taught))(model, known.whole_class, KEY), atol=0)
    apart = jax.tree.map(lambda a, b: jnp.sum((a - b) ** 2), told.gradient, hidden.gradient)
    assert float(jnp.sqrt(sum(jax.tree.leaves(apart)))) == pytest.approx(deviation, rel=1e-5)


def test_the_printed_cases_hide_what_they_should_tell():
    model, taught = LEARNERS[0]
    known = ClassOracle(0.0, 50, True).prepare(TASK, SECRET, jax.random.key(2))
    deviation = ClassOracle(0.0, 50, True).answer(loss_function(taught), model, known, KEY).deviation
    small = ClassOracle(0.5 * float(deviation), 50, True, printed=True)
    assert not small.answer(loss_function(taught), model, known, KEY).revealed  # wrong by twice its error
    large = ClassOracle(2 * float(deviation), 50, True, printed=True)
    assert large.answer(loss_function(taught), model, known, KEY).revealed  # and tells all where it may hide


def test_what_the_class_knows_does_not_depend_on_the_target():
    inputs = TASK.inputs(jax.random.key(1), 20)
    for answer_only in (True, False):
        oracle = ClassOracle(0.1, 20, answer_only)
        first, second = oracle.on(TASK, SECRET, inputs), oracle.on(TASK, jnp.array([0, 1, 2, 3]), inputs)
        np.testing.assert_array_equal(first.whole_class.tokens, second.whole_class.tokens)
        assert (np.asarray(first.target.tokens) != np.asarray(second.target.tokens)).any()


def test_every_input_is_a_pool():
    known = ClassOracle(0.1).prepare(TASK, SECRET, KEY)
    assert known.target.tokens.shape[-1] == 2**TASK.bits


def test_it_is_a_source_of_the_engine():
    stage = Stage(TASK, (direct(TASK.layout),), ClassOracle(np.inf, 32, True), GD(0.1), 4, Evaluation(2, 16, (Loss(),)))
    trained = train(Run(perceptron(TASK, 4), [stage]), [0, 1])
    assert not trained.history.diverged.any()
    assert trained.history.samples.tolist() == [128, 128]


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: ClassOracle(0.1, 0), "pool=0"),
        (lambda: ClassOracle(0.1).prepare(Boolean(6, 4, "and"), SECRET, KEY), "k-parities"),
        (lambda: class_chains(Parity(16, 8), jnp.ones((16, 1000), jnp.int8)), "fewer samples"),
        (lambda: perceptron(TASK, 0), "width=0"),
    ],
)
def test_what_cannot_run_is_refused(act, words):
    with pytest.raises(SpecError, match=words):
        act()


def test_the_perceptron_reads_inputs_alone():
    model, chains = perceptron(TASK, 8).init(KEY), TASK.sample(SECRET, KEY, 5)
    hidden = chains.with_shown(jnp.arange(TASK.layout.positions) < TASK.bits)
    np.testing.assert_array_equal(model.predict_batch(chains).mean(), model.predict_batch(hidden).mean())
    with pytest.raises(SpecError, match="shows no attention"):
        model.attend(chains)
