"""What a task and a model promise is tested before a training, and every broken promise is one sentence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sorites as so
from sorites.tasks import Boolean, gates
from sorites.training.contracts import check_contracts, unchecked

TASK = so.Parity(8, 4)
SERIAL = so.Parity(8, 4, "serial")


class Linear(so.AbstractModel):
    """Predicts each thought from the shown tokens before it, and from `ahead` more."""

    weights: jax.Array
    ahead: int = 0
    sees_hidden: bool = False

    def predict(self, chain, depth=None, key=None):
        layout = chain.layout
        signs = chain.tokens[:, 0].astype(float)
        if chain.shown is not None and not self.sees_hidden:
            signs = jnp.where(chain.shown, signs, 0.0)
        before = layout.inputs + np.arange(layout.thoughts)[:, None] + self.ahead
        seen = np.arange(layout.positions)[None] < before
        return so.SignMeans(jnp.tanh(jnp.where(seen, self.weights, 0) @ signs)[:, None])


def linear(task=SERIAL, kind=Linear, **fields):
    return kind(jnp.zeros((task.layout.thoughts, task.layout.positions)), **fields)


def own(kind, task=SERIAL):
    return kind(task.bits, task.sparsity, task.gate, task.decomposition)


class Contradicts(Boolean):
    def relabel(self, secret, tokens):
        return -super().relabel(secret, tokens)


class Later(Boolean):
    def children(self, secret, tokens=None):
        return jnp.full((self.layout.thoughts, 2), self.layout.positions - 1)

    def relabel(self, secret, tokens):
        return tokens[self.bits :]


class Zeros(Boolean):
    def sample(self, secret, key, count):
        chains = super().sample(secret, key, count)
        return so.Chain(chains.tokens * 0, chains.layout)


def run(model, task):
    evaluation = so.Evaluation(2, 16, (so.Loss(), so.Outcome("forced")))
    return so.Run(model, so.stages(task, [so.teacher_forcing(task.layout)], so.Sampled(8), so.GD(0.1), 2, evaluation))


@pytest.mark.parametrize(
    ("model", "task", "sentence"),
    [
        (
            lambda: linear(ahead=1),
            lambda: SERIAL,
            "Linear predicts thought 0, at position 8, from the token at position 8",
        ),
        (lambda: linear(ahead=2), lambda: SERIAL, "generated in the same round or later"),
        (lambda: linear(sees_hidden=True), lambda: SERIAL, "which is hidden"),
        (lambda: linear(TASK), lambda: TASK, "predicts thought 1, at position 9, from the token at position 8"),
        (lambda: so.gated(SERIAL), lambda: own(Contradicts), r"Contradicts.relabel gives .* for thought 0"),
        (lambda: so.gated(SERIAL), lambda: own(Later), "Later.children gives position 10 for thought 0, at position 8"),
        (lambda: so.gated(SERIAL), lambda: own(Zeros), r"got the token \[0\] in Zeros.sample"),
    ],
    ids=("own token", "later token", "hidden token", "same level", "relabel", "children", "tokens"),
)
def test_a_broken_promise_is_refused_before_training(model, task, sentence):
    with pytest.raises(so.SpecError, match=sentence):
        so.train(run(model(), task()), [0])


def test_a_mask_that_sees_the_future_is_refused():
    with pytest.raises(so.SpecError, match="from the token at position"):
        so.train(run(so.positional(SERIAL, mask=_everything), SERIAL), [0])


def _everything(layout):
    return np.ones((layout.positions, layout.positions), bool)


def test_an_honest_model_trains():
    assert so.train(run(linear(), SERIAL), [0]).history.last("own.loss").shape == (1,)


class Excused(Linear):
    unchecked = {"causal": "copies its own token"}  # noqa: RUF012


class Careless(Linear):
    unchecked = {"causal": ""}  # noqa: RUF012


def test_a_check_is_switched_off_with_a_reason_that_is_stored(tmp_path):
    store, excused = so.Store(tmp_path), linear(kind=Excused, ahead=1)
    store.train(run(excused, SERIAL), [0])
    assert store.folders()[0].meta["unchecked"] == {"causal": "copies its own token"}
    assert unchecked(excused, SERIAL) == {"causal": "copies its own token"}
    with pytest.raises(so.SpecError, match="allowed are causal, each with a reason"):
        so.train(run(linear(kind=Careless), SERIAL), [0])


SEQUENCES = so.Sequences(12, 3, 3, validation=256)
LEGO = so.Lego(so.action_named("C3"), 4, 6)
OURS = {
    **{f"{name} {task.decomposition}": (getattr(so, name)(task), task) for task in (TASK, SERIAL)
       for name in ("gated", "gpt", "perceptron", "positional", "reader")},
    "flat": (so.perceptron(so.Parity(8, 4, "flat")), so.Parity(8, 4, "flat")),
    "and": (so.positional(so.Boolean(8, 4, "and")), so.Boolean(8, 4, "and")),
    "sequences": (so.gpt(SEQUENCES), SEQUENCES),
    "sparse": (so.sparse(SEQUENCES), SEQUENCES),
    "released": (so.gpt(so.Sequences(12, 3, 3, "released", 256)), so.Sequences(12, 3, 3, "released", 256)),
    "no chain": (so.gpt(so.Sequences(12, 0, 3, validation=256)), so.Sequences(12, 0, 3, validation=256)),
    "lego": (so.decoder(LEGO), LEGO),
    "lego gpt": (so.gpt(LEGO), LEGO),
    "composition": (so.gpt(so.Composition("C3", 6, 4)), so.Composition("C3", 6, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", OURS)
def test_our_own_tasks_and_models_keep_their_promises(name):
    check_contracts(*OURS[name], all_classes=True)


def test_every_gate_keeps_its_promise():
    for name in gates.GATES:
        task = so.Boolean(8, 4, name)
        check_contracts(so.perceptron(task), task, all_classes=True)
