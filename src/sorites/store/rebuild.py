"""Rebuild a task or a model from its description in a stored spec.

A description is data from anywhere, also from a stranger's archive. It may name only

- dataclasses that are defined in `sorites.tasks` or `sorites.models`, each of the type that its field declares;
- the functions of the gates and of the masks, and only where a field declares a function.

Classes and functions of the user's own are accepted from modules that the user passes as `modules`. No code of a
class runs, and nothing that a description names is called.
"""

import collections.abc
import dataclasses
import functools
import importlib
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jaxtyping
import numpy as np

from ..errors import SpecError
from .spec import Description

PACKAGES = ("sorites.tasks", "sorites.models")  # whose classes a description may name
FUNCTIONS = ("sorites.tasks.gates", "sorites.models.masks")  # whose functions it may name


@dataclasses.dataclass(frozen=True)
class Source:
    """Where a description's arrays, classes and functions come from."""

    arrays: Mapping[str, np.ndarray]  # large arrays, by the hash that the description names
    modules: tuple[ModuleType, ...]  # of the user's own


def rebuild(
    description: Description, declared: Any, arrays: Mapping[str, np.ndarray], modules: Sequence[ModuleType] = ()
) -> Any:
    """Rebuild what `describe` described.

    Args:
        description: the task or model of a stored spec.
        declared: the type it must have, such as `AbstractTask`.
        arrays: large arrays by hash; an array that is not among them becomes its shape.
        modules: modules of the user's own whose classes and functions the description may name.

    Returns:
        An instance of `declared`.

    Raises:
        SpecError: where the description names anything else.
    """
    return _value(description, declared, Source(arrays, tuple(modules)))


def _value(description: Description, declared: Any, source: Source) -> Any:
    origin, given = typing.get_origin(declared), typing.get_args(declared)
    if origin is typing.Annotated:
        return _value(description, given[0], source)
    if origin in (typing.Union, types.UnionType):
        return _first_that_fits(description, given, source)
    if declared is collections.abc.Callable or origin is collections.abc.Callable:
        return _function(description, source)
    if isinstance(description, list):
        kinds = _kinds(declared, len(description))
        if kinds is None:
            raise _refused("a list", declared)
        return tuple(_value(each, kind, source) for each, kind in zip(description, kinds, strict=True))
    if isinstance(description, dict):
        return _from_dict(description, declared, source)
    if isinstance(description, str) and description.startswith("dtype:") and not _is(declared, str):
        return np.dtype(description.removeprefix("dtype:"))
    if not _accepts(declared, description):
        raise _refused(_short(description), declared)
    return description


def _first_that_fits(description: Description, kinds: Sequence[Any], source: Source) -> Any:
    refusals = []
    for kind in kinds:
        try:
            return _value(description, kind, source)
        except SpecError as refusal:
            refusals.append(refusal)
    raise refusals[-1]


def _from_dict(description: dict[str, Description], declared: Any, source: Source) -> Any:
    if "float" in description:
        return float(description["float"])
    if "array" in description:
        values = np.asarray(description["array"], description["dtype"])
        if values.dtype.kind not in "biufcV":
            raise _refused(f"an array of {values.dtype}", declared)
        return values
    if "sha256" in description:
        shape = jax.ShapeDtypeStruct(tuple(description["shape"]), description["dtype"])
        found = source.arrays.get(description["sha256"])  # equal bytes may be of another shape or type
        return shape if found is None else found.reshape(-1).view(shape.dtype).reshape(shape.shape)
    kind = description.get("kind")
    if kind == "dict" and (declared is Any or _is(typing.get_origin(declared) or declared, dict)):
        (inner,) = typing.get_args(declared)[1:] or (Any,)
        return {name: _value(each, inner, source) for name, each in description["items"].items()}
    if kind in ("partial", "method", "dict") or not isinstance(kind, str):
        raise _refused(f"a {kind}", declared)
    return _instance(_class(kind, declared, source), description, source)


