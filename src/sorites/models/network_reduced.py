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
from .network import Block, Network, along, between, product, wide, working_type
from .network_lean import lean

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
    if last and jax.default_backend() == "gpu":  # of one layer few rows meet a norm: fewer than there are weights
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
        x = x + block.feed_forward(x.reshape(-1, x.shape[-1]), compute).reshape(x.shape)  # faster over rows, on a CPU
    return model.final(x.astype(model.tokens.dtype)) @ model.tokens.T, tuple(maps)


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
    attention = _softmax(query @ key.mT / np.sqrt(query.shape[-1]).astype(stream.dtype), first)
    mixed = jnp.moveaxis(attention @ value, 1, 2).reshape(batch, length - first, -1)
    x = jnp.einsum("btv,tvw->btw", pick[:, first:], stream[first:])
    return x + block.out(mixed, compute), attention


def _layer_of_bits(model: Network, block: Block, bits: Array, first: int, compute) -> tuple[Array, Array]:
    """Attention from tables over (position, bit)."""
    heads, length = model.architecture.heads, bits.shape[1]
    stream = model.tokens[None] + model.positions[:length, None]  # [position, bit, width]
    split = block.project(block.first(stream), compute).reshape(length, 2, 3, heads, -1)
    query, key, value = split[first:, :, 0], split[:, :, 1], split[:, :, 2]
    table = jnp.einsum("qahd,jbhd->hqajb", query, key) / np.sqrt(query.shape[-1]).astype(bits.dtype)
    still, turned = table[..., 0], table[..., 1] - table[..., 0]  # what a key of bit 0 scores, and what bit 1 adds
    own = bits[:, None, first:, None] > 0
    seen = bits[:, None, None, :]
    scores = jnp.where(
        own,
        still[None, :, :, 1] + seen * turned[None, :, :, 1],
        still[None, :, :, 0] + seen * turned[None, :, :, 0],
    )
    attention = _softmax(scores, first)
    weights = jnp.concatenate([attention, attention * seen], axis=-1)  # over 2T table rows
    rows = jnp.concatenate([value[:, 0], value[:, 1] - value[:, 0]])  # [2T, head, dim]
    if (heads - 1) * 2 * length < model.architecture.width:  # fewer products with the output map in the table
        out = block.out.weight.reshape(heads, -1, block.out.weight.shape[1])
        rows = jnp.einsum("jhd,hdw->hjw", rows, out).reshape(heads * 2 * length, -1)
        spread = jnp.moveaxis(weights, 1, 2).reshape(len(bits), length - first, -1)
        mixed = product(spread, rows, compute)
        mixed = mixed + along(block.out.bias, mixed)
    else:
        mixed = jnp.einsum("bhqj,jhd->bqhd", weights, rows)
        mixed = block.out(mixed.reshape(*mixed.shape[:2], -1), compute)
    held = stream[first:, 0][None] + bits[:, first:, None] * (stream[first:, 1] - stream[first:, 0])[None]
    return held + mixed, attention


