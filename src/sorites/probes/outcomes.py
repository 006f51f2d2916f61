"""How well a model does: the stage's own loss, the answer from the inputs alone, every level's thoughts."""

import functools
import operator

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..supervision import Own, Shown, inputs_only
from .base import AbstractProbe


class Loss(AbstractProbe):
    """The objective of the stage on held-out chains."""

    def __call__(self, model, task, secret, chains, taught):
        key = jax.random.key(0)  # held-out chains are fixed; own sampled thoughts are too
        terms = [term(model, task, secret, chains, key) for term in taught]
        return {"loss": functools.reduce(operator.add, terms)}


class Answer(AbstractProbe):
    """The last thought, every thought padded and all layers read: one forward pass, as Log-ICoT is tested.

    `rolls` generates the thoughts instead, greedily, level by level, and names its columns `rolled_...`.
    """

    rolls: bool = eqx.field(static=True, default=False)

    def __call__(self, model, task, secret, chains, taught):
        prefix = Own("greedy") if self.rolls else Shown(inputs_only(task.layout))
        name = "rolled_" if self.rolls else ""
        score = prefix(model, chains, jax.random.key(0), None).scores[-1, 0]
        truth = chains.tokens[-1, 0]
        if score.shape[0] > 1:
            return {f"{name}accuracy": jnp.mean(jnp.argmax(score, axis=0) == truth)}
        right = score[0] * truth > 0
        return {f"{name}accuracy": jnp.mean(right), f"{name}error": jnp.max(jnp.abs(score[0] - truth))}


class Levels(AbstractProbe):
    """Share of right thoughts on each level, every thought padded and all layers read; `rolls` generates the thoughts
    instead, greedily."""

    rolls: bool = eqx.field(static=True, default=False)

    def __call__(self, model, task, secret, chains, taught):
        layout = task.layout
        prefix = Own("greedy") if self.rolls else Shown(inputs_only(layout))
        reading = prefix(model, chains, jax.random.key(0), None)
        truth, scores = chains.tokens[layout.inputs :], reading.scores
        right = jnp.argmax(scores, axis=2) == truth if scores.shape[2] > 1 else scores[:, :, 0] * truth > 0
        share = jnp.mean(right, axis=(1, 2))
        levels = np.asarray(layout.levels)[None, :] == np.arange(1, layout.depth + 1)[:, None]
        return {"thoughts": levels @ share / levels.sum(axis=1)}
