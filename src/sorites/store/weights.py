"""Trained models as named tensors: `weights.0`, `gates`, ..., each with a leading member axis."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..models import AbstractModel
from ..training import Run
from ..training.trees import to_device
from .folder import MODEL


def models_bytes(models: Any) -> bytes:
    """The arrays of the models; everything else is in the run's spec."""
    from safetensors.numpy import save

    arrays = eqx.filter(models, eqx.is_array)
    return save({name: np.ascontiguousarray(leaf) for name, leaf in _named(arrays).items()})


def models_from(stored: bytes, structure: Any, members: int, step: int | None = None) -> Any:
    """The stored arrays in that structure, each with a leading member axis."""
    from safetensors import deserialize  # its numpy reader knows no bfloat16; the structure knows every dtype

    tensors = dict(deserialize(stored))
    if step is not None:
        under = f"{step}/"
        tensors = {name.removeprefix(under): each for name, each in tensors.items() if name.startswith(under)}
    shapes = _named(eqx.filter(structure, _is_shape))
    expected = {name: [members, *shape.shape] for name, shape in shapes.items()}
    if expected != {name: list(tensor["shape"]) for name, tensor in tensors.items()}:
        raise ValueError(f"{MODEL} does not hold the tensors of the run's model")

    def fill(path, leaf):
        if not _is_shape(leaf):
            return leaf
        values = np.frombuffer(tensors[_name(path)]["data"], leaf.dtype)
        return to_device(values.reshape(members, *leaf.shape))

    return jax.tree_util.tree_map_with_path(fill, structure)


def snapshots_bytes(snapshots: dict[int, Any]) -> bytes:
    """The models at several steps: `100/weights.0`, ..."""
    from safetensors.numpy import save

    return save(
        {
            f"{step}/{name}": np.ascontiguousarray(leaf)
            for step, models in snapshots.items()
            for name, leaf in _named(eqx.filter(models, eqx.is_array)).items()
        }
    )


def arrays_bytes(arrays: dict[str, np.ndarray]) -> bytes:
    """Arrays by name."""
    from safetensors.numpy import save

    return save({name: np.ascontiguousarray(values) for name, values in arrays.items()})


def arrays_from(stored: bytes) -> dict[str, np.ndarray]:
    """Their inverse."""
    from safetensors.numpy import load

    return load(stored)


def named_leaves(tree: Any) -> dict[str, np.ndarray]:
    """The leaves of a tree by their place in it."""
    return {name: np.asarray(leaf) for name, leaf in _named(tree).items()}


def with_leaves(like: Any, arrays: dict[str, np.ndarray]) -> Any:
    """A tree like the given one with these leaves."""
    if set(_named(like)) != set(arrays):
        raise ValueError("the stored arrays are not those of the tree asked for")
    return jax.tree_util.tree_map_with_path(lambda path, _: arrays[_name(path)], like)


def structure_of(run: Run) -> AbstractModel:
    """A fresh member's model with shapes for arrays."""
    return structure_from(run.model)


def structure_from(model: AbstractModel) -> AbstractModel:
    """The same for a model; Python numbers count as arrays, as in an ensemble."""
    model = jax.tree.map(lambda leaf: jnp.asarray(leaf) if eqx.is_array_like(leaf) else leaf, model)
    return eqx.filter_eval_shape(lambda model, key: model.for_member(key), model, jax.random.key(0))


def _is_shape(leaf: Any) -> bool:
    return isinstance(leaf, jax.ShapeDtypeStruct)


def _named(tree: Any) -> dict[str, Any]:
    return {_name(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(tree)}


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")
