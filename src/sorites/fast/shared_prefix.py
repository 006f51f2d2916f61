"""Prefix sharing: compute each distinct prefix of bits in a batch once.

In a batch of bits every sequence starts with one of 2^depth prefixes. What a causal network computes at the first
`depth` positions depends on the prefix alone. A stream is kept as rows: first those of every prefix, then those of the
rest of every sequence. Norms, linear maps and feed-forward layers act on rows; attention of the rest also reads the
keys and values of its prefix.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Num

from ..models.network import sum_type
from .fused import softmax

DEEPEST = 8  # 256 prefixes: the gradient sums over them with a matrix of sequences x prefixes


@dataclasses.dataclass(frozen=True)
class SharedPrefix:
    """How the positions of a batch are laid out as rows.

    Attributes:
        depth: positions of the prefix; 0 shares nothing.
        length: positions of a sequence.
        number: the number of each sequence's prefix, its bits read as a binary number.
    """

    depth: int
    length: int
    number: Int[Array, " batch"]

    @property
    def bits(self) -> np.ndarray:
        """Every prefix, "prefix position"."""
        return np.arange(2**self.depth)[:, None] >> np.arange(self.depth)[::-1][None] & 1

    def rows(
        self, prefixes: Float[Array, "prefix depth width"], rests: Float[Array, "batch rest width"]
    ) -> Float[Array, "row width"]:
        """Return the rows of all prefixes, then those of the rest of every sequence."""
        return jnp.concatenate([prefixes.reshape(-1, rests.shape[-1]), rests.reshape(-1, rests.shape[-1])])

    def parts(
        self, rows: Float[Array, "row width"]
    ) -> tuple[Float[Array, "prefix depth width"], Float[Array, "batch rest width"]]:
        """Return prefixes and rests from rows."""
        count = 2**self.depth * self.depth
        prefixes = rows[:count].reshape(2**self.depth, self.depth, -1) if count else rows[None, :0]
        return prefixes, rows[count:].reshape(len(self.number), self.length - self.depth, -1)

    def whole(self, rows: Float[Array, "row width"]) -> Float[Array, "batch position width"]:
        """Return every position of every sequence."""
        prefixes, rests = self.parts(rows)
        return jnp.concatenate([_gather(prefixes, self.number), rests], axis=1) if self.depth else rests

    def since(self, first: int, rows: Float[Array, "row width"]) -> Float[Array, "batch query width"]:
        """Return the positions from `first` on, none of which lies in a prefix."""
        return self.parts(rows)[1][:, first - self.depth :]

    def attend(self, split: Float[Array, "row three"], heads: int) -> Float[Array, "row width"]:
        """Return what each row attends to.

        Args:
            split: queries, keys and values of every row, side by side.
            heads: how many heads share the width.

        Returns:
            The mixed values of all heads, side by side.
        """
        rests = attend(self.whole(split), self.depth, heads)
        return self.rows(attend(self.parts(split)[0], 0, heads), rests) if self.depth else rests.reshape(len(split), -1)


def shared_prefix(bits: Num[Array, "batch position"], most: int) -> SharedPrefix:
    """Return the prefix that is worth sharing in a batch of bits.

    Args:
        bits: the sequences.
        most: positions that a prefix may have at most.

    Returns:
        The layout of the batch, of depth 0 if its sequences are few.
    """
    batch, length = bits.shape
    depth = prefix_depth(batch, most)
    powers = 2 ** np.arange(depth, dtype=np.int32)[::-1]
    return SharedPrefix(depth, length, bits[:, :depth].astype(jnp.int32) @ powers)


def prefix_depth(batch: int, most: int) -> int:
    """Return the depth of the prefix that is worth sharing.

    Args:
        batch: the number of sequences.
        most: the largest depth.

    Returns:
        The largest depth at which there are at most a quarter as many prefixes as sequences.
    """
    return min(most, DEEPEST, max(0, (batch // 4).bit_length() - 1))


@jax.custom_jvp
def _gather(
    prefixes: Float[Array, "prefix depth width"], number: Int[Array, " batch"]
) -> Float[Array, "batch depth width"]:
    """The prefix of each sequence. The gradient is a product, not a scatter, which is slow and unordered on a GPU."""
    return prefixes[number]


@_gather.defjvp
def _gather_tangent(primals, tangents):
    (prefixes, number), (change, _) = primals, tangents
    kind = sum_type(change)  # a CPU has no product of bfloat16 that sums in float32
    chosen = jax.nn.one_hot(number, len(prefixes), dtype=kind)
    return prefixes[number], jnp.einsum("sp,p...->s...", chosen, change.astype(kind)).astype(change.dtype)


def attend(split: Float[Array, "batch position three"], first: int, heads: int) -> Float[Array, "batch query width"]:
    """Return causal attention of the positions from `first` on.

    Args:
        split: queries, keys and values of every position, side by side.
        first: the first position that attends.
        heads: how many heads share the width.

    Returns:
        The mixed values of all heads, side by side.
    """
    batch, length, width = split.shape[0], split.shape[1], split.shape[2] // 3
    parts = split.reshape(batch, length, 3, heads, width // heads)
    query, key, value = (jnp.moveaxis(parts[:, start:, part], 1, 2) for part, start in enumerate((first, 0, 0)))
    mixed = causal_softmax(query @ key.mT / np.sqrt(query.shape[-1]).astype(split.dtype), first) @ value
    return jnp.moveaxis(mixed, 1, 2).reshape(batch, length - first, width)


def causal_softmax(scores: Float[Array, "batch head query position"], first: int) -> Array:
    """Return the softmax over the positions up to the query's own; sums are in float32 or wider.

    Args:
        scores: of the queries at the positions from `first` on.
        first: the position of the first query.

    Returns:
        Attention in the type of the scores.
    """
    queries, length = scores.shape[-2:]
    wide = scores.astype(sum_type(scores))
    if queries == 1 and first + 1 == length:  # a query that sees all, as rows: a CPU is slow around an axis of length 1
        return jax.nn.softmax(wide.reshape(-1, length), axis=-1).reshape(scores.shape).astype(scores.dtype)
    seen = np.arange(length)[None] <= first + np.arange(queries)[:, None]
    return softmax(wide, seen[None, None]).astype(scores.dtype)
