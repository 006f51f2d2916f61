"""The code that computes a number: every module that its run and the training loop import, however deep.

A module counts by its syntax tree, so comments, docstrings and layout change nothing. A name that is imported through
a package counts where it is defined; of the package itself only statements count that act when it is imported. An
installed package counts by its version, and only where code outside the core of sorites imports it: meta.json records
the versions of JAX and of the other libraries of the core. The package of a class or function of the run itself counts
by its source, installed or not.
"""

import hashlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import SpecError
from .modules import SCRIPTS, find, is_installed, loaded_as, package_of, version_of
from .syntax import Contents, Import, read

PACKAGE = Path(__file__).parents[1]
ENGINE: tuple[Import, ...] = (("sorites.training.ensemble", "train"),)  # trains every run; no specification names it
APART = ("cli", "display", "drawing", "playground", "report", "store", "sweeps")  # they compute no number
OUTSIDE_CORE = ("ledger", "papers")
LIBRARIES = {"jax", "jaxlib", "equinox", "optax", "numpy", "ml_dtypes"}  # a spec names their classes


class Seen(NamedTuple):
    """A file as it was when it was first read."""

    stamp: tuple[int, int]  # its time and size
    loaded: Any  # the specification of the module, None where it had not been imported
    contents: Contents


class Closure(NamedTuple):
    """An import closure, and what tells whether it still holds."""

    digests: dict[str, str]
    files: tuple[tuple[str, Path], ...]
    missing: tuple[str, ...]  # modules that were imported and not found


_seen: dict[tuple[str, Path], Seen] = {}
_closures: dict[frozenset[str], Closure] = {}


def code_of(modules: Iterable[str]) -> str:
    """Hash the import closure of these modules and of the training loop.

    Args:
        modules: names of modules, such as those of the classes of a run.

    Returns:
        A digest in hexadecimal digits. It does not depend on comments, docstrings and layout.

    Raises:
        SpecError: where one of the modules has no source file, or a file was edited after it was imported.
    """
    return hash_of(closure(modules))


def hash_of(digests: Mapping[str, str]) -> str:
    """Hash an import closure.

    Args:
        digests: what `closure` returns.

    Returns:
        A digest in hexadecimal digits.
    """
    lines = (f"{name} {digest}" for name, digest in sorted(digests.items()))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def closure(modules: Iterable[str]) -> dict[str, str]:
    """List the import closure of these modules and of the training loop.

    Args:
        modules: names of modules.

    Returns:
        A digest for each module. Installed packages have their version in place of a digest.

    Raises:
        SpecError: where one of the modules has no source file, or a file was edited after it was imported.
    """
    own = frozenset(name for name in modules if name.split(".")[0] not in LIBRARIES)
    known = _closures.get(own)
    if known is None or not _still_holds(known):
        known = _closures[own] = _Walk(own).closure()
    return known.digests


