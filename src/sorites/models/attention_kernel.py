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

from .beginnings import Beginnings, summed

LONGEST, WIDEST = 64, 256  # positions and numbers of a head that one program holds


def fits(length: int, dim: int) -> bool:
    return length <= LONGEST and dim <= WIDEST


@dataclasses.dataclass(frozen=True)
class _Sizes:
    depth: int
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
    sizes = _Sizes(of.depth, of.rest, len(of.which), heads, split.shape[1] // (3 * heads), interpret)
    return _on_chip(split, of.which, sizes)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _on_chip(split: Float[Array, "row three"], which: Int[Array, " batch"], sizes: _Sizes) -> Float[Array, "row width"]:
    out = jax.ShapeDtypeStruct((len(split), split.shape[1] // 3), split.dtype)
    return _called(_pull, out, sizes)(split, which)


def _forward(split, which, sizes):
    return _on_chip(split, which, sizes), (split, which)


def _backward(sizes, kept, slope):
    split, which = kept
    shape = jax.ShapeDtypeStruct(split.shape, split.dtype)
    if not sizes.depth:
        return _called(_push, shape, sizes)(split, which, slope), None
    width = slope.shape[1]
    before = jax.ShapeDtypeStruct((sizes.batch * sizes.depth, 2 * width), split.dtype)
    found, before = _called(_push, (shape, before), sizes)(split, which, slope)
    owed = summed(before.reshape(sizes.batch, -1), which, sizes.count)
    ends = sizes.count * sizes.depth
    total = found[:ends, width:].astype(jnp.float32) + owed.reshape(ends, -1)
    return found.at[:ends, width:].set(total.astype(split.dtype)), None


_on_chip.defvjp(_forward, _backward)


def _called(kernel, out, sizes: _Sizes):
    return pallas.pallas_call(
        functools.partial(kernel, sizes=sizes),
        out_shape=out,
        grid=(sizes.count + sizes.batch, sizes.heads),
        compiler_params=triton.CompilerParams(num_warps=_warps(sizes), num_stages=1),
        interpret=sizes.interpret,
    )


def _warps(sizes: _Sizes) -> int:
    """More for larger tiles. On an H200 32 rows of 256 numbers took 272 us with eight, 213 with four, 205 with two."""
    return 8 if _power(max(sizes.rest, sizes.depth)) * _power(sizes.dim) > 8192 else 4


def _power(number: int) -> int:
    """A power of two, 16 or more: what a product on the chip is made of."""
    return max(16, 1 << (number - 1).bit_length())


class _Place:
    """Rows of one head in memory: so many from `start` on, with room up to powers of two."""

    def __init__(self, start, count, room: int, head, sizes: _Sizes):
        self.start, self.room, self.head, self.sizes = start, _power(room), head, sizes
        self.dim = _power(sizes.dim)
        self.inside = (jnp.arange(self.room)[:, None] < count) & (jnp.arange(self.dim)[None] < sizes.dim)

    def of(self, ref, part: int):
        column = (part * self.sizes.heads + self.head) * self.sizes.dim
        return ref.at[pallas.ds(self.start, self.room), pallas.ds(column, self.dim)]

    def read(self, ref, part: int = 0):
        return triton.load(self.of(ref, part), mask=self.inside, other=0)

    def write(self, ref, value, part: int = 0):
        triton.store(self.of(ref, part), value.astype(ref.dtype), mask=self.inside)


class _Head:
    """One head of one beginning or of one rest: its own rows, those before them, and whom it may look at."""

    def __init__(self, which, sizes: _Sizes):
        number, head = pallas.program_id(0), pallas.program_id(1)
        depth, rest, count = sizes.depth, sizes.rest, sizes.count
        self.scale = np.float32(sizes.dim**-0.5)
        if not depth:
            self.own, self.before, length = _Place(number * rest, rest, rest, head, sizes), None, rest
        else:
            sequence = jnp.maximum(number - count, 0)
            start = jnp.minimum(number, count) * depth + sequence * rest
            after = (number >= count).astype(jnp.int32)  # a rest: arithmetic, for a choice of constants is not lowered
            length, earlier = depth + after * (rest - depth), after * depth
            self.own = _Place(start, length, max(rest, depth), head, sizes)
            self.before = _Place(which[sequence] * depth, earlier, depth, head, sizes)
            self.owed = _Place(sequence * depth, earlier, depth, head, sizes)
            self.seen = jnp.arange(self.before.room)[None] < earlier
        rows = jnp.arange(self.own.room)
        self.causal = (rows[:, None] >= rows[None]) & (rows[None] < length)

    def attention(self, query, keys):
        """Shares of the own rows and of those before."""
        seen = [self.causal] if self.before is None else [self.causal, self.seen]
        scores = [jnp.where(each, triton.dot(query, key, trans_b=True) * self.scale, -1e30)
                  for each, key in zip(seen, keys, strict=True)]  # fmt: skip
        most = functools.reduce(jnp.maximum, [jnp.max(each, axis=1, keepdims=True) for each in scores])
        raised = [jnp.exp(each - most) for each in scores]
        whole = sum(jnp.sum(each, axis=1, keepdims=True) for each in raised)
        return [each / whole for each in raised]

    def read(self, split, part: int):
        """Keys or values: the own, and those before."""
        return [place.read(split, part) for place in (self.own, self.before) if place is not None]


def _pull(split, which, out, *, sizes: _Sizes) -> None:
    here = _Head(which, sizes)
    shares = here.attention(here.own.read(split, 0), here.read(split, 1))
    values = here.read(split, 2)
    here.own.write(out, sum(triton.dot(share.astype(value.dtype), value)
                            for share, value in zip(shares, values, strict=True)))  # fmt: skip


def _push(split, which, slope, out, owed=None, *, sizes: _Sizes) -> None:
    """d(sum of slope x pulled) with respect to queries, keys and values."""
    here = _Head(which, sizes)
    query, slopes = here.own.read(split, 0), here.own.read(slope)
    keys, values = here.read(split, 1), here.read(split, 2)
    shares = here.attention(query, keys)
    changes = [triton.dot(slopes, value, trans_b=True) for value in values]
    mean = sum(jnp.sum(change * share, axis=1, keepdims=True)
               for change, share in zip(changes, shares, strict=True))  # fmt: skip
    changes = [(share * (change - mean) * here.scale).astype(query.dtype)
               for change, share in zip(changes, shares, strict=True)]  # fmt: skip
    here.own.write(out, sum(triton.dot(change, key) for change, key in zip(changes, keys, strict=True)), 0)
    here.own.write(out, triton.dot(changes[0], query, trans_a=True), 1)
    here.own.write(out, triton.dot(shares[0].astype(slopes.dtype), slopes, trans_a=True), 2)
    if owed is not None:
        here.owed.write(owed, triton.dot(changes[1], query, trans_a=True), 0)
        here.owed.write(owed, triton.dot(shares[1].astype(slopes.dtype), slopes, trans_a=True), 1)
