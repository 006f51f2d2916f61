"""Sequences of bits that begin alike: what a causal network computes at their first positions is computed once.

So many first bits are the paths of a tree, with a row at each position for all sequences with the same bits up to
there: 4 at the second, 8 at the third and so on. The first has 4 as well, two for each bit, which makes the number of
rows a power of two: with 2 less a GPU is slower. A stream is then kept as rows: first those of the tree, position by
position, then those of the rest of each sequence. Norms, maps and feed-forward layers act on rows; attention of the
rest looks at its path through the tree, too. Exact: see tests/models/test_beginnings.py.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Num

from .network import wide

MOST = 8  # 256 beginnings: a gradient sums over them with a matrix of sequences x beginnings


def worth_sharing(batch: int, most: int) -> int:
    """So many first bits, at most `most` and MOST, that one more would not save four times the rows that it adds: for
    every beginning there is attention along the whole path. Never one, for rows at the first position go by two."""
    most, bits = min(most, MOST), 0
    while bits < most and 4 * 2 ** (bits + 1) <= batch:
        bits += 1
    return bits if bits > 1 else 0


@dataclasses.dataclass(frozen=True)
class Beginnings:
    depth: int  # first bits that are shared
    length: int  # of a sequence
    which: Int[Array, " batch"]  # the number of each sequence's beginning

    def __post_init__(self):
        assert self.depth != 1

    @property
    def bits(self) -> np.ndarray:
        """Every beginning, "beginning position"; the first bit counts most."""
        return np.arange(2**self.depth)[:, None] >> np.arange(self.depth)[::-1][None] & 1

    @property
    def rest(self) -> int:
        return self.length - self.depth

    @property
    def tree(self) -> int:
        """Rows of the tree."""
        return 2 ** (self.depth + 1) if self.depth else 0

    def rows(
        self, first: Float[Array, "beginning depth width"], rest: Float[Array, "batch rest width"]
    ) -> Float[Array, "row width"]:
        """Of those who share a row of the tree, the one whose later bits are 0 brings it."""
        tree = [first[:: len(first) // _count(position), position] for position in range(self.depth)]
        return jnp.concatenate([*tree, rest.reshape(-1, rest.shape[-1])])

    def parts(
        self, rows: Float[Array, "row width"]
    ) -> tuple[Float[Array, "beginning depth width"], Float[Array, "batch rest width"]]:
        """The path of every beginning, and the rest of every sequence."""
        *tree, rest = jnp.split(rows, np.cumsum([_count(position) for position in range(self.depth)]))
        paths = [jnp.repeat(each, 2**self.depth // len(each), axis=0)[:, None] for each in tree] or [rows[None, :0]]
        return jnp.concatenate(paths, axis=1), rest.reshape(len(self.which), self.rest, rows.shape[-1])

    def since(self, first: int, rows: Float[Array, "row width"]) -> Float[Array, "batch query width"]:
        """The stream of every sequence from a position on where nothing is shared."""
        return rows[self.tree :].reshape(len(self.which), self.rest, -1)[:, first - self.depth :]

    def whole(self, rows: Float[Array, "row width"]) -> Float[Array, "batch position width"]:
        """The stream of every sequence."""
        first, rest = self.parts(rows)
        return jnp.concatenate([_everybodys(first, self.which), rest], axis=1)


def _count(position: int) -> int:
    """Rows of the tree at that position."""
    return 2 << max(position, 1)


def row_of(beginning, position, depth: int):
    """The row of the tree that a beginning has at a position. Beyond its last one, where a kernel has room and nobody
    looks, the rows that follow."""
    beyond = jnp.maximum(position - (depth - 1), 0)
    level = jnp.maximum(position - beyond, 1)
    return (2 << level) * (position > 0) + (beginning >> depth - 1 - level) + beyond


def gathered(slopes: Float[Array, "beginning depth width"]) -> Float[Array, "tree width"]:
    """Of every path to the rows of the tree, each the sum over those who share it."""
    _, depth, width = slopes.shape
    each = [slopes[:, position].reshape(_count(position), -1, width) for position in range(depth)]
    return jnp.concatenate([shared.sum(axis=1) for shared in each])


@jax.custom_vjp
def _everybodys(
    first: Float[Array, "beginning depth width"], which: Int[Array, " batch"]
) -> Float[Array, "batch depth width"]:
    """The beginning of each; the gradient is a product and no scatter, which is slow and on a GPU in no fixed order.
    Gradients are taken backwards only: `jax.jvp` is refused here."""
    return first[which]


def _forward(first, which):
    return first[which], (which, len(first))


def _backward(kept, slope):
    which, count = kept
    return summed(slope, which, count).astype(slope.dtype), None


_everybodys.defvjp(_forward, _backward)


def summed(slope: Array, which: Int[Array, " batch"], count: int) -> Array:
    """Slopes of each sequence, summed over those that begin alike: "batch ..." to "beginning ..."."""
    kind = wide(slope)  # a CPU has no product of bfloat16 that sums in float32
    return jnp.einsum("sb,s...->b...", jax.nn.one_hot(which, count, dtype=kind), slope.astype(kind))


def beginnings(bits: Num[Array, "batch position"], most: int) -> Beginnings:
    """Of sequences of bits, up to `most` of the first."""
    depth = worth_sharing(len(bits), most)
    weights = 2 ** np.arange(depth)[::-1]
    return Beginnings(depth, bits.shape[1], bits[:, :depth].astype(jnp.int32) @ weights.astype(np.int32))


def attended(split: Float[Array, "row three"], of: Beginnings, heads: int) -> Float[Array, "row width"]:
    """What every head pulls together, from queries, keys and values side by side."""
    rest = _attended(of.whole(split), of.depth, heads)
    return of.rows(_attended(of.parts(split)[0], 0, heads), rest)


def _attended(split: Float[Array, "batch position three"], since: int, heads: int) -> Float[Array, "batch query width"]:
    """By the positions from `since` on."""
    batch, length, width = split.shape[0], split.shape[1], split.shape[2] // 3
    parts = split.reshape(batch, length, 3, heads, width // heads)
    query, key, value = (jnp.moveaxis(parts[:, start:, part], 1, 2) for part, start in enumerate((since, 0, 0)))
    scores = (query @ key.mT).astype(wide(split))
    scores = scores / np.sqrt(query.shape[-1]).astype(scores.dtype)
    causal = np.tril(np.ones((length, length), bool))[since:][None, None]
    attention = jax.nn.softmax(scores, axis=-1, where=causal).astype(split.dtype)
    return jnp.moveaxis(attention @ value, 1, 2).reshape(batch, length - since, width)
