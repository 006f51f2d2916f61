"""Iterated composition: the product of secret inputs under any operation table, one partial result per thought."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from ..errors import require
from .actions import group_named
from .alphabet import Alphabet
from .base import AbstractTask, compiled
from .chain import Chain
from .layout import Layout


def operation(name_or_table) -> Array | np.ndarray:
    """The table of a group by its name (C7 adds modulo 7, S3 composes permutations), or one's own: table[a, b] = a .
    b."""
    if isinstance(name_or_table, jax.Array):
        return name_or_table
    if isinstance(name_or_table, str):
        return np.asarray(group_named(name_or_table).product, np.int32)
    table = np.asarray(name_or_table, np.int32)
    require(
        table.ndim == 2
        and table.shape[0] == table.shape[1] >= 2
        and bool(table.min() >= 0 and table.max() < len(table)),
        f"an operation is a square table of the numbers 0 to m - 1: shape={table.shape}; correct the table",
    )
    return table


class Composition(AbstractTask):
    """y_1 = x_s1 . x_s2, y_j = y_{j-1} . x_s{j+1} over `sparsity` of `length` uniform elements (all of them by
    default).

    Addition modulo 7, length 3: 5 3 6 -> 1 0. The table is data: operations of one size share a program.
    """

    table: Int[Array | np.ndarray, "element element"]
    length: int = eqx.field(static=True)
    sparsity: int = eqx.field(static=True)

    def __init__(self, table, length: int, sparsity: int | None = None):
        require(length >= 2, f"two or more elements are composed: length={length}; use 2 or more")
        self.table, self.length, self.sparsity = operation(table), length, length if sparsity is None else sparsity
        require(
            2 <= self.sparsity <= length,
            f"two or more of the inputs are composed: sparsity={self.sparsity}, length={length}; use 2 to {length}",
        )

    @property
    def layout(self) -> Layout:
        return Layout(self.length, tuple(range(1, self.sparsity)))

    @property
    def alphabet(self) -> Alphabet:
        return Alphabet(self.table.shape[-1], signs=False)

    @compiled
    def draw(self, key: Key[Array, ""]) -> Int[Array, " secret"]:
        return jnp.sort(jax.random.permutation(key, self.length)[: self.sparsity])

    @compiled
    def sample(self, secret, key: Key[Array, ""], count: int) -> Chain:
        inputs = jax.random.randint(key, (self.length, count), 0, self.table.shape[0])
        table, leaves = jnp.asarray(self.table), inputs[secret]

        def step(state, leaf):
            state = table[state, leaf]
            return state, state

        _, thoughts = jax.lax.scan(step, leaves[0], leaves[1:])
        return Chain(jnp.concatenate([inputs, thoughts])[:, None], self.layout)

    def children(self, secret, tokens=None) -> Int[Array, "thought child"]:
        thoughts = self.length + jnp.arange(self.sparsity - 2)
        return jnp.stack([jnp.concatenate([secret[:1], thoughts.astype(secret.dtype)]), secret[1:]], axis=1)

    def relabel(self, secret, tokens):
        child = self.children(secret)
        return jnp.asarray(self.table)[tokens[child[:, 0]], tokens[child[:, 1]]]
