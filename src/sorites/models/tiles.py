"""What the kernels for a GPU are made of: rows of a matrix, held a strip of columns at a time, and their products.

A tile has as many rows and columns as a power of two; what is beyond the matrix is read as zero and not written.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax.experimental import pallas
from jax.experimental.pallas import triton


def power(number: int) -> int:
    """A power of two, 16 or more: what a product on the chip is made of."""
    return max(16, 1 << (number - 1).bit_length())


class Strips:
    """So many columns in strips, at most `widest` at a time: what is fastest was measured (docs/history/speed.md)."""

    def __init__(self, columns: int, widest: int):
        self.columns, self.width = columns, min(widest, power(columns))

    def __iter__(self):
        return iter(range(0, self.columns, self.width))


class Rows:
    """So many rows of a matrix from `start` on, or those that `at` numbers, with room for a power of two."""

    def __init__(self, start, count, room: int, strips: Strips, at: Callable | None = None):
        self.start, self.count, self.room, self.strips = start, count, power(room), strips
        self.at = None if at is None else at(jnp.arange(self.room))[:, None]

    def _at(self, ref, strip: int, column):
        width, first = self.strips.width, column + strip + 0 * self.start  # a known slice may have no room to spare
        if self.at is None:
            there = ref.at[pallas.ds(self.start, self.room), pallas.ds(first, width)]
        else:
            there = ref.at[self.at, first + jnp.arange(width)[None]]
        inside = (jnp.arange(self.room)[:, None] < self.count) & (jnp.arange(width)[None] < self.strips.columns - strip)
        return there, inside

    def read(self, ref, strip: int, column: Any = 0):
        """The strip of what begins at that column."""
        there, inside = self._at(ref, strip, column)
        return triton.load(there, mask=inside, other=0)

    def write(self, ref, value, strip: int, column: Any = 0) -> None:
        there, inside = self._at(ref, strip, column)
        triton.store(there, value.astype(ref.dtype), mask=inside)


def total(parts: Sequence):
    return functools.reduce(jnp.add, parts)


def products(strips: Strips, mine: Callable, theirs: Callable) -> list:
    """Of every row of mine with every row of each of theirs, summed strip by strip."""
    found = [[triton.dot(mine(strip), tile, trans_b=True) for tile in theirs(strip)] for strip in strips]
    return [total(each) for each in zip(*found, strict=True)]


def mixed(shares: Sequence, tiles: Sequence):
    """The rows of all tiles by their shares."""
    return total([triton.dot(share.astype(tile.dtype), tile) for share, tile in zip(shares, tiles, strict=True)])


def back(shares, tile):
    """Every row of the tile to those whom it had a share of."""
    return triton.dot(shares.astype(tile.dtype), tile, trans_a=True)


def softmax(scores: Sequence, seen: Sequence) -> list:
    """Over the columns of all tiles together, of those that are seen."""
    scores = [jnp.where(mask, score, -1e30) for score, mask in zip(scores, seen, strict=True)]
    most = functools.reduce(jnp.maximum, [jnp.max(score, axis=1, keepdims=True) for score in scores])
    raised = [jnp.exp(score - most) for score in scores]
    whole = total([jnp.sum(each, axis=1, keepdims=True) for each in raised])
    return [each / whole for each in raised]


def softmax_slopes(shares: Sequence, slopes: Sequence) -> list:
    """Of the scores, from those of the shares."""
    mean = total([jnp.sum(slope * share, axis=1, keepdims=True) for slope, share in zip(slopes, shares, strict=True)])
    return [share * (slope - mean) for slope, share in zip(slopes, shares, strict=True)]
