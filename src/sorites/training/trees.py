"""Trees of arrays with a leading member axis: stacked, taken from, copied, put back."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..errors import require
from .stage import Run


def stacked(runs: Sequence[Run]) -> Run:
    """One run whose arrays have a leading member axis; a run that many members share is read once."""
    distinct = list({id(run): run for run in runs}.values())
    rows = np.array([next(n for n, run in enumerate(distinct) if run is each) for each in runs])
    arrays, static = zip(*(eqx.partition(run, eqx.is_array_like) for run in distinct), strict=True)
    shapes = [jax.tree.map(np.shape, each) for each in arrays]
    require(
        all(eqx.tree_equal(other, static[0]) is True for other in static[1:]) and shapes == shapes[:1] * len(shapes),
        "the runs of one ensemble differ in arrays only (rates, weights, masks); train the others apart",
    )
    together = jax.tree.map(lambda *leaves: on_device(np.stack(leaves)[rows]), *arrays)
    return eqx.combine(together, static[0])


def on_device(array: np.ndarray) -> Array:
    """The array as JAX holds it. `jnp.asarray` would compile a program for every new shape."""
    return jax.device_put(array.astype(jax.dtypes.canonicalize_dtype(array.dtype)))


def take(tree, index):
    return jax.tree.map(lambda leaf: leaf[index] if eqx.is_array(leaf) else leaf, tree)


def copied(tree):
    """A copy: the program reuses the memory of what it is given."""
    return jax.tree.map(lambda leaf: jnp.array(leaf) if eqx.is_array(leaf) else leaf, tree)


def put(everyone, index, some):
    return jax.tree.map(lambda a, b: a.at[index].set(b) if eqx.is_array(a) else a, everyone, some)
