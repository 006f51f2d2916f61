"""Causal attention of short sequences in one kernel, for a GPU: scores and attention never leave the chip.

The projections come as the product leaves them, row by row, queries, keys and values side by side, and so does the
result: heads are never moved before positions, which costs a copy of everything. One program of the kernel is one head
of one beginning, or of the rest of one sequence, which looks at its beginning as well. Equal to `beginnings.attended`
(tests/models/test_attention_kernel.py).
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas
from jax.experimental.pallas import triton
from jaxtyping import Array, Float, Int

from .beginnings import Beginnings, gathered, row_of, summed
from .tiles import Rows, Strips, back, mixed, power, products, softmax, softmax_slopes

LONGEST, WIDEST = 64, 256  # positions and numbers of a head that one program works on


def fits(length: int, dim: int) -> bool:
    return length <= LONGEST and dim <= WIDEST


@dataclasses.dataclass(frozen=True)
class _Sizes:
    depth: int
    tree: int  # rows of the beginnings
    rest: int
    batch: int
    heads: int
    dim: int
    interpret: bool

    @property
    def count(self) -> int:
        """Beginnings."""
        return 2**self.depth if self.depth else 0


def attended_on_chip(split: Float[Array, "row three"], of: Beginnings, heads: int, interpret: bool = False):
    """The same in one kernel, and one more for its gradient."""
    sizes = _Sizes(of.depth, of.tree, of.rest, len(of.which), heads, split.shape[1] // (3 * heads), interpret)
    return _on_chip(split, of.which, sizes)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _on_chip(split: Float[Array, "row three"], which: Int[Array, " batch"], sizes: _Sizes) -> Float[Array, "row width"]:
    out = jax.ShapeDtypeStruct((len(split), split.shape[1] // 3), split.dtype)
    return _called(_pull, out, sizes, split, which)


def _forward(split, which, sizes):
    return _on_chip(split, which, sizes), (split, which)


def _backward(sizes, kept, slope):
    split, which = kept
    shape = jax.ShapeDtypeStruct(split.shape, split.dtype)
    if not sizes.depth:
        return _called(_push, shape, sizes, split, which, slope), None
    width = slope.shape[1]
    owed = jax.ShapeDtypeStruct(((sizes.count + sizes.batch) * sizes.depth, 2 * width), split.dtype)
    found, owed = _called(_push, (shape, owed), sizes, split, which, slope)
    owed = owed.reshape(sizes.count + sizes.batch, sizes.depth, 2 * width)
    paths = owed[: sizes.count].astype(jnp.float32) + summed(owed[sizes.count :], which, sizes.count)
    return found.at[: sizes.tree, width:].set(gathered(paths).astype(split.dtype)), None


_on_chip.defvjp(_forward, _backward)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _called(kernel, out, sizes: _Sizes, *arguments):
    """A program of its own within others: layers that are alike trace and lower it once."""
    return pallas.pallas_call(
        functools.partial(kernel, sizes=sizes),
        out_shape=out,
        grid=(sizes.count + sizes.batch, sizes.heads),
        compiler_params=triton.CompilerParams(num_warps=_warps(sizes, out), num_stages=1),
        interpret=sizes.interpret,
    )(*arguments)


def _half(out) -> bool:
    return jax.tree.leaves(out)[0].dtype == jnp.bfloat16


def _warps(sizes: _Sizes, out) -> int:
    """As was fastest on an H200 for 27 rows of four heads of 180 (docs/history/speed.md)."""
    return 2 if _half(out) and power(max(sizes.rest, sizes.depth)) <= 32 else 4


class _Head:
    """One head of one beginning or of one rest: the rows that ask, those that are asked, and who may look at whom."""

    def __init__(self, which, out, sizes: _Sizes):
        number, self.head = pallas.program_id(0), pallas.program_id(1)
        depth, rest, count = sizes.depth, sizes.rest, sizes.count
        self.sizes, self.scale = sizes, np.float32(sizes.dim**-0.5)
        self.strips = Strips(sizes.dim, 256 if _half(out) else 64)
        if not depth:
            self.asks = self.own = Rows(number * rest, rest, rest, self.strips)
            self.all, self.once = [self.own], 1.0
            position = jnp.arange(self.own.room)
            self.seen = [(position[:, None] >= position[None]) & (position[None] < rest)]
            return
        sequence = jnp.maximum(number - count, 0)
        after = (number >= count).astype(jnp.int32)  # a rest: arithmetic, for a choice of constants is not lowered
        beginning = after * which[sequence] + (1 - after) * jnp.minimum(number, count - 1)
        path, start = functools.partial(row_of, beginning, depth=depth), sizes.tree + sequence * rest

        def asking(position):
            return after * (start + position) + (1 - after) * path(position)

        self.asks = Rows(start, depth + after * (rest - depth), max(rest, depth), self.strips, asking)
        self.own = Rows(start, after * rest, rest, self.strips)
        self.owed = Rows(number * depth, depth, depth, self.strips)
        self.all = [self.own, Rows(start, depth, depth, self.strips, path)]
        position, own, before = (jnp.arange(rows.room) for rows in (self.asks, *self.all))
        self.seen = [
            (position[:, None] >= own[None]) & (own[None] < after * rest),
            (position[:, None] + after * depth >= before[None]) & (before[None] < depth),
        ]
        later = (1 - after) * jnp.maximum(depth - 1 - jnp.maximum(position, 1), 0)  # bits that come after its row
        self.once = ((beginning >> later << later) == beginning)[:, None]  # who shares a row answers for it once

    def column(self, part: int):
        """Where queries, keys or values of this head begin."""
        return (part * self.sizes.heads + self.head) * self.sizes.dim

    def mine(self, ref, strip: int):
        """Queries, or slopes of what they pulled."""
        return self.asks.read(ref, strip, self.column(0))

    def theirs(self, split, strip: int, part: int) -> list:
        """Keys or values: the own, and those before."""
        return [rows.read(split, strip, self.column(part)) for rows in self.all]

    def shares(self, split) -> list:
        scores = products(self.strips, functools.partial(self.mine, split), lambda strip: self.theirs(split, strip, 1))
        return softmax([score * self.scale for score in scores], self.seen)


def _pull(split, which, out, *, sizes: _Sizes) -> None:
    """Beginnings that share a row all write it, and write the same."""
    here = _Head(which, out, sizes)
    shares = here.shares(split)
    for strip in here.strips:
        here.asks.write(out, mixed(shares, here.theirs(split, strip, 2)), strip, here.column(0))


def _push(split, which, slope, out, owed=None, *, sizes: _Sizes) -> None:
    """d(sum of slope x pulled) with respect to queries, keys and values."""
    here = _Head(which, out, sizes)
    shares = here.shares(split)
    slopes = products(here.strips, functools.partial(here.mine, slope), lambda strip: here.theirs(split, strip, 2))
    slopes = [each * here.scale for each in softmax_slopes(shares, slopes)]
    once = [[each * here.once for each in tiles] for tiles in (slopes, shares)]
    places = [(here.own, out, 1)] if owed is None else [(here.own, out, 1), (here.owed, owed, 0)]
    for strip in here.strips:
        here.asks.write(out, mixed(slopes, here.theirs(split, strip, 1)), strip, here.column(0))
        query, came = here.mine(split, strip), here.mine(slope, strip)
        for (rows, ref, part), turned, share in zip(places, *once, strict=True):
            rows.write(ref, back(turned, query), strip, here.column(part))
            rows.write(ref, back(share, came), strip, here.column(part + 1))
