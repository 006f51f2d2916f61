"""Theorem 1's network: one block that computes parity without a chain (Appendix B.2)."""

import math

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from ...models.sparse_block import LiteralBlock

SHARPNESS = 40  # of the attention: A = 40 log(n) V e_{n+1,0}'


class HandBuilt:
    """Embedding table, dual vectors and the ReLU staircase; positions from 0, secret = the first k bits."""

    def __init__(self, bits: int, sparsity: int, width: int, seed: int = 0):
        self.bits, self.sparsity = bits, sparsity
        generator = np.random.default_rng(seed)
        self.table = generator.choice([-1.0, 1.0], size=(2 * (bits + 1), width)) / math.sqrt(width)  # row 2i + b
        rows = self.table[: 2 * sparsity]  # M
        self.inner = rows @ rows.T
        dual = np.linalg.solve(self.inner, rows)  # u_{j,b}, by rows
        self.every, self.ones = dual.sum(axis=0), dual[1::2].sum(axis=0)  # V and U
        m = sparsity + 1
        r = np.arange(1, 2 * m + 1)
        self.offset = np.where(r <= m, -4 * np.ceil(r / 2) + 4, np.where(r == m + 1, 1, -4 * ((r - m) // 2) + 2))
        self.head = np.where(r <= m, 1.0, -1.0)

    @property
    def leak(self) -> float:
        """Largest |<V, e_{j,b}>| over the other tokens (Lemma 4 wants 1/2; below 1 the attention is right)."""
        return float(np.abs(self.table[2 * self.sparsity :] @ self.every).max())

    def __call__(self, inputs: Int[np.ndarray, "batch bits"], rounded=lambda x: x) -> Float[np.ndarray, " batch"]:
        """T(b)[n+1]; `rounded` is applied to every weight and activation."""
        tokens = 2 * np.arange(self.bits + 1) + np.concatenate([inputs, np.zeros((len(inputs), 1), int)], axis=1)
        table, every, ones = rounded(self.table), rounded(self.every), rounded(self.ones)
        scores = rounded(SHARPNESS * math.log(self.bits) * rounded(table @ every))[tokens]
        share = np.exp(scores - scores.max(axis=1, keepdims=True))
        share = rounded(share / share.sum(axis=1, keepdims=True))
        read = rounded((share * rounded(table @ ones)[tokens]).sum(axis=1))
        return np.maximum(rounded(self.offset[None] + 2 * self.sparsity * read[:, None]), 0) @ self.head

    def literal(self) -> LiteralBlock:
        """The same network as the block of Definition 6."""
        query = self.table[2 * self.bits]  # e_{n+1,0}
        own = self.offset[:, None] * query[None]
        seen = np.tile(2 * self.sparsity * self.ones, (len(own), 1))
        attention = SHARPNESS * math.log(self.bits) * np.outer(self.every, query)
        weights = np.concatenate([own, seen], axis=1)
        return LiteralBlock(*(jnp.asarray(part) for part in (self.table, attention, weights, self.head)))


def mantissa(values: Float[np.ndarray, "..."], bits: int) -> Float[np.ndarray, "..."]:
    """Rounded to so many significant binary digits; the exponent is free."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.round(fraction * 2.0**bits) / 2.0**bits, exponent)
