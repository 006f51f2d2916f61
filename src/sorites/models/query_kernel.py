"""Few queries of a whole stream in one kernel, for a GPU: every head of a sequence's last positions looks at rows that
serve as keys and values alike.

One program is one sequence. Equal to two products and a softmax between them (tests/models/test_query_kernel.py).
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
from jax.experimental import pallas
from jax.experimental.pallas import triton
from jaxtyping import Array, Float, Int

from .attention_kernel import LONGEST
from .beginnings import Beginnings, gathered, row_of, summed
from .tiles import Rows, Strips, back, mixed, power, products, softmax, softmax_slopes

STRIP, WARPS = 256, 4  # the fastest of six measured in half precision (docs/history/speed.md)
WIDEST = 1024


def fits(of: Beginnings, asks: int, width: int) -> bool:
    """So many rows that ask, of all heads of a sequence."""
    return max(of.length, asks) <= LONGEST and width <= WIDEST


@dataclasses.dataclass(frozen=True)
class _Sizes:
    depth: int
    tree: int  # rows of the beginnings
    rest: int
    batch: int
    queries: int
    heads: int
    interpret: bool

    @property
    def asks(self) -> int:
        return self.queries * self.heads


def pulled_on_chip(
    asked: Float[Array, "batch query head width"],
    rows: Float[Array, "row width"],
    of: Beginnings,
    interpret: bool = False,
) -> Float[Array, "batch query head width"]:
    """What the last positions of each sequence pull together, their scores being products of `asked` with the rows."""
    batch, queries, heads, width = asked.shape
    sizes = _Sizes(of.depth, of.tree, of.rest, batch, queries, heads, interpret)
    return jnp.reshape(_on_chip(asked.reshape(-1, width), rows, of.which, sizes), asked.shape)


@functools.partial(jax.custom_vjp, nondiff_argnums=(3,))
def _on_chip(
    asked: Float[Array, "ask width"], rows: Float[Array, "row width"], which: Int[Array, " batch"], sizes: _Sizes
) -> Float[Array, "ask width"]:
    return _called(_pull, jax.ShapeDtypeStruct(asked.shape, asked.dtype), sizes, asked, rows, which)


def _forward(asked, rows, which, sizes):
    return _on_chip(asked, rows, which, sizes), (asked, rows, which)


def _backward(sizes, kept, slope):
    asked, rows, which = kept
    count, width = 2**sizes.depth if sizes.depth else 0, rows.shape[1]
    shapes = [asked.shape, (sizes.batch * sizes.rest, width), (sizes.batch * sizes.depth, width)][: 2 + bool(count)]
    out = tuple(jax.ShapeDtypeStruct(shape, asked.dtype) for shape in shapes)
    found, own, *before = _called(_push, out, sizes, asked, rows, which, slope)
    if before:
        owed = summed(before[0].reshape(sizes.batch, sizes.depth, width), which, count)
        own = jnp.concatenate([gathered(owed).astype(own.dtype), own])
    return found, own.astype(rows.dtype), None


_on_chip.defvjp(_forward, _backward)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _called(kernel, out, sizes: _Sizes, *arguments):
    """A program of its own within others: layers that are alike trace and lower it once."""
    return pallas.pallas_call(
        functools.partial(kernel, sizes=sizes),
        out_shape=out,
        grid=(sizes.batch,),
        compiler_params=triton.CompilerParams(num_warps=WARPS, num_stages=1),
        interpret=sizes.interpret,
    )(*arguments)


class _Sequence:
    """The rows that ask, those of the sequence itself and of its beginning, and who may look at whom."""

    def __init__(self, rows, which, sizes: _Sizes):
        number, depth, rest = pallas.program_id(0), sizes.depth, sizes.rest
        self.strips = Strips(rows.shape[1], STRIP)
        self.asks = Rows(number * sizes.asks, sizes.asks, sizes.asks, self.strips)
        start = sizes.tree + number * rest
        self.all = [Rows(start, rest, rest, self.strips)]
        self.owed = [Rows(number * rest, rest, rest, self.strips)]
        position = rest - sizes.queries + jnp.arange(self.asks.room)[:, None] // sizes.heads
        self.seen = [jnp.arange(self.all[0].room)[None] <= position]
        if depth:
            path = functools.partial(row_of, which[number], depth=depth)
            self.all.append(Rows(start, depth, depth, self.strips, path))
            self.owed.append(Rows(number * depth, depth, depth, self.strips))
            self.seen.append(jnp.arange(power(depth))[None] < depth)

    def theirs(self, rows, strip: int) -> list:
        return [each.read(rows, strip) for each in self.all]

    def products(self, mine, rows) -> list:
        return products(self.strips, lambda strip: self.asks.read(mine, strip), lambda strip: self.theirs(rows, strip))


def _pull(asked, rows, which, out, *, sizes: _Sizes) -> None:
    here = _Sequence(rows, which, sizes)
    shares = softmax(here.products(asked, rows), here.seen)
    for strip in here.strips:
        here.asks.write(out, mixed(shares, here.theirs(rows, strip)), strip)


def _push(asked, rows, which, slope, out, *owed, sizes: _Sizes) -> None:
    """d(sum of slope x pulled) with respect to what was asked and to the rows."""
    here = _Sequence(rows, which, sizes)
    shares = softmax(here.products(asked, rows), here.seen)
    slopes = softmax_slopes(shares, here.products(slope, rows))
    for strip in here.strips:
        here.asks.write(out, mixed(slopes, here.theirs(rows, strip)), strip)
        query, came = here.asks.read(asked, strip), here.asks.read(slope, strip)
        for ref, place, turned, share in zip(owed, here.owed, slopes, shares, strict=True):
            place.write(ref, back(turned, query) + back(share, came), strip)
