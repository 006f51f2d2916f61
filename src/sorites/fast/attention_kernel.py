"""Causal attention of short sequences in one Pallas kernel, for a GPU: scores and attention never leave the chip.

The projections come as the linear map leaves them, queries, keys and values side by side, and so does the result: heads
are never moved before positions, which costs a copy of everything. One program of the kernel is one head of one
sequence. A tile has as many rows as a power of two; what is beyond the sequence is read as zero and not written.
"""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas
from jax.experimental.pallas import triton
from jaxtyping import Array, Float

from .device import on_gpu

LONGEST, WIDEST = 64, 256  # positions and entries of a head that one program works on


def fits(split: Array, length: int, heads: int) -> bool:
    """Return whether the kernel can attend to these projections.

    Args:
        split: queries, keys and values side by side.
        length: positions of a sequence.
        heads: how many heads share the width.

    Returns:
        True on a GPU, for short sequences and narrow heads, not in float64.
    """
    small = length <= LONGEST and split.shape[-1] // (3 * heads) <= WIDEST
    return on_gpu() and split.dtype != jnp.float64 and small


@functools.partial(jax.custom_vjp, nondiff_argnums=(1, 2))
def attend(
    split: Float[Array, "batch position three"], heads: int, interpret: bool = False
) -> Float[Array, "batch position width"]:
    """Return causal attention of every position. It has a gradient, but no forward-mode derivative.

    Args:
        split: queries, keys and values of every position, side by side.
        heads: how many heads share the width.
        interpret: run the kernel without a GPU, for tests.

    Returns:
        The mixed values of all heads, side by side.
    """
    return _call(_attend, split.shape[-1] // 3, heads, interpret, split)


def _forward(split, heads, interpret):
    return _call(_attend, split.shape[-1] // 3, heads, interpret, split), split


def _backward(heads, interpret, split, gradient):
    return (_call(_gradient, split.shape[-1], heads, interpret, split, gradient),)


attend.defvjp(_forward, _backward)


@functools.partial(jax.jit, static_argnums=(0, 1, 2, 3))
def _call(kernel: Callable, width: int, heads: int, interpret: bool, split: Array, *others: Array) -> Array:
    """A program inside others, so that equal layers trace and lower it once."""
    batch, length, dim = split.shape[0], split.shape[1], split.shape[2] // (3 * heads)
    half = split.dtype == jnp.bfloat16
    warps = 2 if half and _power(length) <= 32 else 4  # the fastest on an H200 for 27 rows of four heads of 180
    found = pallas.pallas_call(
        functools.partial(kernel, tiles=functools.partial(_Tiles, length, heads, dim, 256 if half else 64)),
        out_shape=jax.ShapeDtypeStruct((batch * length, width), split.dtype),
        grid=(batch, heads),
        compiler_params=triton.CompilerParams(num_warps=warps, num_stages=1),
        interpret=interpret,
    )(*(each.reshape(batch * length, -1) for each in (split, *others)))
    return found.reshape(batch, length, width)


def _power(number: int) -> int:
    """A power of two, 16 or more: what a product on the chip is made of."""
    return max(16, 1 << (number - 1).bit_length())


class _Tiles:
    """The rows of one head of one sequence, read and written a strip of columns at a time."""

    def __init__(self, length: int, heads: int, dim: int, widest: int):
        self.length, self.heads, self.dim = length, heads, dim
        self.rows, self.strip = _power(length), min(widest, _power(dim))
        self.strips = range(0, dim, self.strip)
        position = jnp.arange(self.rows)
        self.seen = (position[:, None] >= position[None]) & (position[None] < length)

    def _at(self, ref, part: int, strip: int):
        first = (part * self.heads + pallas.program_id(1)) * self.dim + strip
        rows = pallas.ds(pallas.program_id(0) * self.length, self.rows)
        columns = jnp.arange(self.strip)[None] < self.dim - strip
        inside = (jnp.arange(self.rows)[:, None] < self.length) & columns
        return ref.at[rows, pallas.ds(first, self.strip)], inside

    def read(self, ref, part: int, strip: int):
        """Part 0 holds queries, 1 keys and 2 values."""
        there, inside = self._at(ref, part, strip)
        return triton.load(there, mask=inside, other=0)

    def write(self, ref, part: int, strip: int, value) -> None:
        there, inside = self._at(ref, part, strip)
        triton.store(there, value.astype(ref.dtype), mask=inside)

    def product(self, left, right, part: int):
        """Every row of `left` times every row of a part of `right`, summed over strips."""
        each = [
            triton.dot(self.read(left, 0, strip), self.read(right, part, strip), trans_b=True) for strip in self.strips
        ]
        return functools.reduce(jnp.add, each)

    def attention(self, split):
        scores = jnp.where(self.seen, self.product(split, split, 1) * np.float32(self.dim**-0.5), -1e30)
        raised = jnp.exp(scores - jnp.max(scores, axis=1, keepdims=True))
        return raised / jnp.sum(raised, axis=1, keepdims=True)


def _dot(weights, tile, transpose: bool = False):
    return triton.dot(weights.astype(tile.dtype), tile, trans_a=transpose)


def _attend(split, out, *, tiles: Callable) -> None:
    here = tiles()
    attention = here.attention(split)
    for strip in here.strips:
        here.write(out, 0, strip, _dot(attention, here.read(split, 2, strip)))


def _gradient(split, gradient, out, *, tiles: Callable) -> None:
    """The gradients of queries, keys and values, from that of what was mixed."""
    here = tiles()
    attention, of_attention = here.attention(split), here.product(gradient, split, 2)
    centred = of_attention - jnp.sum(of_attention * attention, axis=1, keepdims=True)
    of_scores = attention * centred * np.float32(here.dim**-0.5)
    for strip in here.strips:
        here.write(out, 0, strip, _dot(of_scores, here.read(split, 1, strip)))
        here.write(out, 1, strip, _dot(of_scores, here.read(split, 0, strip), transpose=True))
        here.write(out, 2, strip, _dot(attention, here.read(gradient, 0, strip), transpose=True))
