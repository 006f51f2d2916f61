"""Plain fields of a task or a model are compiled in, with and without `eqx.field`."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import sorites as so


class Counter(so.AbstractTask):
    """The running sum of `items` digits, modulo `base`."""

    items: int
    base: "int" = 3
    names: tuple[str, ...] = ("a", "b")
    label: str | None = None
    explicit: int = eqx.field(static=True, default=1)
    scale: float = 1.0

    @property
    def layout(self):
        return so.Layout(self.items, tuple(range(1, self.items)))

    @property
    def alphabet(self):
        return so.Alphabet(self.base, False)

    def draw(self, key):
        return ()

    def children(self, secret, tokens=None):
        thought = jnp.arange(self.items - 1)
        return jnp.stack([jnp.where(thought > 0, self.items + thought - 1, 0), thought + 1], axis=1)

    def relabel(self, secret, tokens):
        first = self.children(secret)
        return (tokens[first[:, 0]] + tokens[first[:, 1]]) % self.base

    def sample(self, secret, key, count):
        digits = jax.random.randint(key, (self.items, count), 0, self.base)
        return so.Chain(jnp.concatenate([digits, jnp.cumsum(digits, axis=0)[1:] % self.base])[:, None], self.layout)


class Table(so.AbstractModel):
    width: int
    weights: jax.Array

    def init(self, key):
        return Table(self.width, jax.random.normal(key, self.weights.shape))

    def predict(self, chain, depth=None, key=None):
        return so.ClassLogits(jnp.broadcast_to(self.weights, (chain.layout.thoughts, 1, self.width)))


def test_plain_fields_are_static():
    static = {field.name: bool(field.metadata.get("static")) for field in dataclasses.fields(Counter)}
    assert static == {"items": True, "base": True, "names": True, "label": True, "explicit": True, "scale": False}
    assert jax.tree.leaves(Counter(4)) == [1.0]
    assert Counter(4).base == 3
    assert Counter(4, base=5).alphabet.vocab == 5


def test_a_task_and_a_model_with_plain_sizes_train():
    task, model = Counter(4), Table(3, jnp.zeros(3))
    evaluation = so.Evaluation(2, 32, (so.Loss(), so.Outcome("forced")))
    plan = so.stages(
        task, [so.teacher_forcing(task.layout, so.CrossEntropy())], so.Sampled(16), so.Adam(0.1), 4, evaluation
    )
    history = so.train(so.Run(model, plan), range(3)).history
    assert np.isfinite(history.last("own.loss")).all()
