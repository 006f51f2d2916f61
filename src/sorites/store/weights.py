"""Trained models as named tensors: `weights.0`, `gates`, ..., each with a leading member axis."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..models import AbstractModel
from ..training import Run
from .folder import MODEL


def models_bytes(models: Any) -> bytes:
    """The arrays of the models; everything else is in the run's spec."""
    from safetensors.numpy import save

    arrays = eqx.filter(models, eqx.is_array)
    return save({name: np.ascontiguousarray(leaf) for name, leaf in _named(arrays).items()})


def models_from(stored: bytes, structure: Any, members: int) -> Any:
    """The stored arrays in that structure, each with a leading member axis."""
    from safetensors import deserialize  # its numpy reader knows no bfloat16; the structure knows every dtype

    tensors = dict(deserialize(stored))
    shapes = _named(eqx.filter(structure, _is_shape))
    expected = {name: [members, *shape.shape] for name, shape in shapes.items()}
    if expected != {name: list(tensor["shape"]) for name, tensor in tensors.items()}:
        raise ValueError(f"{MODEL} does not hold the tensors of the run's model")

    def fill(path, leaf):
        if not _is_shape(leaf):
            return leaf
        values = np.frombuffer(tensors[_name(path)]["data"], leaf.dtype)
        return jnp.asarray(values.reshape(members, *leaf.shape))

    return jax.tree_util.tree_map_with_path(fill, structure)


def structure_of(run: Run) -> AbstractModel:
    """A fresh member's model with shapes for arrays; Python numbers count as arrays, as in an ensemble."""
    model = jax.tree.map(lambda leaf: jnp.asarray(leaf) if eqx.is_array_like(leaf) else leaf, run.model)
    return eqx.filter_eval_shape(lambda model, key: model.fresh(key), model, jax.random.key(0))


def _is_shape(leaf: Any) -> bool:
    return isinstance(leaf, jax.ShapeDtypeStruct)


def _named(tree: Any) -> dict[str, Any]:
    return {_name(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(tree)}


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")
