"""Child mass against brute force, for the tasks of the library and for one whose children depend on the example."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sorites as so
from sorites.models import AbstractModel, SignMeans

TASKS = {
    "tree": so.Parity(8, 4),
    "serial": so.Parity(8, 4, "serial"),
    "flat": so.Parity(8, 4, "flat"),
    "conjunction": so.Boolean(8, 4, "and"),
    "sequences": so.Sequences(12, 3, 3, validation=256),
    "sequences with spare room": so.Sequences(12, 5, 3, validation=256),
    "sequences without a chain": so.Sequences(12, 0, 3, validation=256),
    "released sequences": so.Sequences(12, 3, 3, "released", 256),
    "composition": so.Composition("C3", 6, 4),
    "lego": so.Lego(so.action_named("C3"), 4, 6),
}
COUNT = 5


class Looks(AbstractModel):
    """Attention drawn at random: two layers of two heads, different for every chain."""

    key: jax.Array

    def predict(self, chain, depth=None, key=None):
        return SignMeans(jnp.zeros((chain.layout.thoughts, chain.layout.slots)))

    def attend(self, chains):
        layout, count = chains.layout, chains.tokens.shape[-1]
        shape = (2, 2, layout.thoughts, layout.positions, count)
        return tuple(jax.nn.softmax(jax.random.normal(self.key, shape), axis=-2))


class Pointed(so.Lego):
    """Children that depend on the example: the first action names one of them; the last thought has one child."""

    def children(self, secret, tokens=None):
        first = (tokens[0, 1] - self.vocabulary.first_action) % 2
        thought = jnp.arange(self.length)[:, None]
        before = jnp.where(thought == self.length - 1, -1, thought + self.length)
        shape = (self.length, len(first))
        return jnp.stack([jnp.broadcast_to(first, shape), jnp.broadcast_to(before, shape)], axis=1)


def by_hand(maps, children, levels, counted):
    """Per level, the least of: the mean attention on distinct children, in the best head."""
    masses = []
    for thought in range(children.shape[0]):
        heads = []
        for layer in maps:
            for head in np.asarray(layer, np.float64):
                seen = [
                    sum(head[thought, child, row] for child in {*children[thought, :, row].tolist()} - {-1})
                    for row in range(head.shape[-1])
                ]
                heads.append(np.mean(seen))
        there = counted[thought] and (children[thought] >= 0).any()
        masses.append(max(heads) if there else np.inf)
    return [
        min(mass for mass, each in zip(masses, levels, strict=True) if each == level) for level in sorted({*levels})
    ]


@pytest.mark.parametrize("name", [*TASKS, "pointed"])
def test_child_mass_is_the_attention_on_distinct_children(name):
    task = Pointed(so.action_named("C3"), 4, 6) if name == "pointed" else TASKS[name]
    secret = task.draw(jax.random.key(1))
    chains, model = task.sample(secret, jax.random.key(2), COUNT), Looks(jax.random.key(3))
    found = np.asarray(so.ChildMass()(model, task, secret, chains, ())["child_mass"])
    children = np.asarray(task.children(secret, chains.tokens))
    children = children if children.ndim == 3 else np.repeat(children[..., None], COUNT, axis=-1)
    counted = np.asarray(task.counted(secret, chains.tokens))
    np.testing.assert_allclose(found, by_hand(model.attend(chains), children, task.layout.levels, counted), rtol=1e-5)
    assert (found[np.isfinite(found)] <= 1 + 1e-6).all()


@pytest.mark.parametrize("name", TASKS)
def test_children_are_earlier_and_distinct(name):
    task = TASKS[name]
    children = np.asarray(task.children(task.draw(jax.random.key(1))))
    assert children.min() >= -1
    for thought, row in enumerate(children):
        there = row[row >= 0]
        assert len({*there.tolist()}) == len(there)
        assert (there < task.layout.inputs + thought).all()
