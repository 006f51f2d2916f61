"""The same network, doing only the work that the answer depends on. Exact: see tests/models/test_network.py.

Three reductions. A position holds one of few tokens, so what layer one computes before it attends is a table of a few
rows per position, whatever the batch. Sequences of bits that begin alike are one up to where they part
(`beginnings.py`). And only the supervised positions are asked: the last layer needs queries, feed-forward and head
there alone.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Num

from .beginnings import Beginnings, attended, beginnings
from .few_queries import causal_softmax, few_pay, few_queries, few_queries_of_rows, one_kernel
from .network import Block, Network, Standard, along, between, tanh_gelu, working_type
from .network_lean import gelu, lean
from .product import on_gpu, product

Maps = tuple[Float[Array, "batch head _query position"] | None, ...]


def answers(
    model: Network, tokens: Int[Array, "batch position"], queries: tuple[int, ...]
) -> tuple[Float[Array, "batch query vocab"], Maps]:
    """Logits at the queries, a contiguous range that ends the sequence; attention of every layer at the rows that it
    computes: all positions, in the last layer the queries."""
    assert queries == tuple(range(tokens.shape[1] - len(queries), tokens.shape[1]))
    return reduced(model, jnp.zeros_like(model.tokens[0]), tokens, None, queries[0])


def reduced(
    model: Network,
    pad: Float[Array, " width"],
    numbers: Num[Array, "batch position"],
    hidden: Bool[Array, "batch position"] | None,
    asked: int,
    look: bool = True,
) -> tuple[Float[Array, "batch query vocab"], Maps]:
    """Logits from position `asked` on. Hidden positions hold the pad; soft bits (floats) hold a mixture of two
    tokens. Where nobody is to `look`, a layer may come without its map."""
    compute, last = working_type(model.architecture), len(model.blocks) - 1
    if last and on_gpu():  # of one layer few rows meet a norm: fewer than there are weights
        model = lean(model)
    x: Any
    soft = not jnp.issubdtype(numbers.dtype, jnp.integer)
    if hidden is None and not soft and model.tokens.shape[0] == 2:
        layer, x = _layer_of_bits, numbers.astype(model.tokens.dtype)
    elif soft:
        layer, x = _later_layer, embedded(model, pad, numbers, hidden)
    else:
        numbers = numbers if hidden is None else jnp.where(hidden, len(model.tokens), numbers)
        rows = jnp.concatenate([model.tokens, pad[None]])
        layer, x = _layer_of_tokens, (jax.nn.one_hot(numbers, len(rows), dtype=rows.dtype), rows)
    maps: list[Array | None] = []
    later: Callable = functools.partial(_later_layer, look=look)
    if layer is _layer_of_bits and last and not look:
        shared = beginnings(x, asked)
        if shared.depth:
            x, maps = _shared_layers(model, x, shared, compute), [None] * last
            later = functools.partial(_layer_of_rows, shared=shared)
    for number, block in enumerate(model.blocks[len(maps) :], start=len(maps)):
        first = asked if number == last else 0
        layer = later if number else layer
        x, attention = layer(model, block, x, first, compute)
        maps.append(attention)
        x = between(x, compute) if number < last else x
        rows = x.reshape(-1, x.shape[-1])  # faster so, on a CPU
        x = (rows + _fed(block, rows, compute)).reshape(x.shape)
    logits = model.final(x.reshape(-1, x.shape[-1]).astype(model.tokens.dtype)) @ model.tokens.T
    return logits.reshape(*x.shape[:2], -1), tuple(maps)


def _fed(block: Block, x: Float[Array, "row width"], compute) -> Float[Array, "row width"]:
    return block.feed_forward(x, compute, gelu if isinstance(block.second, Standard) else tanh_gelu)


def embedded(
    model: Network, pad: Array, numbers: Num[Array, "*batch position"], hidden
) -> Float[Array, "*batch position width"]:
    """The residual stream before the first block."""
    if jnp.issubdtype(numbers.dtype, jnp.integer):
        x = model.tokens[numbers]
    else:
        bits = numbers[..., None].astype(model.tokens.dtype)
        first, second = (along(row, bits) for row in model.tokens)
        x = (1 - bits) * first + bits * second
    x = x if hidden is None else jnp.where(hidden[..., None], along(pad, x), x)
    return x + jnp.expand_dims(model.positions[: numbers.shape[-1]], tuple(range(x.ndim - 2)))


def _layer_of_tokens(
    model: Network, block: Block, held: tuple[Array, Array], first: int, compute
) -> tuple[Array, Array]:
    """Few tokens: projections of a table over (position, token), picked by a one-hot product, whose gradient is no
    scatter."""
    (pick, rows), heads, width = held, model.architecture.heads, model.architecture.width
    batch, length = pick.shape[:2]
    stream = rows[None] + model.positions[:length, None]
    split = block.project(block.first(stream), compute)  # position token 3*width

    def picked(start: int, parts: int, since: int) -> Array:
        chosen = jnp.einsum("btv,tvw->btw", pick[:, since:], split[since:, :, start : start + parts * width])
        return jnp.moveaxis(chosen.reshape(batch, length - since, parts, heads, -1), (2, 3), (0, 2))

    query, key, value = (*picked(0, 1, first), *picked(width, 2, 0))
    attention = causal_softmax(query @ key.mT / np.sqrt(query.shape[-1]).astype(stream.dtype), first)
    mixed = jnp.moveaxis(attention @ value, 1, 2).reshape(batch, length - first, -1)
    x = jnp.einsum("btv,tvw->btw", pick[:, first:], stream[first:])
    return x + block.out(mixed, compute), attention


def _layer_of_bits(model: Network, block: Block, bits: Array, first: int, compute) -> tuple[Array, Array]:
    """Attention from tables over (position, bit)."""
    heads, (batch, length) = model.architecture.heads, bits.shape
    one = length - first == 1  # query is no axis of its own: sums around an axis of length 1 are slow on a CPU
    stream = model.tokens[None] + model.positions[:length, None]  # [position, bit, width]
    split = block.project(block.first(stream), compute).reshape(length, 2, 3, heads, -1)
    query, key, value = split[first:, :, 0], split[:, :, 1], split[:, :, 2]
    table = jnp.einsum("qahd,jbhd->hqajb", query, key) / np.sqrt(query.shape[-1]).astype(bits.dtype)
    asking, seen = bits[:, None, first:, None], bits[:, None, None]
    if one:
        table, asking, seen = table[:, 0], asking[:, :, 0], seen[:, :, 0]
    still, turned = table[None, ..., 0], (table[..., 1] - table[..., 0])[None]  # bit 0 of a key, and what bit 1 adds
    scores = jnp.where(
        asking > 0,
        still[..., 1, :] + seen * turned[..., 1, :],
        still[..., 0, :] + seen * turned[..., 0, :],
    )
    attention = causal_softmax(scores.reshape(batch, heads, -1, length), first)
    weights = jnp.concatenate([attention, attention * bits[:, None, None]], axis=-1)  # over 2T table rows
    rows = jnp.concatenate([value[:, 0], value[:, 1] - value[:, 0]])  # [2T, head, dim]
    if (heads - 1) * 2 * length < model.architecture.width:  # fewer products with the output map in the table
        out = block.out.weight.reshape(heads, -1, block.out.weight.shape[1])
        rows = jnp.einsum("jhd,hdw->hjw", rows, out).reshape(heads * 2 * length, -1)
        mixed = product(jnp.moveaxis(weights, 1, 2).reshape(batch * (length - first), -1), rows, compute)
        mixed = mixed + along(block.out.bias, mixed)
    else:
        mixed = jnp.einsum("bhqj,jhd->bqhd", weights, rows)
        mixed = block.out(mixed.reshape(batch * (length - first), -1), compute)
    zero, bit = stream[first:, 0][None], bits[:, first:, None]
    turn = stream[first:, 1][None] - zero
    held = zero[:, 0] + bit[:, 0] * turn[:, 0] if one else zero + bit * turn
    return (held.reshape(mixed.shape) + mixed).reshape(batch, length - first, -1), attention


def _shared_layers(model: Network, bits: Array, shared: Beginnings, compute) -> Float[Array, "row width"]:
    """The stream that enters the last layer; positions where sequences begin alike are computed once."""
    block, heads = model.blocks[0], model.architecture.heads
    every = jnp.asarray(shared.bits, bits.dtype)
    first, _ = _layer_of_bits(model, block, every, 0, compute)
    rest, _ = _layer_of_bits(model, block, bits, shared.depth, compute)
    x = between(shared.rows(first, rest), compute)
    x = x + _fed(block, x, compute)
    for block in model.blocks[1:-1]:
        split = block.project(block.first(x), compute)
        pulled = _kernel(split.dtype, shared.length, split.shape[1] // (3 * heads)) or attended
        x = between(x + block.out(pulled(split, shared, heads), compute), compute)
        x = x + _fed(block, x, compute)
    return x


def _layer_of_rows(model: Network, block: Block, rows: Array, first: int, compute, shared: Beginnings):
    """The last layer, where sequences that begin alike were one until now."""
    if one_kernel(model, rows, shared, first):
        return few_queries_of_rows(model, block, rows, shared, first, compute), None
    if few_pay(model.architecture.heads, shared.length, rows.shape[1], first):
        normed = shared.whole(block.first(rows))
        return few_queries(model, block, normed, shared.since(first, rows), compute)
    return _every_position(model, block, shared.whole(rows), first, compute)


def _kernel(kind, length: int, dim: int) -> Callable | None:
    """Attention in one kernel, on a GPU, of short sequences; measured at width 720 (docs/history/speed.md)."""
    if not on_gpu() or kind == jnp.float64:
        return None
    from .attention_kernel import attended_on_chip, fits

    return attended_on_chip if fits(length, dim) else None


def _later_layer(
    model: Network, block: Block, x: Array, first: int, compute, look: bool = True
) -> tuple[Array, Array | None]:
    """A layer over a stream of its own at every position, in the form that costs least."""
    heads, (_, length, width) = model.architecture.heads, x.shape
    if few_pay(heads, length, width, first):
        return few_queries(model, block, block.first(x), x[:, first:], compute)
    kernel = None if first or look else _kernel(compute or x.dtype, length, width // heads)
    if kernel is not None:
        split = block.project(block.first(x), compute)
        alone = Beginnings(0, length, jnp.zeros(len(x), jnp.int32))
        mixed = kernel(split.reshape(-1, 3 * width).astype(compute or x.dtype), alone, heads)
        return x + block.out(mixed.reshape(x.shape).astype(x.dtype), compute), None
    return _every_position(model, block, x, first, compute)


def _every_position(model: Network, block: Block, x: Array, first: int, compute) -> tuple[Array, Array]:
    """Heads before positions: an accelerator then multiplies without rearranging the residual stream."""
    heads, (batch, length, width) = model.architecture.heads, x.shape
    normed, weight, bias = block.first(x), block.project.weight, block.project.bias
    working = compute or x.dtype

    def per_head(start: int, parts: int, since: int) -> Array:
        """[part, batch, head, position, dim] of the projections from column `start` on."""
        columns = slice(start, start + parts * width)
        rows = product(normed[:, since:], weight[:, columns], compute) + bias[columns].reshape(1, 1, -1)
        return jnp.moveaxis(rows.astype(working).reshape(batch, length - since, parts, heads, -1), (2, 3), (0, 2))

    query, key, value = (*per_head(0, 1, first), *per_head(width, 2, 0)) if first else per_head(0, 3, 0)
    scores = query @ key.mT / np.sqrt(query.shape[-1]).astype(working)
    attention = causal_softmax(scores, first).astype(x.dtype)
    mixed = jnp.moveaxis(attention.astype(working) @ value, 1, 2).astype(x.dtype)
    return x[:, first:] + block.out(mixed.reshape(batch, length - first, width), compute), attention
