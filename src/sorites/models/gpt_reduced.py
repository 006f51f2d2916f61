"""The same GPT on bits, doing only the work that the answer depends on. Exact: see tests/models/test_gpt.py.

Two reductions. A position holds one of two bits, so what layer one computes before it attends is a table of 2T rows,
whatever the batch. And only the supervised positions are asked: the last layer needs queries, feed-forward and head
there alone.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from .gpt import GPT, Block, along, product, wide, working_type

Maps = tuple[Float[Array, "batch head _query position"], ...]


def answers(
    model: GPT, tokens: Int[Array, "batch position"], queries: tuple[int, ...]
) -> tuple[Float[Array, "batch query 2"], Maps]:
    """Logits at the queries, a contiguous range that ends the sequence; attention of every layer at the rows that it
    computes: all positions, in the last layer the queries."""
    length, compute = tokens.shape[1], working_type(model.architecture)
    assert queries == tuple(range(length - len(queries), length))
    assert model.tokens.shape[0] == 2
    last = len(model.blocks) - 1
    bits = tokens.astype(model.tokens.dtype)
    x, maps = bits, []
    for number, block in enumerate(model.blocks):
        first = queries[0] if number == last else 0
        layer = _later_layer if number else _first_layer  # which reads the bits themselves
        x, attention = layer(model, block, x, first, compute)
        maps.append(attention)
        x = x + block.feed_forward(x, compute)
    return model.final(x) @ model.tokens.T, tuple(maps)


def _first_layer(model: GPT, block: Block, bits: Array, first: int, compute) -> tuple[Array, Array]:
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


def _later_layer(model: GPT, block: Block, x: Array, first: int, compute) -> tuple[Array, Array]:
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


def _softmax(scores: Float[Array, "batch head query position"], first: int) -> Array:
    """Over the positions up to the query's own."""
    length = scores.shape[-1]
    causal = np.tril(np.ones((length, length), bool))[first:][None, None]
    return jax.nn.softmax(scores.astype(wide(scores)), axis=-1, where=causal).astype(scores.dtype)
