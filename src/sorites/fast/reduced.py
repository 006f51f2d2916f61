"""The network of `models/network.py`, doing only the work that the predictions depend on.

A position holds one of few tokens, so what the first layer computes before it attends is a table of a few rows per
position. A prefix of bits that sequences share is computed once. In the last layer only the positions that predict need
queries, a feed-forward layer and logits.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Num

from ..models.network import Block, Linear, Network, align, embed, working_type
from . import attention_kernel
from .device import on_gpu
from .few_queries import few_pay, few_queries
from .fused import gelu, norm_and_map
from .products import product
from .shared_prefix import SharedPrefix, attend, causal_softmax, shared_prefix


def logits(
    net: Network,
    pad: Float[Array, " width"],
    numbers: Num[Array, "batch position"],
    hidden: Bool[Array, "batch position"] | None,
    first: int,
    reverse_only: bool = False,
) -> Float[Array, "batch query vocab"]:
    """Return the logits at the positions from `first` on, without dropout.

    Args:
        net: the network.
        pad: the embedding of a hidden position.
        numbers: tokens; floats are soft bits, which embed to a mixture of the two tokens.
        hidden: which positions hold the pad, None for none.
        first: the first position that predicts.
        reverse_only: whether only reverse mode will differentiate the result; a GPU then attends in one kernel.

    Returns:
        What `net` gives at these positions.
    """
    compute, *later = working_type(net.architecture), *net.blocks[1:]
    batch, length = numbers.shape
    soft, start = not jnp.issubdtype(numbers.dtype, jnp.integer), 0 if later else first
    unshared = shared = SharedPrefix(0, length, jnp.zeros(batch, jnp.int32))
    if soft:
        rows = embed(net, pad, numbers, hidden).reshape(batch * length, -1)
        x = _attend(net.blocks[0], net.architecture.heads, rows, unshared, start, compute, reverse_only)
    elif hidden is None and len(net.tokens) == 2:
        bits = numbers.astype(net.tokens.dtype)
        if later and not (reverse_only and on_gpu()):  # whose kernel reads whole sequences
            shared = shared_prefix(bits, first)
        x = _bit_layer(net, bits, max(shared.depth, start), compute)
        if shared.depth:
            prefixes = jnp.asarray(shared.bits, bits.dtype)
            every = _bit_layer(net, prefixes, 0, compute).reshape(*prefixes.shape, -1)
            x = shared.rows(every, x.reshape(batch, length - shared.depth, -1))
    else:
        x = _token_layer(net, pad, numbers, hidden, start, compute)
    x = _feed_forward(net.blocks[0], x, compute, last=not later)
    for block in later:
        last = block is later[-1]
        x = _attend(block, net.architecture.heads, x, shared, first if last else 0, compute, reverse_only)
        x = _feed_forward(block, x, compute, last)
    return (net.final(x.astype(net.tokens.dtype)) @ net.tokens.T).reshape(batch, length - first, -1)


def _linear(linear: Linear, rows: Float[Array, "*rows source"], compute) -> Float[Array, "*rows target"]:
    return product(rows, linear.weight, compute) + align(linear.bias, rows).astype(rows.dtype)


def _feed_forward(block: Block, x: Float[Array, "row width"], compute, last: bool) -> Float[Array, "row width"]:
    """Between layers the residual stream is in the type of products."""
    x = x if last or compute is None else x.astype(compute)
    norm, up = norm_and_map(block.second, block.up, x)
    return x + _linear(block.down, gelu(_linear(up, norm(x), compute)), compute)


def _attend(
    block: Block, heads: int, rows: Array, shared: SharedPrefix, first: int, compute, reverse_only: bool
) -> Float[Array, "row width"]:
    """Attention and its residual connection at the positions from `first` on."""
    norm, project = norm_and_map(block.first, block.project, rows)
    normed, width = norm(rows), rows.shape[1]
    stream = shared.since(first, rows).reshape(-1, width) if first else rows
    if few_pay(heads, shared.length, width, first):
        mixed = few_queries(project, shared.whole(normed), first, heads, compute)
    else:
        split = _linear(project, normed, compute)
        if first:
            mixed = attend(shared.whole(split), first, heads)
        elif reverse_only and not shared.depth and attention_kernel.fits(split, shared.length, heads):
            kind = compute or split.dtype
            whole = shared.whole(split).astype(kind)
            mixed = jnp.asarray(attention_kernel.attend(whole, heads), rows.dtype)
        else:
            mixed = shared.attend(split, heads)
    return stream + _linear(block.out, mixed.reshape(-1, width), compute)


def _token_layer(net: Network, pad: Array, numbers: Array, hidden, first: int, compute) -> Float[Array, "row width"]:
    """The first layer for any tokens: projections of a table over (position, token), chosen by a one-hot product, whose
    gradient is no scatter."""
    block, heads, (batch, length) = net.blocks[0], net.architecture.heads, numbers.shape
    width, numbers = net.architecture.width, numbers if hidden is None else jnp.where(hidden, len(net.tokens), numbers)
    rows = jnp.concatenate([net.tokens, pad[None]])
    chosen = jax.nn.one_hot(numbers, len(rows), dtype=rows.dtype)
    stream = rows[None] + net.positions[:length, None]
    split = _linear(block.project, block.first(stream), compute)  # position token 3*width

    def choose(start: int, parts: int, since: int) -> Array:
        found = jnp.einsum("btv,tvw->btw", chosen[:, since:], split[since:, :, start : start + parts * width])
        return jnp.moveaxis(found.reshape(batch, length - since, parts, heads, -1), (2, 3), (0, 2))

    query, key, value = (*choose(0, 1, first), *choose(width, 2, 0))
    attention = causal_softmax(query @ key.mT / np.sqrt(query.shape[-1]).astype(stream.dtype), first)
    mixed = jnp.moveaxis(attention @ value, 1, 2).reshape(-1, width)
    x = jnp.einsum("btv,tvw->btw", chosen[:, first:], stream[first:])
    return x.reshape(-1, width) + _linear(block.out, mixed, compute)


def _bit_layer(net: Network, bits: Array, first: int, compute) -> Float[Array, "row width"]:
    """The first layer for bits: scores and values are linear in the bit, from tables over (position, bit)."""
    block, heads, (batch, length) = net.blocks[0], net.architecture.heads, bits.shape
    one = length - first == 1  # query is no axis then: sums around an axis of length 1 are slow on a CPU
    stream = net.tokens[None] + net.positions[:length, None]  # position bit width
    split = _linear(block.project, block.first(stream), compute).reshape(length, 2, 3, heads, -1)
    query, key, value = split[first:, :, 0], split[:, :, 1], split[:, :, 2]
    table = jnp.einsum("qahd,jbhd->hqajb", query, key) / np.sqrt(query.shape[-1]).astype(bits.dtype)
    asking, seen = bits[:, None, first:, None], bits[:, None, None]
    if one:
        table, asking, seen = table[:, 0], asking[:, :, 0], seen[:, :, 0]
    zero, change = table[None, ..., 0], (table[..., 1] - table[..., 0])[None]  # for a key of bit 0, and what bit 1 adds
    scores = jnp.where(
        asking > 0, zero[..., 1, :] + seen * change[..., 1, :], zero[..., 0, :] + seen * change[..., 0, :]
    )
    attention = causal_softmax(scores.reshape(batch, heads, -1, length), first)
    weights = jnp.concatenate([attention, attention * bits[:, None, None]], axis=-1)  # over 2 length rows
    rows = jnp.concatenate([value[:, 0], value[:, 1] - value[:, 0]])
    if (heads - 1) * 2 * length < net.architecture.width:  # fewer products with the output map in the table
        out = block.out.weight.reshape(heads, -1, block.out.weight.shape[1])
        rows = jnp.einsum("jhd,hdw->hjw", rows, out).reshape(heads * 2 * length, -1)
        mixed = product(jnp.moveaxis(weights, 1, 2).reshape(batch * (length - first), -1), rows, compute)
        mixed = mixed + align(block.out.bias, mixed)
    else:
        mixed = jnp.einsum("bhqj,jhd->bqhd", weights, rows)
        mixed = _linear(block.out, mixed.reshape(batch * (length - first), -1), compute)
    start, bit = stream[first:, 0][None], bits[:, first:, None]
    turn = stream[first:, 1][None] - start
    own = start[:, 0] + bit[:, 0] * turn[:, 0] if one else start + bit * turn
    return own.reshape(mixed.shape) + mixed
