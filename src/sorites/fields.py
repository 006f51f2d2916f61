"""Fields that are data, so that another value makes no other program; and fields that are compiled in."""

import dataclasses
import inspect
import types
import typing
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array


def numbers(value) -> Array | np.ndarray:
    """One or many, of numpy where nobody traces them, so that writing a specification compiles nothing."""
    return value if isinstance(value, jax.Array) else np.asarray(value, np.float32)


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
