"""What a compiled program depends on: everything of a pytree but the numbers in its arrays."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def structure_of(tree: Any) -> tuple:
    """Return a hashable key: equal for pytrees that one compiled program serves."""
    leaves, structure = jax.tree.flatten(tree)
    return structure, *((np.shape(leaf), jnp.result_type(leaf)) for leaf in leaves)


def cached_by_structure(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: cache a function by the structure of its arguments, for results that depend on no number in them.

    Results under x64 and under another random generator are cached apart.
    """
    known: dict[tuple, Any] = {}

    @functools.wraps(function)
    def cached(*arguments: Any) -> Any:
        settings = tuple(jax.config.values[name] for name in ("jax_enable_x64", "jax_default_prng_impl"))
        key = settings, structure_of(arguments)
        if key not in known:
            known[key] = function(*arguments)
        return known[key]

    return cached
