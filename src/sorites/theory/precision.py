"""The one place that opens float64: identities are checked there, and numpy comes out."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import jax
import numpy as np

P = ParamSpec("P")
T = TypeVar("T")


def in_float64(function: Callable[P, T]) -> Callable[P, T]:
    """Run the function with 64-bit floats; arrays in its result become numpy arrays."""

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        with jax.enable_x64(True):
            result = function(*args, **kwargs)
            return jax.tree.map(lambda leaf: np.asarray(leaf) if isinstance(leaf, jax.Array) else leaf, result)

    return wrapped
