"""A spec in plain JSON: what a run is, field by field, readable in ten years without this code."""

import dataclasses
import functools
import hashlib
import inspect
import json
import math
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import SpecError

Description = Any  # dict, list or scalar of JSON
SMALL = 64  # entries; larger arrays are named by their hash


def describe(thing: Any) -> Description:
    """Fields that differ from their default, under the name of their class.

    A field equal to its default is left out, so that a new field does not rename every old run.
    """
    return _walk(thing, set())


def canonical(description: Description) -> str:
    """The one spelling of a description that is hashed and compared."""
    return json.dumps(description, sort_keys=True, separators=(",", ":"), allow_nan=False)


def modules_of(thing: Any) -> set[str]:
    """The modules whose classes (and their bases) and functions make up the spec."""
    modules: set[str] = set()
    _walk(thing, modules)
    return modules


def large_arrays(things: Any) -> dict[str, np.ndarray]:
    """The arrays that a description only names, by that name."""
    leaves = [leaf for leaf in jax.tree.leaves(things) if isinstance(leaf, np.ndarray | jax.Array)]
    found = {_array(leaf).get("sha256"): np.asarray(leaf) for leaf in leaves if leaf.dtype.kind in "biuf"}
    return {digest: values for digest, values in found.items() if digest is not None}


def _walk(thing: Any, modules: set[str]) -> Description:
    if isinstance(thing, np.ndarray | np.generic | jax.Array):
        return _array(thing)
    if thing is None or isinstance(thing, bool | int | str):
        return thing
    if isinstance(thing, float):
        return thing if math.isfinite(thing) else {"float": repr(thing)}
    if isinstance(thing, list | tuple):
        return [_walk(each, modules) for each in thing]
    if isinstance(thing, dict) and all(isinstance(key, str) for key in thing):
        return {"kind": "dict", "items": {key: _walk(each, modules) for key, each in thing.items()}}
    if isinstance(thing, np.dtype):
        return f"dtype:{thing}"
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        return _fields(thing, modules)
    if isinstance(thing, functools.partial):
        held = {"function": thing.func, "arguments": thing.args, "keywords": thing.keywords}
        return {"kind": "partial", **{name: _walk(each, modules) for name, each in held.items()}}
    if inspect.ismethod(thing):
        return {"kind": "method", "name": thing.__name__, "of": _walk(thing.__self__, modules)}
    if callable(thing) and hasattr(thing, "__qualname__"):
        return ":".join(_name(thing, modules))
    raise SpecError(
        f"a stored spec is made of numbers, strings, arrays, dataclasses and module-level functions: "
        f"{type(thing).__name__} is none of these; make it a frozen dataclass"
    )


def _fields(thing: Any, modules: set[str]) -> dict[str, Description]:
    described: dict[str, Description] = {"kind": ".".join(_name(type(thing), modules))}
    for field in dataclasses.fields(thing):
        value = _walk(getattr(thing, field.name), modules)
        if not _is_default(field, value):
            # a field of that very name must not hide the class
            described["kind (field)" if field.name == "kind" else field.name] = value
    return described


def _is_default(field: dataclasses.Field, value: Description) -> bool:
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    elif field.default is not dataclasses.MISSING:
        default = field.default
    else:
        return False
    convert = field.metadata.get("converter")  # Equinox stores the converted value
    default = default if convert is None else convert(default)
    return canonical(_walk(default, set())) == canonical(value)  # canonical: 0, False and 0.0 differ


def _array(array: Any) -> dict[str, Description]:
    dtype = str(array.dtype)
    if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
        array = jax.random.key_data(array)
    values = np.asarray(array)
    if values.size <= SMALL and values.dtype.kind in "biuf" and np.isfinite(values).all():
        return {"array": values.tolist(), "dtype": dtype}
    digest = hashlib.sha256(values.tobytes()).hexdigest()
    return {"sha256": digest, "shape": list(values.shape), "dtype": dtype}


def _name(thing: Any, modules: set[str]) -> tuple[str, str]:
    """Module and qualified name; what is local to a function has no name that outlives it."""
    module, name = str(thing.__module__), thing.__qualname__
    if "<" in name:
        raise SpecError(
            f"a stored spec names module-level functions and classes: {module}.{name} is local or a lambda; "
            "move it to the top level of a file"
        )
    modules.update(base.__module__ for base in getattr(thing, "__mro__", (thing,)))
    if module == "__main__":  # the same script has the same name whether run or imported
        module = Path(getattr(sys.modules["__main__"], "__file__", None) or module).stem
    return module, name
