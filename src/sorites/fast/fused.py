"""Norms and GELU that read and write memory less often, for a GPU, where memory traffic takes most of a step."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..models.network import Linear, Norm, standardize, tanh_gelu
from .device import on_gpu


def norm_and_map(norm: Norm, linear: Linear, rows: Float[Array, "*rows width"]) -> tuple[Callable, Linear]:
    """Return a norm and the linear map behind it, in the form that is faster for these rows.

    On a GPU, if the rows have more entries than the weight, scale and shift of the norm are folded into the map:
    (s x + t) W + b = x (s W) + (t W + b). Their gradients are then sums over weights, not over every row.

    Args:
        norm: the norm.
        linear: the map that is applied after it.
        rows: what the norm will be applied to.

    Returns:
        A function that normalises, and the map to apply to its result.
    """
    return (_standardize, folded(norm, linear)) if on_gpu() and rows.size > linear.weight.size else (norm, linear)


def _standardize(x: Array) -> Array:
    return standardize(x).astype(x.dtype)


def folded(norm: Norm, linear: Linear) -> Linear:
    """Return the map with the scale and the shift of the norm folded into it.

    Args:
        norm: the norm.
        linear: the map that is applied after it.

    Returns:
        The map to apply to a standardized stream. It is computed elementwise, so its gradient is no product.
    """
    shift = jnp.sum(norm.shift[:, None] * linear.weight, axis=0)
    return Linear(norm.scale[:, None] * linear.weight, linear.bias + shift)


def gelu(x: Float[Array, "*rows hidden"]) -> Float[Array, "*rows hidden"]:
    """Return the tanh-GELU. On a GPU its gradient keeps x alone and computes the rest again.

    Args:
        x: the input.

    Returns:
        An array shaped as x.
    """
    return jax.checkpoint(tanh_gelu)(x) if on_gpu() else tanh_gelu(x)


def softmax(scores: Array, seen: np.ndarray) -> Array:
    """Return the softmax over the last axis, of the entries that are seen.

    On a GPU its sums stand behind barriers. XLA otherwise recognises a softmax and searches for tiles over all axes
    around it, which takes half of the compilation.

    Args:
        scores: of any axes.
        seen: which entries count, with as many axes.

    Returns:
        Weights that sum to one over the last axis.
    """
    if not on_gpu():
        return jax.nn.softmax(scores, axis=-1, where=seen)
    scores = jnp.where(seen, scores, -1e30)
    most = jax.lax.stop_gradient(scores.max(axis=-1, keepdims=True))
    raised = jnp.exp(scores - jax.lax.optimization_barrier(most))
    return raised / jax.lax.optimization_barrier(raised.sum(axis=-1, keepdims=True))
