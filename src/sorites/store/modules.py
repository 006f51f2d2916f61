"""Modules as the import system finds them, without running them; and the modules that a function comes from."""

import dataclasses
import functools
import importlib.metadata
import importlib.util
import sys
import types
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

INSTALLED = ("site-packages", "dist-packages")
SCRIPTS = ("__main__", "__mp_main__")  # names of the file that Python was started with
_EMPTY = types.CellType()  # a variable of a closure before it has a value


def find(name: str) -> Any:
    """Find a module without running it.

    Args:
        name: the full name of a module.

    Returns:
        The import system's specification of it; None where there is no such module.
    """
    module = sys.modules.get(name)
    if module is not None:
        return getattr(module, "__spec__", None) or module
    parent = name.rpartition(".")[0]
    try:
        if not parent:
            return importlib.util.find_spec(name)
        places = getattr(find(parent), "submodule_search_locations", None)
        return PathFinder.find_spec(name, places) if places else None
    except (ImportError, ValueError, AttributeError, KeyError):  # KeyError: a namespace whose parent is not imported
        return None


def exists(name: str) -> bool:
    """Tell whether there is a module of that name, without importing it.

    Args:
        name: the full name of a module.

    Returns:
        False where it cannot be found.
    """
    return find(name) is not None


def loaded_as(name: str) -> Any:
    """Identify the import of a module.

    Args:
        name: the full name of a module.

    Returns:
        The specification that it was imported by, of which a reload makes another; None where it is not imported.
    """
    module = sys.modules.get(name)
    return None if module is None else getattr(module, "__spec__", None) or module


def package_of(name: str, path: Path) -> str:
    """Name the package that the relative imports of a file start from.

    Args:
        name: the full name of the module.
        path: its file.

    Returns:
        The name of the package; "" for a module in no package.
    """
    if name in SCRIPTS:
        return getattr(sys.modules.get(name), "__package__", None) or ""
    return name if path.name == "__init__.py" else name.rpartition(".")[0]


def is_installed(root: str) -> bool:
    """Tell whether a package is installed.

    Args:
        root: the name of an outermost package.

    Returns:
        False where it is missing, or lies in a folder of the user's own.
    """
    found = find(root)
    return found is not None and installed(root, Path(getattr(found, "origin", None) or ""))


def installed(root: str, path: Path) -> bool:
    """Tell whether a file belongs to an installed package.

    Args:
        root: the outermost package of the module.
        path: the module's file.

    Returns:
        True below a folder of installed packages, or where a distribution of that name was put, as by
        `pip install --target`.
    """
    return bool(set(INSTALLED) & set(path.parts)) or any(path.is_relative_to(place) for place in _places(root))


@functools.cache
def _places(root: str) -> list[Path]:
    """Where the distributions of a package were put. The source of an editable one lies elsewhere; a source tree with
    a stray egg-info has no RECORD."""
    found = [importlib.metadata.distribution(name) for name in _distributions().get(root, [])]
    return [Path(str(each.locate_file(""))) for each in found if each.read_text("RECORD")]


@functools.cache
def _distributions() -> dict[str, list[str]]:
    return {name: list(found) for name, found in importlib.metadata.packages_distributions().items()}


@functools.cache
def version_of(root: str) -> str:
    """Name the distributions that an installed package comes from.

    Args:
        root: the name of an outermost package.

    Returns:
        Their names and versions, such as `scipy==1.17.0`.
    """
    names = sorted(set(_distributions().get(root, [])))
    return " ".join(f"{name}=={importlib.metadata.version(name)}" for name in names) or f"{root}, of no distribution"


def modules_behind(function: Any) -> set[str]:
    """List the modules that a function comes from.

    Args:
        function: a function, or a partial, a method, a decorated function, a function made by another one, or a
            dataclass that holds such.

    Returns:
        Its own module, and those of the functions, classes and values that it holds.
    """
    modules: set[str] = set()
    ahead: list[Any] = [function]
    seen: set[int] = set()
    while ahead:
        thing = ahead.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, list | tuple | set | frozenset):
            ahead += thing
        elif isinstance(thing, dict):
            ahead += thing.values()
        elif isinstance(thing, functools.partial):
            ahead += [thing.func, *thing.args, *thing.keywords.values()]
        elif isinstance(thing, types.MethodType):
            ahead += [thing.__func__, thing.__self__]
        elif isinstance(thing, types.ModuleType):
            modules.add(thing.__name__)
        elif isinstance(thing, type):
            modules |= {each.__module__ for each in thing.__mro__}
        elif callable(thing) and getattr(thing, "__module__", None):
            modules.add(thing.__module__)
            cells = [cell for cell in getattr(thing, "__closure__", None) or () if cell != _EMPTY]
            ahead += [getattr(thing, "__wrapped__", None), getattr(thing, "__defaults__", None)]
            ahead += [cell.cell_contents for cell in cells]
        elif dataclasses.is_dataclass(thing):
            ahead += [type(thing), *(getattr(thing, field.name) for field in dataclasses.fields(thing))]
    return {name for name in modules if name.split(".")[0] not in sys.stdlib_module_names}
