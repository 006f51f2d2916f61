"""The transformer of LEGO's theory (Def. 3.5), literally: one attention head over five-slot clauses without positions
or residual, then a feed-forward network in which each of the 5 d logits has neurons of its own."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from ..tasks.lego import SLOTS, Vocabulary
from .srelu import SReLU

BLOCKS = ((3, 2), (3, 3))  # 0-based (4,3) and (4,4): the only blocks of Q that are trained (Assumption 3.5)


class Clause(eqx.Module):
    """Reads the clauses of one sentence; the last one is the query."""

    neurons: Float[Array, "slot class neuron source token"]  # W: 5 x d x m x 5 x d
    scores: Float[Array, "slot token source token"]  # Q: 5 x d x 5 x d
    bias: Float[Array, ""]  # mu, never trained
    ceiling: Float[Array, ""]  # B: logits are clipped from above (Assumption 3.4)
    vocabulary: Vocabulary = eqx.field(static=True)
    activation: SReLU = eqx.field(static=True)

    def embed(self, clauses: Int[Array, "clause slot"]) -> Float[Array, "clause slot token"]:
        """Orthonormal tokens; the blank is zero."""
        one_hot = jax.nn.one_hot(clauses, self.vocabulary.size, dtype=self.neurons.dtype)
        return one_hot.at[..., self.vocabulary.blank].set(0)

    def attention(self, clauses: Int[Array, "clause slot"]) -> Float[Array, " clause"]:
        embedded = self.embed(clauses)
        scores = jnp.einsum("sv,svtw,ktw->k", embedded[-1], self.scores, embedded)  # Z_q^T Q Z_k
        return jax.nn.softmax(scores)

    def preactivations(self, clauses: Int[Array, "clause slot"]) -> Float[Array, "slot class neuron"]:
        """Lambda_{i,j,r}, bias included."""
        mixed = jnp.einsum("k,ksv->sv", self.attention(clauses), self.embed(clauses))
        return jnp.einsum("ijrsv,sv->ijr", self.neurons, mixed) + self.bias

    def __call__(self, clauses: Int[Array, "clause slot"]) -> Float[Array, "slot class"]:
        """Five logit vectors for the next clause."""
        return jnp.minimum(self.activation(self.preactivations(clauses)).sum(axis=-1), self.ceiling)


def clause(
    vocabulary: Vocabulary,
    neurons: int,
    spread: float,
    clipping: float,
    activation: SReLU,
    key: Key[Array, ""],
) -> Clause:
    """At initialisation: Q = 0, W ~ N(0, spread^2), bias spread log d, ceiling clipping log d (Assumption 3.3)."""
    size = vocabulary.size
    weights = spread * jax.random.normal(key, (SLOTS, size, neurons, SLOTS, size))
    log = jnp.log(jnp.asarray(size, weights.dtype))
    return Clause(weights, jnp.zeros((SLOTS, size, SLOTS, size)), spread * log, clipping * log, vocabulary, activation)


def block_mask(vocabulary: Vocabulary) -> Float[Array, "slot token source token"]:
    """1 on the trained blocks of Q."""
    mask = jnp.zeros((SLOTS, vocabulary.size, SLOTS, vocabulary.size))
    for query, source in BLOCKS:
        mask = mask.at[query, :, source].set(1)
    return mask


def clause_loss(logits: Float[Array, "slot class"], target: Int[Array, " slot"]) -> Float[Array, " slot"]:
    """-log p of each token of the next clause; their sum is the next-clause loss (6b)."""
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), target[:, None], axis=1)[:, 0]
