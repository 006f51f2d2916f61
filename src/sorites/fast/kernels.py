"""The one decision between the plain and the fast form of a model."""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp

from ..errors import require
from . import products

KERNELS = ("auto", "reference")
REVERSE_ONLY = "reverse-only"  # set by `AbstractModel.for_gradient`, never by a user


class Forms(NamedTuple):
    """The functions that a model calls where it may have a fast form.

    Attributes:
        product: `(rows, weight)` to `rows @ weight`.
        scores: `(queries, keys)` to `queries @ keys.mT`.
        mixture: `(weights, values)` to `weights @ values`.
        logits: the logits of a GPT at its last positions, see `fast.reduced.logits`; None for `Network` under vmap.
    """

    product: Callable
    scores: Callable
    mixture: Callable
    logits: Callable | None


def choose(kernels: str) -> Forms:
    """Return the functions by which a model computes.

    "reference" is plain JAX: matrix products, and a GPT is its `Network` under `jax.vmap`.

    "auto" gives the same values and derivatives up to rounding, with less work. A GPT computes its first layer from a
    table over tokens, computes a prefix that several sequences share once, and applies its last layer only to the
    positions that predict. Products have derivatives that a CPU computes faster. On a GPU, norms are folded into the
    linear maps behind them and the GELU is recomputed for the gradient. All of this can be differentiated in forward
    and reverse mode, any number of times.

    "reverse-only" is "auto", and on a GPU the middle layers of a GPT attend in one Pallas kernel, which has a gradient
    and no forward-mode derivative. The engine uses it where it takes a gradient (`AbstractModel.for_gradient`).

    Args:
        kernels: "auto", "reference" or "reverse-only".

    Returns:
        The functions that the model calls.

    Raises:
        SpecError: if `kernels` is another name.
    """
    names = (*KERNELS, REVERSE_ONLY)
    require(kernels in names, f"unknown kernels: kernels={kernels!r}; use 'auto' or 'reference'")
    if kernels == "reference":
        return Forms(jnp.matmul, products.plain_scores, jnp.matmul, None)

    def logits(*arguments):
        from .reduced import logits  # imports the models, which import this file

        return logits(*arguments, reverse_only=kernels == REVERSE_ONLY)

    return Forms(products.product, products.scores, products.mixture, logits)
