"""What every model offers: it reads one chain and predicts all thoughts in parallel."""

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from ..tasks import Chain, Layout

Feed = Any  # the model's own view of a chain: signs as floats, ids, clauses


class Prediction(eqx.Module):
    """Scores of every thought, and the attention that made them (one matrix per layer).

    One class: the score is a mean in [-1, 1]. Several classes: logits.
    """

    scores: Float[Array, "thought slot class *batch"]
    attention: tuple[Float[Array, "_query _source"], ...]


class AbstractModel(eqx.Module):
    """`jax.vmap` over `read` makes the batch, `eqx.filter_vmap` over the model the ensemble."""

    layout: eqx.AbstractVar[Layout]

    def fresh(self, key: Key[Array, ""]) -> "AbstractModel":
        """The model of a new member; models that start from drawn weights draw them here."""
        return self

    @abc.abstractmethod
    def embed(self, chain: Chain) -> Feed:
        """One chain as this model sees it."""

    @abc.abstractmethod
    def read(self, feed: Feed, depth: int | None = None) -> Prediction:
        """Predict every thought; `depth` limits how many layers are computed (None: all)."""

    def read_batch(self, chains: Chain, depth: int | None = None) -> Float[Array, "thought slot class batch"]:
        """Scores of a batch of chains; a model overrides this where a batch has a faster form."""
        read = jax.vmap(lambda chain: self.read(self.embed(chain), depth).scores, in_axes=-1, out_axes=-1)
        return read(chains)

    @abc.abstractmethod
    def attention(self) -> tuple[Float[Array, "_query _source"], ...]:
        """For each layer, the attention of the thoughts it writes; sources are positions from 0."""


def padded_signs(chain: Chain) -> Float[Array, " position *batch"]:
    """A shown sign as a float, a padded position as zero."""
    signs = chain.tokens[:, 0].astype(jnp.result_type(float))
    return jnp.where(chain.shown, signs, 0)


def masked_softmax(
    weights: Float[Array, "query source"], mask: Bool[Array, "query source"]
) -> Float[Array, "query source"]:
    """Softmax over the allowed sources; a query without any gets zeros."""
    return jax.nn.softmax(weights, axis=-1, where=mask)
