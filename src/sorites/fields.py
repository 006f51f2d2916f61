"""Fields that are data: another value makes no other program."""

import jax
import numpy as np
from jaxtyping import Array


def numbers(value) -> Array | np.ndarray:
    """One or many, of numpy where nobody traces them, so that writing a specification compiles nothing."""
    return value if isinstance(value, jax.Array) else np.asarray(value, np.float32)


def numbers_if_any(value) -> Array | np.ndarray | None:
    return None if value is None else numbers(value)
