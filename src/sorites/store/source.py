"""Which code computed a number: the numeric core as a whole, and beside it whatever a module imports, however deep.

What is installed counts by name and version, everything else by its source. Imports are read from the source, so those
inside functions count before they are made; a package counts whole, so names that it resolves lazily count too.
"""

import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import SpecError

PACKAGE = Path(__file__).parents[1]
CORE = ("theory", "statistics", "tasks", "models", "supervision", "probes", "training")
JUDGING = ("papers", "ledger")  # parts of sorites that count where they are imported
INSTALLED = ("site-packages", "dist-packages")


def _core() -> str:
    digest = hashlib.sha256()
    for folder in CORE:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            digest.update(f"{path.relative_to(PACKAGE).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


# Hashed on import: a file edited while the process lives describes code that is not running.
SOURCE = _core()


class Module(NamedTuple):
    """A module's own source, or the version that stands for it."""

    digest: str
    imports: tuple[str, ...]  # what it names in import statements
    siblings: tuple[str, ...]  # the modules that count with it


_seen: dict[str, tuple[Any, Module]] = {}  # module -> (what loaded it, as it was then)


def code_of(modules: Iterable[str], whole: bool = False) -> str:
    """A hash of the numeric core, of these modules and of all that they import outside it.

    whole: a module of one of the papers here stands for its paper's folder.
    """
    own, counted = set(modules), {}
    ahead = sorted(own)
    while ahead:
        name = ahead.pop()
        if name in counted or not _counts(name):
            continue
        module = _look(name, name in own)
        if module is None:
            continue
        counted[name] = module.digest
        ahead += module.imports
        if whole or not name.startswith(f"{PACKAGE.name}."):
            ahead += module.siblings
            own |= set(module.siblings) if name in own else set()
    lines = [SOURCE, *(f"{name} {digest}" for name, digest in sorted(counted.items()))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _counts(name: str) -> bool:
    """Not the core, which always counts; not the standard library."""
    root, *rest = name.split(".")
    if root == PACKAGE.name:
        return bool(rest) and rest[0] in JUDGING
    return root not in sys.stdlib_module_names or name == "__main__"


def _look(name: str, own: bool) -> Module | None:
    """The module as it was when it was first looked at, or loaded again since; None: no such module."""
    loaded = _spec(name)
    if loaded is None:
        if own:
            raise _sourceless(name)
        return None
    path = Path(getattr(loaded, "origin", None) or getattr(loaded, "__file__", None) or "")
    if not own and installed(name.split(".")[0], path):
        return Module(_version(name.split(".")[0]), (), ())
    state = loaded if name in sys.modules else _stamp(path)
    if name in _seen and (_seen[name][0] is state or (isinstance(state, tuple) and _seen[name][0] == state)):
        return _seen[name][1]
    try:
        source = path.read_bytes()
    except OSError:
        if own:
            raise _sourceless(name) from None
        source = b""  # a namespace, or built in
    text = source if path.suffix == ".py" else b""
    found = Module(hashlib.sha256(source).hexdigest(), tuple(_imports(name, text, path)), tuple(_siblings(name)))
    _seen[name] = state, found
    return found


def _stamp(path: Path) -> tuple[str, int, int]:
    """Of a file that is not loaded yet: it may still be edited before it is."""
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), found.st_mtime_ns, found.st_size


def _sourceless(name: str) -> SpecError:
    return SpecError(
        f"a stored run needs the source of its classes and functions: module {name} has none that can be read; save it "
        "as a file and import it"
    )


def _spec(name: str) -> Any:
    """The import system's spec of a module, found without running it; a reload makes a new one."""
    module = sys.modules.get(name)
    if module is not None:
        return getattr(module, "__spec__", None) or module
    parent = name.rpartition(".")[0]
    try:
        if not parent:
            return importlib.util.find_spec(name)
        above = _spec(parent)
        places = getattr(above, "submodule_search_locations", None)
        return PathFinder.find_spec(name, places) if places else None
    except (ImportError, ValueError, AttributeError, KeyError):  # a namespace whose parent is not imported: KeyError
        return None


def _imports(name: str, source: bytes, path: Path) -> Iterator[str]:
    """Every module that the source names: import statements anywhere, and import_module with its name written out."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _absolute("." * node.level + (node.module or ""), package)
            named = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__") and node.args:
            given = node.args[0]
            if isinstance(given, ast.Constant) and isinstance(given.value, str):
                named = [_absolute(given.value, package)]
            else:  # a computed name: whatever lies beside the file
                named = [each.stem for each in path.parent.glob("*.py")] if not package else []
        else:
            continue
        for each in named:
            parts = each.split(".")
            yield from (".".join(parts[: count + 1]) for count in range(len(parts)))


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _absolute(name: str, package: str) -> str:
    try:
        return importlib.util.resolve_name(name, package) if name.startswith(".") else name
    except ImportError:
        return name.lstrip(".")


def _siblings(name: str) -> Iterator[str]:
    """All modules of the package that a module lives in: a paper's folder here, else the outermost package."""
    parts = name.split(".")
    if parts[0] == PACKAGE.name and (len(parts) < 3 or parts[1] != "papers"):
        return
    root = ".".join(parts[:3]) if parts[0] == PACKAGE.name else parts[0]
    for folder in getattr(_spec(root), "submodule_search_locations", None) or ():
        for path in sorted(Path(folder).rglob("*.py")):
            inside = path.relative_to(folder).with_suffix("").parts
            yield ".".join([root, *(inside[:-1] if inside[-1] == "__init__" else inside)])


def installed(root: str, path: Path) -> bool:
    """In a folder of installed packages, or where a distribution of that name was put (`pip install --target`)."""
    return bool(set(INSTALLED) & set(path.parts)) or any(path.is_relative_to(place) for place in _places(root))


@functools.cache
def _places(root: str) -> list[Path]:
    """Where the distributions of a package were put. An editable one lies apart from its source; a source tree with a
    stray egg-info has no RECORD."""
    found = [importlib.metadata.distribution(name) for name in _distributions().get(root, [])]
    return [Path(str(each.locate_file(""))) for each in found if each.read_text("RECORD")]


@functools.cache
def _distributions() -> dict[str, list[str]]:
    return {name: list(found) for name, found in importlib.metadata.packages_distributions().items()}


@functools.cache
def _version(root: str) -> str:
    names = sorted(set(_distributions().get(root, [])))
    return " ".join(f"{name}=={importlib.metadata.version(name)}" for name in names) or f"{root}, of no distribution"
