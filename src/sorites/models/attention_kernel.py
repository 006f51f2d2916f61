"""Causal attention of short sequences in one kernel, for a GPU: scores and attention never leave the chip.

The projections come as the product leaves them, position by position, queries, keys and values side by side, and so
does the result: heads are never moved before positions, which costs a copy of everything. One program of the kernel is
one head of one sequence. Equal to `attended` (tests/models/test_attention_kernel.py).
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas
from jax.experimental.pallas import triton
from jaxtyping import Array, Float

LONGEST, WIDEST = 64, 256  # positions and numbers of a head that one program holds


def fits(length: int, dim: int) -> bool:
    return length <= LONGEST and dim <= WIDEST


def attended(split: Float[Array, "batch position three"], heads: int) -> Float[Array, "batch position width"]:
    """What every head pulls together, from queries, keys and values side by side; in plain operations."""
    batch, length, width = split.shape[0], split.shape[1], split.shape[2] // 3
    query, key, value = jnp.moveaxis(split.reshape(batch, length, 3, heads, -1), (2, 3), (0, 2))
    scores = (query @ key.mT).astype(jnp.float32) / np.sqrt(query.shape[-1]).astype(np.float32)
    causal = np.tril(np.ones((length, length), bool))[None, None]
    attention = jax.nn.softmax(scores, axis=-1, where=causal).astype(split.dtype)
    return jnp.moveaxis(attention @ value, 1, 2).reshape(batch, length, width)


@functools.partial(jax.custom_vjp, nondiff_argnums=(1, 2))
def attended_on_chip(split: Float[Array, "batch position three"], heads: int, interpret: bool = False):
    """The same in one kernel, and one more for its gradient."""
    batch, length, width = split.shape[0], split.shape[1], split.shape[2] // 3
    out = jax.ShapeDtypeStruct((batch, length, width), split.dtype)
    return _called(_pull, out, split, heads=heads, interpret=interpret)(split)


def _forward(split, heads, interpret):
    return attended_on_chip(split, heads, interpret), split


def _backward(heads, interpret, split, slope):
    out = jax.ShapeDtypeStruct(split.shape, split.dtype)
    return (_called(_push, out, split, heads=heads, interpret=interpret)(split, slope),)


attended_on_chip.defvjp(_forward, _backward)


def _called(kernel, out: jax.ShapeDtypeStruct, split: Array, heads: int, interpret: bool):
    length, dim = split.shape[1], split.shape[2] // (3 * heads)
    return pallas.pallas_call(
        functools.partial(kernel, length=length, dim=dim, heads=heads),
        out_shape=out,
        grid=(split.shape[0], heads),
        compiler_params=triton.CompilerParams(num_warps=8 if dim > 64 else 4, num_stages=1),
        interpret=interpret,
    )


def _power(number: int) -> int:
    """A power of two, 16 or more: what a product on the chip is made of."""
    return max(16, 1 << (number - 1).bit_length())


class _Head:
    """The places of one head of one sequence in memory, with room up to powers of two."""

    def __init__(self, length: int, dim: int, heads: int):
        self.sequence, self.head = pallas.program_id(0), pallas.program_id(1)
        self.length, self.dim, self.heads = length, dim, heads
        rows, columns = jnp.arange(_power(length)), jnp.arange(_power(dim))
        self.inside = (rows[:, None] < length) & (columns[None] < dim)
        self.causal = (rows[:, None] >= rows[None]) & (rows[None] < length)

    def place(self, ref, part: int):
        start = (part * self.heads + self.head) * self.dim
        return ref.at[self.sequence, pallas.ds(0, _power(self.length)), pallas.ds(start, _power(self.dim))]

    def read(self, ref, part: int = 0):
        return triton.load(self.place(ref, part), mask=self.inside, other=0)

    def write(self, ref, value, part: int = 0):
        triton.store(self.place(ref, part), value.astype(ref.dtype), mask=self.inside)

    def attention(self, query, key):
        scores = triton.dot(query, key, trans_b=True) * np.float32(self.dim**-0.5)
        scores = jnp.where(self.causal, scores, -1e30)
        raised = jnp.exp(scores - jnp.max(scores, axis=1, keepdims=True))
        return raised / jnp.sum(raised, axis=1, keepdims=True)


def _pull(split, out, *, length: int, dim: int, heads: int) -> None:
    here = _Head(length, dim, heads)
    attention = here.attention(here.read(split, 0), here.read(split, 1))
    value = here.read(split, 2)
    here.write(out, triton.dot(attention.astype(value.dtype), value))


def _push(split, slope, out, *, length: int, dim: int, heads: int) -> None:
    """d(sum of slope x pulled) with respect to queries, keys and values."""
    here = _Head(length, dim, heads)
    query, key, value, slopes = here.read(split, 0), here.read(split, 1), here.read(split, 2), here.read(slope)
    attention = here.attention(query, key)
    here.write(out, triton.dot(attention.astype(slopes.dtype), slopes, trans_a=True), 2)
    change = triton.dot(slopes, value, trans_b=True)
    change = attention * (change - jnp.sum(change * attention, axis=1, keepdims=True)) * np.float32(dim**-0.5)
    change = change.astype(query.dtype)
    here.write(out, triton.dot(change, key), 0)
    here.write(out, triton.dot(change, query, trans_a=True), 1)