class _Walk:
    """One walk along imports."""

    def __init__(self, own: frozenset[str]):
        self.own = own
        self.followed = {PACKAGE.name, *(name.split(".")[0] for name in own)}  # by their source, installed or not
        self.ahead: list[tuple[Import, bool]] = []
        self.done: set[Import] = set()
        self.digests: dict[str, str] = {}
        self.files: dict[tuple[str, Path], None] = {}
        self.missing: dict[str, None] = {}

    def closure(self) -> Closure:
        self.ahead = [((name, ""), False) for name in self.own] + [(edge, False) for edge in ENGINE]
        while self.ahead:
            self._step(*self.ahead.pop())
        return Closure(self.digests, tuple(self.files), tuple(self.missing))

    def _step(self, edge: Import, from_core: bool) -> None:
        name, wanted = edge
        root, *rest = name.split(".")
        if root in sys.stdlib_module_names and root not in SCRIPTS:
            return
        if root == PACKAGE.name and rest and rest[0] in APART:
            return
        if root not in self.followed and (from_core or is_installed(root)):
            if not from_core:
                self.digests[root] = version_of(root)
            return
        if edge in self.done:
            return
        self.done.add(edge)
        found = find(name)
        if found is None:
            self._not_found(name)
            return
        path = Path(getattr(found, "origin", None) or getattr(found, "__file__", None) or "")
        folders = getattr(found, "submodule_search_locations", None)
        if path.suffix != ".py":
            self._without_source(name, wanted, path, folders)
            return
        contents = self._read(name, path)
        self._ancestors(name)
        elsewhere = contents.passed.get(wanted)
        if elsewhere == edge:  # `from . import part` in the package itself
            elsewhere = None
        if folders is not None and wanted:
            self._on_import(name, contents)
            if wanted.startswith("__") and wanted.endswith("__"):
                return
            if elsewhere is not None:
                self._follow(elsewhere, name)
                return
            if wanted not in contents.defined:
                if find(f"{name}.{wanted}") is not None:
                    self._follow((f"{name}.{wanted}", ""), name)
                    return
                if contents.lazy:
                    self._follow_folder(name, path)
        elif elsewhere is not None:
            self._follow(elsewhere, name)
        self.digests[_label(name, path)] = contents.digest
        for each in contents.imports:
            self._follow(each, name)
        if contents.computed and root != PACKAGE.name:  # in sorites: papers by their names
            self._follow_folder(name, path)

    def _follow(self, edge: Import, by: str) -> None:
        root, *rest = by.split(".")
        self.ahead.append((edge, root == PACKAGE.name and (not rest or rest[0] not in OUTSIDE_CORE)))

    def _follow_folder(self, name: str, path: Path) -> None:
        """Every module beside the file: what a computed name may mean."""
        package = package_of(name, path)
        for each in sorted(path.parent.rglob("*.py") if package else path.parent.glob("*.py")):
            parts = each.relative_to(path.parent).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            self._follow((".".join([*([package] if package else []), *parts]), ""), name)

    def _ancestors(self, name: str) -> None:
        """Importing a module runs the packages that it is in."""
        while name := name.rpartition(".")[0]:
            path = Path(getattr(find(name), "origin", None) or "")
            if path.name == "__init__.py":
                self._on_import(name, self._read(name, path))

    def _on_import(self, name: str, contents: Contents) -> None:
        label = f"{name} (on import)"
        paper = name.startswith(f"{PACKAGE.name}.papers.")  # it says what the paper is called
        if not contents.acts or paper or label in self.digests:
            return
        self.digests[label] = contents.acts
        for each in contents.acting:
            if each in contents.passed:
                self._follow(contents.passed[each], name)
            elif each in contents.defined:
                self._follow((name, ""), name)

    def _not_found(self, name: str) -> None:
        if name in self.own:
            raise _sourceless(name)
        self.missing[name] = None
        parent, _, last = name.rpartition(".")
        if parent:  # an attribute of a package
            self._follow((parent, last), parent)

    def _without_source(self, name: str, wanted: str, path: Path, folders: Any) -> None:
        """A folder without `__init__.py`, or a compiled module."""
        if folders is not None and wanted:
            self._follow((f"{name}.{wanted}", ""), name)
        elif path.is_file():
            self.files[name, path] = None
            self.digests[name] = self._bytes(name, path).digest
        elif name in self.own:
            raise _sourceless(name)

    def _bytes(self, name: str, path: Path) -> Contents:
        return _look(name, path, lambda: _by_bytes(path))

    def _read(self, name: str, path: Path) -> Contents:
        self.files[name, path] = None
        stub = path.with_suffix(".pyi")

        def parse() -> Contents:
            lazy_names = stub.read_bytes() if path.name == "__init__.py" and stub.exists() else None
            try:
                return read(path.read_bytes(), package_of(name, path), lazy_names)
            except (SyntaxError, ValueError):
                return _by_bytes(path)

        try:
            return _look(name, path, parse)
        except OSError:
            raise _sourceless(name) from None


def _look(name: str, path: Path, parse: Any) -> Contents:
    """The file as it is in this process."""
    stamp, loaded = _stamp(path), loaded_as(name)
    seen = _seen.get((name, path))
    if seen is not None and seen.stamp == stamp and seen.loaded is loaded:
        return seen.contents
    contents = seen.contents if seen is not None and seen.stamp == stamp else parse()
    reloaded = seen is not None and seen.loaded is not None and seen.loaded is not loaded
    if seen is not None and loaded is not None and not reloaded and contents.digest != seen.contents.digest:
        raise SpecError(f"{path} was edited after it was imported; restart Python")
    _seen[name, path] = Seen(stamp, loaded, contents)
    return contents


def _still_holds(known: Closure) -> bool:
    """Whether every file is as it was, and what was missing still is."""
    for name, path in known.files:
        seen = _seen.get((name, path))
        try:
            if seen is None or seen.stamp != _stamp(path) or seen.loaded is not loaded_as(name):
                return False
        except OSError:
            return False
    return all(find(name) is None for name in known.missing)


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size


def _by_bytes(path: Path) -> Contents:
    return Contents(hashlib.sha256(path.read_bytes()).hexdigest()[:16], (), {}, frozenset(), "", (), False, False)


def _label(name: str, path: Path) -> str:
    """A script has the same name whether it is run or imported, as in a specification."""
    return path.stem if name in SCRIPTS else name


def _sourceless(name: str) -> SpecError:
    return SpecError(
        f"a stored run needs the source of its classes and functions: module {name} has none that can be read; save it "
        "as a file and import it"
    )
