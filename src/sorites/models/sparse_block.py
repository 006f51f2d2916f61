"""The simplified transformer block (wen, Definitions 3 to 6), literally and in token coordinates.

Frozen embeddings e_{i,b} for every position i and bit b, the rows of a 2T x d table E; row 2i + b (positions from 0).
Literal: A in R^{d x d}, W in R^{2m x 2d}. All gradients lie in the span of the embeddings, so with A = E'CE and
W = [PE, QE] a training is carried by the coefficients C (2T x 2T), P and Q (2m x 2T) and the Gram matrix EE': the cost
does not depend on d.

Axes: token = (position, bit), neuron (2m of them), key (attended from), query (attending).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key


def embeddings(key: Key[Array, ""], positions: int, width: int) -> Float[Array, "token width"]:
    """Signs over sqrt(d): exactly unit norm (Def. 3)."""
    signs = jax.random.rademacher(key, (2 * positions, width), jnp.int8)
    return signs / jnp.sqrt(jnp.asarray(float(width)))


class LiteralBlock(eqx.Module):
    """T(b) = h' ReLU(W [x; X softmax(C + X'AX)]) (Def. 6)."""

    table: Float[Array, "token width"]
    attention: Float[Array, "width width"]  # A
    weights: Float[Array, "neuron 2*width"]  # W
    head: Float[Array, " neuron"]  # h

    def __call__(self, bits: Int[Array, " position"]) -> tuple[Float[Array, " position"], Float[Array, "key query"]]:
        return self.of(self.table[2 * np.arange(len(bits)) + bits].T)

    def of(self, x: Float[Array, "width position"]) -> tuple[Float[Array, " position"], Float[Array, "key query"]]:
        """The same from X, the embedded tokens."""
        scores = x.T @ self.attention @ x  # row = key, column = query
        causal = np.triu(np.ones(scores.shape, bool))
        share = jax.nn.softmax(scores, axis=0, where=causal)
        hidden = jax.nn.relu(self.weights @ jnp.concatenate([x, x @ share]))
        return self.head @ hidden, share


class SparseBlock(eqx.Module):
    """The same block in token coordinates."""

    gram: Float[Array, "token token"]  # E E'
    scores: Float[Array, "token token"]  # C: A = E' C E
    own: Float[Array, "neuron token"]  # P: W_{1:d} = P E
    seen: Float[Array, "neuron token"]  # Q: W_{d+1:2d} = Q E
    head: Float[Array, " neuron"]

    def literal(self, table: Float[Array, "token width"]) -> LiteralBlock:
        """The block in the embedding space of that table (gram = table table')."""
        weights = jnp.concatenate([self.own @ table, self.seen @ table], axis=1)
        return LiteralBlock(table, table.T @ self.scores @ table, weights, self.head)

    def tables(self) -> "Tables":
        """What its weights say of every token: made once for all the chains that it reads."""
        logits = self.gram @ self.scores @ self.gram
        return Tables(logits, self.own @ self.gram, self.seen @ self.gram, self.head)

    def read(self, bits: Int[Array, "batch position"], first: int) -> "Forward":
        return self.tables().read(bits, first)


class Tables(eqx.Module):
    """What of a block depends on no chain."""

    logits: Float[Array, "token token"]  # <e_key, A e_query>
    own: Float[Array, "neuron token"]  # <W_r, e>, for the query's own token
    seen: Float[Array, "neuron token"]  # and for what it attends to
    head: Float[Array, " neuron"]

    def read(self, bits: Int[Array, "batch position"], first: int) -> "Forward":
        """Everything that the gradients need, at the queries from `first` (0-based) on."""
        return self._read(bits, first, bits.shape[1])

    def output(self, bits: Int[Array, "batch position"], query: int) -> Float[Array, " batch"]:
        """At one query alone."""
        return self._read(bits, query, query + 1).output[:, 0]

    def _read(self, bits: Int[Array, "batch position"], first: int, end: int) -> "Forward":
        length = bits.shape[1]
        tokens = 2 * jnp.arange(length)[None] + bits
        chosen = self.logits[tokens[:, None, :], tokens[:, first:end, None]]  # [batch, query, key]
        causal = np.tril(np.ones((length, length), bool))[first:end][None]
        share = jax.nn.softmax(chosen, axis=-1, where=causal)
        lit = bits[:, None, :] > 0
        spread = jnp.stack([jnp.where(lit, 0, share), jnp.where(lit, share, 0)], axis=-1)
        spread = spread.reshape(*share.shape[:2], 2 * length)  # attention over tokens
        before = self.own.T[tokens[:, first:end]] + spread @ self.seen.T
        return Forward(tokens[:, first:end], spread, before > 0, jax.nn.relu(before) @ self.head, self.seen)


class Forward(eqx.Module):
    """A batch as the block sees it, at the queries."""

    tokens: Int[Array, "batch query"]
    spread: Float[Array, "batch query token"]
    active: Bool[Array, "batch query neuron"]
    output: Float[Array, "batch query"]
    seen: Float[Array, "neuron token"]


def gradient(block: SparseBlock, reading: Forward, slope: Float[Array, "batch query"]) -> SparseBlock:
    """Coefficients of dL/dA and dL/dW for L = mean over the batch of sum_i loss_i, whose derivative by the output is
    `slope`; the embedding and h are frozen (zeros). The queries end the chain: no other token is one."""
    asked, weight = 2 * slope.shape[1], slope[..., None] / len(slope)
    others = len(block.gram) - asked
    active, head = reading.active.astype(slope.dtype), block.head[:, None]
    here = jax.nn.one_hot(reading.tokens - others, asked, dtype=slope.dtype)
    both = jnp.concatenate([reading.spread, here], axis=-1)
    both = jnp.einsum("bqt,bqr->tr", weight * both, active).T  # in this order a CPU is twice as fast
    seen, own = jnp.split(head * both, [len(block.gram)], axis=1)
    pull = active @ (head * reading.seen)  # c_{ji} = sum_r h_r a_ri <W_r, e_j>
    centred = pull - jnp.sum(reading.spread * pull, axis=-1, keepdims=True)
    scores = jnp.einsum("bqt,bqu->tu", weight * reading.spread * centred, here)
    own, scores = (jnp.pad(columns, ((0, 0), (others, 0))) for columns in (own, scores))
    return SparseBlock(jnp.zeros_like(block.gram), scores, own, seen, jnp.zeros_like(block.head))


def initial_block(
    gram: Float[Array, "token token"], pattern: Float[Array, "neuron token"], neurons: int
) -> SparseBlock:
    """Assumption 1: A = 0, W_{d+1:2d} = 0, W_{1:d} = sum nu_{r,i,b} e_{i,b}, h = +1/2m then -1/2m; `neurons` is m."""
    return SparseBlock(gram, jnp.zeros_like(gram), pattern, jnp.zeros_like(pattern), initial_head(neurons))


def initial_head(neurons: int) -> Float[Array, " neuron"]:
    """h = +1/2m, then -1/2m; `neurons` is m."""
    return jnp.where(np.arange(2 * neurons) < neurons, 1.0, -1.0) / (2 * neurons)


def initial_pattern(
    key: Key[Array, ""], neurons: int, bits: int, thoughts: int, epsilon: float = 1.0
) -> Float[Array, "neuron token"]:
    """nu: +-epsilon on the tokens of the queries n+1..n+k, zero elsewhere; `neurons` is m."""
    drawn = epsilon * jax.random.rademacher(key, (2 * neurons, 2 * thoughts), jnp.float32)
    return jnp.concatenate([jnp.zeros((2 * neurons, 2 * bits)), drawn], axis=1)
