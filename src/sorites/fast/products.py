"""Matrix products whose derivatives a CPU computes faster. Values and derivatives are those of `@`, in every mode.

Each is a `jax.custom_jvp` whose tangent is written so that its transpose, the gradient, has the fast order of
operations.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .device import on_gpu

FEW = 16  # queries up to which a CPU sums outer products faster than it multiplies


def product(rows: Array, weight: Array, compute=None) -> Array:
    """Multiply rows by a weight.

    Args:
        rows: any number of axes; the last one is contracted.
        weight: a matrix.
        compute: the type in which to multiply, None for the type of the rows.

    Returns:
        `rows @ weight` in the type of the rows.
    """
    if compute is not None:
        return (rows.astype(compute) @ weight.astype(compute)).astype(rows.dtype)
    if on_gpu():
        return rows @ weight
    return _linear(rows.reshape(-1, rows.shape[-1]), weight).reshape(*rows.shape[:-1], weight.shape[1])


@jax.custom_jvp
def _linear(rows: Float[Array, "row source"], weight: Float[Array, "source target"]) -> Float[Array, "row target"]:
    return rows @ weight


@_linear.defjvp
def _linear_tangent(primals, tangents):
    (rows, weight), (d_rows, d_weight) = primals, tangents
    if weight.shape[0] >= 2 * weight.shape[1]:  # the gradient is (gradient.T @ rows).T; the barrier keeps this order
        by_weight = (jax.lax.optimization_barrier(d_weight.T) @ rows.T).T
    else:
        by_weight = rows @ d_weight
    return rows @ weight, d_rows @ weight + by_weight


def plain_scores(queries: Array, keys: Array) -> Array:
    """Multiply each query with each key.

    Args:
        queries: "*batch query dim".
        keys: "*batch position dim".

    Returns:
        `queries @ keys.mT`.
    """
    return queries @ keys.mT


def scores(
    queries: Float[Array, "*batch query dim"], keys: Float[Array, "*batch position dim"]
) -> Float[Array, "*batch query position"]:
    """Multiply each query with each key.

    Args:
        queries: if they are few, the gradient of the keys is a sum of outer products.
        keys: one per position.

    Returns:
        `queries @ keys.mT`.
    """
    return _few_scores(queries, keys) if _are_few(queries) else plain_scores(queries, keys)


def mixture(
    weights: Float[Array, "*batch query position"], values: Float[Array, "*batch position dim"]
) -> Float[Array, "*batch query dim"]:
    """Sum the values by the attention of each query.

    Args:
        weights: attention; if the queries are few, the gradient of the values is a sum of outer products.
        values: one per position.

    Returns:
        `weights @ values`.
    """
    return _few_mixture(weights, values) if _are_few(weights) else weights @ values


def _are_few(queries: Array) -> bool:
    return not on_gpu() and queries.shape[-2] <= FEW


@jax.custom_jvp
def _few_scores(queries: Array, keys: Array) -> Array:
    return plain_scores(queries, keys)


@_few_scores.defjvp
def _few_scores_tangent(primals, tangents):
    (queries, keys), (d_queries, d_keys) = primals, tangents
    each = [jnp.sum(queries[..., row, None, :] * d_keys, axis=-1) for row in range(queries.shape[-2])]
    return plain_scores(queries, keys), plain_scores(d_queries, keys) + jnp.stack(each, axis=-2)


@jax.custom_jvp
def _few_mixture(weights: Array, values: Array) -> Array:
    return weights @ values


@_few_mixture.defjvp
def _few_mixture_tangent(primals, tangents):
    (weights, values), (d_weights, d_values) = primals, tangents
    each = [jnp.sum(weights[..., row, :, None] * d_values, axis=-2) for row in range(weights.shape[-2])]
    return weights @ values, d_weights @ values + jnp.stack(each, axis=-2)
