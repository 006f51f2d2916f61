"""A description back into what it describes.

Data names classes and functions and brings no code: names are looked up in sorites and in modules that are loaded
already, nothing else is imported for them, and only dataclasses are made.
"""

import dataclasses
import functools
import importlib
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import numpy as np

from ..errors import SpecError
from .spec import Description

NAMED = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


def rebuild(description: Description, arrays: Mapping[str, np.ndarray]) -> Any:
    """What `describe` described; an array that is only named and not among the given ones becomes its shape."""
    if isinstance(description, list):
        return tuple(rebuild(each, arrays) for each in description)
    if isinstance(description, str):
        if description.startswith("dtype:"):
            return np.dtype(description.removeprefix("dtype:"))
        return _function(description) if NAMED.fullmatch(description) else description
    if not isinstance(description, dict):
        return description
    if "float" in description:
        return float(description["float"])
    if "array" in description:
        return np.asarray(description["array"], description["dtype"])
    if "sha256" in description:
        shape = jax.ShapeDtypeStruct(tuple(description["shape"]), description["dtype"])
        return arrays.get(description["sha256"], shape)
    if description["kind"] == "dict":
        return {name: rebuild(each, arrays) for name, each in description["items"].items()}
    if description["kind"] == "partial":
        function, given, named = (rebuild(description[part], arrays) for part in ("function", "arguments", "keywords"))
        return functools.partial(function, *given, **named)
    if description["kind"] == "method":
        return getattr(rebuild(description["of"], arrays), description["name"])
    return _made(description, arrays)


def _made(description: dict[str, Description], arrays: Mapping[str, np.ndarray]) -> Any:
    """An instance with these fields, as unflattening makes one: no code of the class runs."""
    kind = _class(description["kind"])
    made = object.__new__(kind)
    for field in dataclasses.fields(kind):
        key = "kind (field)" if field.name == "kind" else field.name
        if key in description:
            value = rebuild(description[key], arrays)
        else:
            value = field.default_factory() if callable(field.default_factory) else field.default
            convert = field.metadata.get("converter")
            value = value if convert is None else convert(value)
        object.__setattr__(made, field.name, value)
    return made


def _class(name: str) -> type:
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        found = _inside(_module(".".join(parts[:count])), parts[count:])
        if isinstance(found, type) and dataclasses.is_dataclass(found):
            return found
    raise _unknown(name)


def _function(name: str) -> Any:
    """A function of that name, or the text itself if there is no such module."""
    module, _, path = name.partition(":")
    found = _inside(_module(module), path.split("."))
    if found is None or getattr(found, "__module__", None) != module:
        return name
    return found


def _inside(module: ModuleType | None, path: list[str]) -> Any:
    found: Any = module
    for part in path:
        found = getattr(found, part, None)
    return found


def _module(name: str) -> ModuleType | None:
    if name.split(".")[0] == "sorites":
        try:
            return importlib.import_module(name)
        except ImportError:
            return None
    main = sys.modules.get("__main__")
    if name not in sys.modules and Path(getattr(main, "__file__", None) or "").stem == name:
        return main
    return sys.modules.get(name)


def _unknown(name: str) -> SpecError:
    return SpecError(
        f"a stored run is made again from classes that are loaded: {name} is not; import the module that defines it"
    )
