"""Fields that are data, fields that are compiled in, and refusals of values of the wrong type."""

import dataclasses
import inspect
import types
import typing
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array

from .errors import SpecError


def numbers(value) -> Array | np.ndarray:
    """One or many, of numpy where nobody traces them, so that writing a specification compiles nothing."""
    if isinstance(value, jax.Array):
        return value
    try:
        found = np.asarray(value)
    except ValueError:  # lists of different lengths
        found = np.asarray(None)
    if found.dtype.kind not in "biuf" and found.dtype.name != "bfloat16":
        raise SpecError(f"got {shown(value)}; allowed are numbers; write for example 0.1, without quotes")
    return found.astype(np.float32)


def numbers_if_any(value) -> Array | np.ndarray | None:
    return None if value is None else numbers(value)


def make_plain_fields_static(cls: type) -> None:
    """Make fields of int, bool, str, None and tuples of them static, as if they had `eqx.field(static=True)`.

    It is called while a class is made, before Equinox makes it a dataclass. Fields that already are `eqx.field` stay
    as they are.
    """
    try:
        hints = typing.get_type_hints(cls)
    except Exception:  # a name in an annotation that is not defined yet
        hints = inspect.get_annotations(cls)
    for name in inspect.get_annotations(cls):
        given = cls.__dict__.get(name, dataclasses.MISSING)
        if _is_plain(hints.get(name)) and not isinstance(given, dataclasses.Field):
            default = {} if given is dataclasses.MISSING else {"default": given}
            setattr(cls, name, eqx.field(static=True, **default))


def _is_plain(declared: Any) -> bool:
    if isinstance(declared, types.UnionType) or typing.get_origin(declared) in (typing.Union, tuple):
        return all(_is_plain(each) for each in typing.get_args(declared) if each is not Ellipsis)
    return declared in (int, bool, str, type(None))


def as_tuple(value: Any) -> Any:
    """A list as a tuple; anything else unchanged."""
    return tuple(value) if isinstance(value, list) else value


def whole_numbers(name: str, value: Any) -> Array | np.ndarray:
    """As `numbers`, for what is counted."""
    if isinstance(value, jax.Array):
        return value
    found = np.asarray(value)
    if found.dtype.kind not in "iu":
        raise _not_whole(name, value)
    return found.astype(np.int32)


def require_whole(**values: Any) -> None:
    """Refuse what is no whole number, such as 16.0, "16" or True."""
    for name, value in values.items():
        if not isinstance(value, int | np.integer) or isinstance(value, bool):
            raise _not_whole(name, value)


def _not_whole(name: str, value: Any) -> SpecError:
    return SpecError(
        f"got {name}={shown(value)}; allowed is a whole number; write it without quotes and without a decimal point"
    )


def require_kind(name: str, value: Any, kind: type, example: str) -> None:
    """Refuse what is no instance of a class: another thing, or a class in place of an instance."""
    if not isinstance(value, kind):
        raise SpecError(
            f"got {name}={shown(value)}; allowed is an instance of {kind.__name__}; use for example {example}"
        )


def require_all(name: str, values: Any, kind: type, example: str) -> None:
    """Refuse what is no tuple of instances of a class; fields turn a list into a tuple."""
    allowed = f"allowed is a list or tuple of {kind.__name__}; use for example [{example}]"
    if not isinstance(values, tuple):
        raise SpecError(f"got {name}={shown(values)}; {allowed}")
    for value in values:
        if not isinstance(value, kind):
            raise SpecError(f"got {shown(value)} in {name}; {allowed}")


def shown(value: Any) -> str:
    """A value in one short line; a class or a function by its name."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if callable(value) and hasattr(value, "__name__"):
        return f"the function {value.__name__}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
