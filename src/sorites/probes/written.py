"""What a model's own soft chain is worth, and which of its levels a filter lets through."""

import jax
import jax.numpy as jnp
import numpy as np

from ..models import Positional
from ..supervision import AbstractFilter, Written
from .base import AbstractProbe


class OwnChain(AbstractProbe):
    """The thoughts that the model writes from the inputs alone, unfiltered: share of right answers, largest error of
    the answer, share of right thoughts on each level."""

    def __call__(self, model, task, secret, chains, taught):
        layout = task.layout
        scores = Written()(model, chains, jax.random.key(0), None).scores[:, 0, 0]
        truth = chains.tokens[layout.inputs :, 0]
        right = jnp.mean(scores * truth > 0, axis=1)
        levels = np.asarray(layout.levels)[None, :] == np.arange(1, layout.depth + 1)[:, None]
        return {
            "accuracy": right[-1],
            "error": jnp.max(jnp.abs(scores[-1] - truth[-1])),
            "thoughts": levels @ right / levels.sum(axis=1),
        }


class Released(AbstractProbe):
    """1 for each level that the filter lets through."""

    filter: AbstractFilter

    def __call__(self, model, task, secret, chains, taught):
        assert isinstance(model, Positional)
        return {"released": self.filter(model)}
