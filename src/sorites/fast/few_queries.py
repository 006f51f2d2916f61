"""A layer with few queries: q (W_k x) = (W_k^T q) x, so keys and values need not be computed."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..models.network import Linear
from .shared_prefix import causal_softmax


def few_pay(heads: int, length: int, width: int, first: int) -> bool:
    """Return whether a layer costs less without keys and values.

    Args:
        heads: how many heads share the width.
        length: positions of a sequence.
        width: of the stream.
        first: the first position that attends.

    Returns:
        True if the queries are few.
    """
    return first > 0 and (length - first) * (width + heads * length) < length * width


def few_queries(
    project: Linear, normed: Float[Array, "batch position width"], first: int, heads: int, compute
) -> Float[Array, "batch query width"]:
    """Return attention of the positions from `first` on, without keys and values.

    The map of the values is applied to the mixture of the normed stream. The bias of the keys shifts all scores of a
    query alike and changes no attention.

    Args:
        project: the map into queries, keys and values.
        normed: the stream of every position, after the norm.
        first: the first position that attends.
        heads: how many heads share the width.
        compute: the type in which to multiply, None for that of the stream.

    Returns:
        The mixed values of all heads, side by side.
    """
    batch, length, width = normed.shape
    kind, working = normed.dtype, compute or normed.dtype
    weight = project.weight.reshape(width, 3, heads, -1).astype(working)
    bias = project.bias.reshape(3, 1, 1, heads, -1).astype(working)
    normed = normed.astype(working)
    query = jnp.einsum("bqw,whd->bqhd", normed[:, first:], weight[:, 0]) + bias[0]
    asked = jnp.einsum("bqhd,whd->bhqw", query, weight[:, 1]).reshape(batch, -1, width)
    scores = (asked @ normed.mT).reshape(batch, heads, -1, length)
    attention = causal_softmax(scores / np.sqrt(width // heads).astype(working), first)
    mixed = (attention.reshape(batch, -1, length) @ normed).reshape(batch, heads, -1, width)
    values = jnp.einsum("bhqw,whd->bqhd", mixed, weight[:, 2]) + bias[2]
    return jnp.asarray(values, kind).reshape(batch, -1, width)
