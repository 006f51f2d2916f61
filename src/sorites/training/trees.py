"""Trees of arrays with a leading member axis: stacked, taken from, copied, put back."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Int

from ..errors import require
from ..runtime.devices import arrays_in_host_memory
from .stage import Run


def stacked(runs: Sequence[Run]) -> Run:
    """Stack one run per member into a run whose arrays have a leading member axis."""
    distinct = list({id(run): run for run in runs}.values())
    rows = np.array([next(n for n, run in enumerate(distinct) if run is each) for each in runs])
    arrays, static = zip(*(eqx.partition(run, eqx.is_array_like) for run in distinct), strict=True)
    shapes = [jax.tree.map(np.shape, each) for each in arrays]
    require(
        all(eqx.tree_equal(other, static[0]) is True for other in static[1:]) and shapes == shapes[:1] * len(shapes),
        "the runs of one ensemble differ in arrays only (rates, weights, masks); train the others apart",
    )
    together = jax.tree.map(lambda *leaves: to_device(np.stack(leaves)[rows]), *arrays)
    return eqx.combine(together, static[0])


def to_device(array: np.ndarray) -> Array:
    """Move the array to the device. `jnp.asarray` would compile a program for every new shape."""
    return jax.device_put(array.astype(jax.dtypes.canonicalize_dtype(array.dtype)))


def take(tree, index):
    """Return the members at these indices; of one index the member without its axis."""
    if isinstance(index, np.ndarray) and _on_accelerator(tree):
        return _taken(tree, index)
    return jax.tree.map(lambda leaf: _picked(leaf, index) if eqx.is_array(leaf) else leaf, tree)


def copied(tree):
    """Copy: a program reuses the memory of its arguments."""
    return take(tree, slice(None))


def put(everyone, index, some):
    """Return `everyone` with the members at these indices replaced by `some`."""

    def changed(whole: Array, part: Array) -> Array:
        if not _by_numpy(whole):
            return whole.at[index].set(part)
        every = np.array(whole)
        every[index] = np.asarray(part)
        return to_device(every)

    return jax.tree.map(lambda a, b: changed(a, b) if eqx.is_array(a) else a, everyone, some)


def joined(trees):
    """Concatenate along the member axis."""
    if _on_accelerator(trees):
        return _joined(trees)
    return _united(np.concatenate, jnp.concatenate, trees)


def as_members(trees):
    """Stack single members, which have no member axis, into one tree that has it."""
    return _united(np.stack, jnp.stack, trees)


@eqx.filter_jit
def _taken(tree, index: Int[Array | np.ndarray, " member"]):
    """Index all leaves in one program: one by one an accelerator compiles a program for every shape."""
    return jax.tree.map(lambda leaf: leaf[index] if eqx.is_array(leaf) else leaf, tree)


@eqx.filter_jit
def _joined(trees):
    return _united(np.concatenate, jnp.concatenate, trees)


def _on_accelerator(tree) -> bool:
    leaves = jax.tree.leaves(eqx.filter(tree, eqx.is_array))
    return not arrays_in_host_memory() and not any(isinstance(leaf, Tracer) for leaf in leaves)


def _united(by_numpy, otherwise, trees):
    def united(*leaves):
        return to_device(by_numpy(leaves)) if _by_numpy(leaves[0]) else otherwise(leaves)

    return jax.tree.map(lambda *leaves: united(*leaves) if eqx.is_array(leaves[0]) else leaves[0], *trees)


def _picked(leaf: Array, index) -> Array:
    if not _by_numpy(leaf):
        return jnp.array(leaf) if isinstance(index, slice) else leaf[index]
    return to_device(np.asarray(np.asarray(leaf)[index]))


def _by_numpy(leaf: Array) -> bool:
    """Whether numpy can do it: JAX would compile a program for every shape to do the same."""
    plain = isinstance(leaf, jax.Array) and not isinstance(leaf, Tracer)
    return plain and arrays_in_host_memory() and not jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