def _shared_layers(model: Network, bits: Array, shared: Beginnings, compute) -> Float[Array, "row width"]:
    """The stream that enters the last layer; positions where sequences begin alike are computed once."""
    block, heads = model.blocks[0], model.architecture.heads
    every = jnp.asarray(shared.bits, bits.dtype)
    first, _ = _layer_of_bits(model, block, every, 0, compute)
    rest, _ = _layer_of_bits(model, block, bits, shared.depth, compute)
    x = between(shared.rows(first, rest), compute)
    x = x + block.feed_forward(x, compute)
    for block in model.blocks[1:-1]:
        split = block.project(block.first(x), compute)
        pulled = _kernel(split.dtype, shared.length, split.shape[1] // (3 * heads)) or attended
        x = between(x + block.out(pulled(split, shared, heads), compute), compute)
        x = x + block.feed_forward(x, compute)
    return x


def _layer_of_rows(model: Network, block: Block, rows: Array, first: int, compute, shared: Beginnings):
    """The last layer, where sequences that begin alike were one until now."""
    kernel = _query_kernel(model, rows, shared, first)
    if kernel is None:
        return _later_layer(model, block, shared.whole(rows), first, compute, look=False)
    return kernel(model, block, rows, shared, first, compute), None


def _kernel(kind, length: int, dim: int) -> Callable | None:
    """Attention in one kernel, where that is faster: on a GPU, of short sequences."""
    if jax.default_backend() != "gpu" or kind == jnp.float64:
        return None
    from .attention_kernel import attended_on_chip, fits

    return attended_on_chip if fits(length, dim) else None


def _pays(heads: int, length: int, width: int, first: int) -> bool:
    """Whether few ask: then no position needs a key or a value of its own."""
    return first > 0 and (length - first) * (width + heads * length) < length * width


def _query_kernel(model: Network, rows: Array, of: Beginnings, first: int) -> Callable | None:
    """The same for few queries: in half precision, for in float32 it was slower."""
    heads, width = model.architecture.heads, rows.shape[1]
    if jax.default_backend() != "gpu" or rows.dtype != jnp.bfloat16 or not _pays(heads, of.length, width, first):
        return None
    from .query_kernel import fits

    return _few_on_chip if fits(of, (of.length - first) * heads, width) else None


def _later_layer(
    model: Network, block: Block, x: Array, first: int, compute, look: bool = True
) -> tuple[Array, Array | None]:
    """A layer over a stream of its own at every position, in the form that costs least."""
    heads, (_, length, width) = model.architecture.heads, x.shape
    if _pays(heads, length, width, first):
        return _few_queries(model, block, x, first, compute)
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
    attention = _softmax(scores, first).astype(x.dtype)
    mixed = jnp.moveaxis(attention.astype(working) @ value, 1, 2).astype(x.dtype)
    return x[:, first:] + block.out(mixed.reshape(batch, length - first, width), compute), attention


def _few_queries(model: Network, block: Block, x: Array, first: int, compute) -> tuple[Array, Array]:
    """No position has a key or a value of its own: q (W_k x_j) = (W_k^T q) x_j, and the values' map acts on what was
    pulled together. The keys' bias shifts all scores of a query alike, which changes no attention."""
    heads, (batch, length, width), working = model.architecture.heads, x.shape, compute or x.dtype
    normed = block.first(x).astype(working)
    into = block.project.weight.reshape(width, 3, heads, -1).astype(working)
    bias = block.project.bias.reshape(3, 1, 1, heads, -1).astype(working)
    query = jnp.einsum("bqw,whd->bqhd", normed[:, first:], into[:, 0]) + bias[0]
    asked = jnp.einsum("bqhd,whd->bhqw", query, into[:, 1]).reshape(batch, -1, width)
    scores = (asked @ normed.mT).reshape(batch, heads, -1, length) / np.sqrt(query.shape[-1]).astype(working)
    attention = _softmax(scores, first)
    pulled = (attention.reshape(batch, -1, length) @ normed).reshape(batch, heads, -1, width)
    mixed = jnp.einsum("bhqw,whd->bqhd", pulled, into[:, 2]) + bias[2]
    mixed = jnp.asarray(mixed, x.dtype).reshape(batch, -1, width)
    return x[:, first:] + block.out(mixed, compute), attention.astype(x.dtype)


def _few_on_chip(
    model: Network, block: Block, rows: Array, of: Beginnings, first: int, compute
) -> Float[Array, "batch query width"]:
    """The same from rows, with one kernel between the products."""
    from .query_kernel import pulled_on_chip

    heads, width, working = model.architecture.heads, rows.shape[1], compute or rows.dtype
    normed = block.first(rows).astype(working)
    asking, stream = (of.parts(each)[1][:, first - of.depth :] for each in (normed, rows))
    into = block.project.weight.reshape(width, 3, heads, -1).astype(working)
    bias = block.project.bias.reshape(3, 1, 1, heads, -1).astype(working)
    query = jnp.einsum("bqw,whd->bqhd", asking, into[:, 0]) + bias[0]
    query = query / np.sqrt(query.shape[-1]).astype(working)
    pulled = pulled_on_chip(jnp.einsum("bqhd,whd->bqhw", query, into[:, 1]), normed, of)
    mixed = jnp.einsum("bqhw,whd->bqhd", pulled, into[:, 2]) + bias[2]
    return stream + block.out(jnp.asarray(mixed, stream.dtype).reshape(stream.shape), compute)


def _softmax(scores: Float[Array, "batch head query position"], first: int) -> Array:
    """Over the positions up to the query's own."""
    length = scores.shape[-1]
    causal = np.tril(np.ones((length, length), bool))[first:][None, None]
    return jax.nn.softmax(scores.astype(wide(scores)), axis=-1, where=causal).astype(scores.dtype)