def _instance(kind: type, description: dict[str, Description], source: Source) -> Any:
    """An instance with these fields, made as unflattening makes one: no code of the class runs."""
    made, types_of = object.__new__(kind), _declared_types(kind)
    for field in dataclasses.fields(kind):
        key = "kind (field)" if field.name == "kind" else field.name
        if key in description:
            value = _value(description[key], types_of[field.name], source)
        else:
            value = field.default_factory() if callable(field.default_factory) else field.default
            convert = field.metadata.get("converter")
            value = value if convert is None else convert(value)
        object.__setattr__(made, field.name, value)
    return made


@functools.cache
def _declared_types(kind: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind)
    except Exception:  # shape strings and forward references need not be names
        return {field.name: Any if isinstance(field.type, str) else field.type for field in dataclasses.fields(kind)}


def _class(name: str, declared: Any, source: Source) -> type:
    """The dataclass of that name, if it may be named and is of the declared type."""
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        module = _module(".".join(parts[:count]), PACKAGES, source)
        found = _inside(module, parts[count:])
        if not isinstance(found, type) or not dataclasses.is_dataclass(found):
            continue
        wanted = typing.get_origin(declared) or declared
        if (
            wanted is Any
            or isinstance(wanted, typing.TypeVar)
            or (isinstance(wanted, type) and issubclass(found, wanted))
        ):
            return found
        raise _refused(name, declared)
    raise _refused(name, declared)


def _function(name: Any, source: Source) -> Any:
    """A function of the gates, of the masks, or of a module of the user's own."""
    module, _, path = name.partition(":") if isinstance(name, str) else ("", "", "")
    found = _inside(_module(module, FUNCTIONS, source), path.split("."))
    if not isinstance(found, types.FunctionType):
        raise _refused(_short(name), collections.abc.Callable)
    return found


def _module(name: str, allowed: Sequence[str], source: Source) -> ModuleType | None:
    """The module of that name, if it is one of the user's or below an allowed package."""
    for module in source.modules:
        if name in (module.__name__, _file_name(module)):
            return module
    if not any(name == package or name.startswith(f"{package}.") for package in allowed):
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _file_name(module: ModuleType) -> str:
    """The name under which a spec knows a module that was run as a script."""
    return Path(getattr(module, "__file__", None) or "").stem


def _inside(module: ModuleType | None, path: Sequence[str]) -> Any:
    """What a module itself defines under that path; what it imported from elsewhere does not count."""
    found: Any = module
    for part in path:
        found = getattr(found, part, None)
    return found if module is not None and getattr(found, "__module__", None) == module.__name__ else None


def _kinds(declared: Any, count: int) -> Sequence[Any] | None:
    """The declared types of the entries of a list; None where no list is declared."""
    origin, given = typing.get_origin(declared) or declared, typing.get_args(declared)
    if not (origin is Any or isinstance(origin, typing.TypeVar) or _is(origin, collections.abc.Collection)):
        return None
    if len(given) == count and Ellipsis not in given:
        return given
    return [given[0] if given else Any] * count


def _accepts(declared: Any, value: Any) -> bool:
    """Whether a number, a string, a boolean or None is of the declared type."""
    if value is None:
        return declared in (None, type(None), Any)
    if typing.get_origin(declared) is typing.Literal:
        return value in typing.get_args(declared)
    if not isinstance(declared, type):
        return True
    if issubclass(declared, jaxtyping.AbstractArray | jax.Array | np.ndarray):
        return isinstance(value, bool | int | float)
    if declared is float:
        return isinstance(value, int | float)
    return declared is object or isinstance(value, declared)


def _is(declared: Any, kind: type) -> bool:
    return isinstance(declared, type) and issubclass(declared, kind)


def _short(description: Any) -> str:
    """A description in a few words: a partial by its kind alone."""
    kind = description.get("kind") if isinstance(description, dict) else None
    return f"a {kind}" if kind else f"{description!r}"


def _refused(name: str, declared: Any) -> SpecError:
    wanted = getattr(declared, "__name__", str(declared))
    return SpecError(
        f"a stored run names {name} where {wanted} is allowed: classes of sorites.tasks and sorites.models are; "
        "if it is your own, import its module and pass modules=[that module]"
    )
