"""A layer of which few positions are asked: q (W_k x_j) = (W_k^T q) x_j, so no position needs a key or a value of its
own. Exact: see tests/models/test_attention_kernel.py."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .beginnings import Beginnings
from .network import Block, Network, wide
from .product import on_gpu


def few_pay(heads: int, length: int, width: int, first: int) -> bool:
    """Whether those from `first` on are so few that this costs less than keys and values."""
    return first > 0 and (length - first) * (width + heads * length) < length * width


def few_queries(
    model: Network,
    block: Block,
    normed: Float[Array, "batch position width"],
    stream: Float[Array, "batch query width"],
    compute,
) -> tuple[Array, Array]:
    """From the normed stream of every position, and the stream of those that ask. The values' map acts on what was
    pulled together. The keys' bias shifts all scores of a query alike: that changes no attention."""
    heads, (batch, length, width), working = model.architecture.heads, normed.shape, compute or normed.dtype
    normed, first = normed.astype(working), length - stream.shape[1]
    into, bias = _per_head(block, heads, working)
    query = jnp.einsum("bqw,whd->bqhd", normed[:, first:], into[:, 0]) + bias[0]
    asked = jnp.einsum("bqhd,whd->bhqw", query, into[:, 1]).reshape(batch, -1, width)
    read = jnp.pad(normed, ((0, 0), (0, unseen(length, working)), (0, 0)))  # places that nobody sees
    look = _looked_up if on_gpu() else _looked_up_once
    pulled, attention = look(asked, read, heads, first)
    mixed = jnp.einsum("bhqw,whd->bqhd", pulled.reshape(batch, heads, -1, width), into[:, 2]) + bias[2]
    mixed = jnp.asarray(mixed, stream.dtype).reshape(stream.shape)
    return stream + block.out(mixed, compute), attention[..., :length].astype(stream.dtype)


def _looked_up(
    asked: Float[Array, "batch row width"], read: Float[Array, "batch place width"], heads: int, first: int
) -> tuple[Float[Array, "batch row width"], Float[Array, "batch head query place"]]:
    """What every query of every head pulls together from the places, and its attention."""
    batch, rows, width = asked.shape
    scores = (asked @ read.mT).reshape(batch, heads, rows // heads, -1)
    attention = causal_softmax(scores / np.sqrt(width // heads).astype(scores.dtype), first)
    return attention.reshape(batch, rows, -1) @ read, attention


# The same; the slope of the places, which are keys and values at once, is one product: a CPU takes 93 us for it instead
# of 2 x 271, with two heads that ask once in 128 x 21 places of width 64. `jax.jvp` is refused here.
_looked_up_once = jax.custom_vjp(_looked_up, nondiff_argnums=(2, 3))


def _look(asked: Array, read: Array, heads: int, first: int):
    pulled, attention = _looked_up(asked, read, heads, first)
    return (pulled, attention), (asked, read, attention)


def _slopes(heads: int, first: int, kept: tuple[Array, Array, Array], slopes: tuple[Array, Array]):
    (asked, read, attention), (of_pulled, of_attention) = kept, slopes
    attention = attention.reshape(*asked.shape[:2], -1)
    of_attention = (of_attention.reshape(attention.shape) + of_pulled @ read.mT).astype(wide(asked))
    centred = of_attention - jnp.sum(attention * of_attention, axis=-1, keepdims=True)
    of_scores = (attention * centred).astype(asked.dtype) / np.sqrt(asked.shape[2] // heads).astype(asked.dtype)
    weights, rows = jnp.concatenate([of_scores, attention], axis=1), jnp.concatenate([asked, of_pulled], axis=1)
    return of_scores @ read, weights.mT @ rows


_looked_up_once.defvjp(_look, _slopes)


def unseen(length: int, working) -> int:
    """Places to add: a GPU multiplies rows of float32 faster where they are a multiple of 16 bytes."""
    return -length % 4 if on_gpu() and working == jnp.float32 else 0


def _per_head(
    block: Block, heads: int, working
) -> tuple[Float[Array, "width 3 head dim"], Float[Array, "3 1 1 head dim"]]:
    """The maps into queries, keys and values, and their biases."""
    weight, bias = block.project.weight, block.project.bias
    return weight.reshape(len(weight), 3, heads, -1).astype(working), bias.reshape(3, 1, 1, heads, -1).astype(working)


def one_kernel(model: Network, rows: Array, of: Beginnings, first: int) -> bool:
    """Whether scores and attention can stay on the chip: on a GPU in half precision, for in float32 it was slower."""
    heads, width = model.architecture.heads, rows.shape[1]
    if not on_gpu() or rows.dtype != jnp.bfloat16 or not few_pay(heads, of.length, width, first):
        return False
    from .query_kernel import fits

    return fits(of, (of.length - first) * heads, width)


def few_queries_of_rows(
    model: Network, block: Block, rows: Array, of: Beginnings, first: int, compute
) -> Float[Array, "batch query width"]:
    """The same from rows, with one kernel between the products."""
    from .query_kernel import pulled_on_chip

    heads, working = model.architecture.heads, compute or rows.dtype
    normed = block.first(rows).astype(working)
    asking, stream = (of.since(first, each) for each in (normed, rows))
    into, bias = _per_head(block, heads, working)
    query = jnp.einsum("bqw,whd->bqhd", asking, into[:, 0]) + bias[0]
    query = query / np.sqrt(query.shape[-1]).astype(working)
    pulled = pulled_on_chip(jnp.einsum("bqhd,whd->bqhw", query, into[:, 1]), normed, of)
    mixed = jnp.einsum("bqhw,whd->bqhd", pulled, into[:, 2]) + bias[2]
    return stream + block.out(jnp.asarray(mixed, stream.dtype).reshape(stream.shape), compute)


def causal_softmax(scores: Float[Array, "batch head query position"], first: int) -> Array:
    """Over the positions up to the query's own."""
    queries, length = scores.shape[-2:]
    if first + 1 == length and not on_gpu():  # one query, which sees all: over rows a CPU is faster
        rows = jax.nn.softmax(scores.reshape(-1, length).astype(wide(scores)), axis=-1)
        return rows.reshape(scores.shape).astype(scores.dtype)
    causal = (np.arange(length)[None] <= first + np.arange(queries)[:, None])[None, None]
    softmax = parted_softmax if on_gpu() else jax.nn.softmax
    return softmax(scores.astype(wide(scores)), axis=-1, where=causal).astype(scores.dtype)


def parted_softmax(scores: Array, axis: int, where: Array | np.ndarray) -> Array:
    """The same with its sums behind barriers. What a GPU's compiler recognises as a softmax it tries to fuse with all
    that is around it, and looks for tiles over up to five axes: half of the compilation (docs/history/speed.md)."""
    scores = jnp.where(where, scores, -1e30)
    most = jax.lax.stop_gradient(scores.max(axis, keepdims=True))
    raised = jnp.exp(scores - jax.lax.optimization_barrier(most))
    return raised / jax.lax.optimization_barrier(raised.sum(axis, keepdims=True))
