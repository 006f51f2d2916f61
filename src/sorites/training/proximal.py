"""Policy updates that reuse a batch: the ratio to the policy that wrote it, clipped or not."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from ..errors import require
from ..models import AbstractModel
from ..supervision import FromPrefix, Own, PolicyGradient, Shown
from ..tasks import AbstractTask, Chain
from .rules import AbstractRule


class Proximal(eqx.Module):
    """Batches of own chains, `epochs` updates on each: the surrogate min(ratio A, clip(ratio, 1 - clip, 1 + clip) A)
    per token (clip 0: unclipped importance weighting). The advantage, with its baseline and groups, is that of
    `signal`."""

    signal: PolicyGradient
    rule: AbstractRule
    batch: int = eqx.field(static=True)
    epochs: int = eqx.field(static=True)
    clip: Float[Array, ""] = eqx.field(converter=jnp.asarray)

    def __check_init__(self):
        require(self.epochs >= 1, f"a batch is used at least once: epochs={self.epochs}; use 1 or more")
        group = self.signal.group
        require(
            self.batch >= 1 and self.batch % group == 0,
            f"a batch is whole groups: batch={self.batch}, group={group}; use a multiple of {group}",
        )

    def collect(
        self, model: AbstractModel, task: AbstractTask, secret, key: Key[Array, ""]
    ) -> tuple[Chain, Array, Array]:
        """Own chains, their likelihoods under the policy that wrote them, and their advantages."""
        draw, choose = jax.random.split(key)
        truth = task.sample(secret, draw, self.batch // self.signal.group)
        truth = jax.tree.map(lambda leaf: jnp.repeat(leaf, self.signal.group, axis=-1), truth)
        reading = Own("sampled")(model, truth, choose, None)
        thoughts = reading.tokens[task.layout.inputs :]
        labels = FromPrefix()(task, secret, truth, reading.tokens)
        where = jnp.full((task.layout.thoughts, task.layout.slots), 1 / task.layout.thoughts)
        likelihood = (1 + thoughts * reading.scores[:, :, 0]) / 2
        return Chain(reading.tokens, truth.shown), likelihood, self.signal.advantage(labels, where, thoughts)

    def surrogate(
        self, model: AbstractModel, task: AbstractTask, chains: Chain, old: Array, advantage: Array
    ) -> Float[Array, ""]:
        thoughts = chains.tokens[task.layout.inputs :]
        scores = Shown(jnp.ones(task.layout.positions, bool))(model, chains, jax.random.key(0), None).scores
        ratio = (1 + thoughts * scores[:, :, 0]) / 2 / old
        held = jnp.where(self.clip > 0, jnp.clip(ratio, 1 - self.clip, 1 + self.clip), ratio)
        return -jnp.sum(jnp.minimum(ratio * advantage, held * advantage)) / self.batch

    def step(self, model: AbstractModel, task: AbstractTask, secret, state, key: Key[Array, ""]):
        """One batch and its epochs: the model, the rule's state, the mean reward of the batch."""
        chains, old, advantage = jax.lax.stop_gradient(self.collect(model, task, secret, key))
        transformation, static = self.rule.transformation(), eqx.filter(model, eqx.is_array, inverse=True)

        def epoch(carry, _):
            arrays, state = carry
            gradient = eqx.filter_grad(self.surrogate)(eqx.combine(arrays, static), task, chains, old, advantage)
            updates, state = transformation.update(gradient, state, arrays)
            return (eqx.apply_updates(arrays, updates), state), None

        (arrays, state), _ = jax.lax.scan(epoch, (eqx.filter(model, eqx.is_array), state), None, length=self.epochs)
        tokens = chains.tokens
        reward = jnp.mean(tokens[task.layout.inputs :] * task.relabel(secret, tokens))
        return eqx.combine(arrays, static), state, reward
