"""Lists that need the whole laboratory loaded, kept in the user's cache: the second time they cost a hash, no import.

A list is kept under all text that could change it: the files of this package that it is made from, the papers that are
announced and their packages, whatever else of one's own was loaded with them, and the names and versions of what is
installed.
"""

import contextlib
import hashlib
import importlib.util
import json
import os
import sys
import sysconfig
from collections.abc import Callable, Iterable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from ..atomic import atomic_write
from ..papers import registry

PACKAGE = Path(__file__).parents[1]
CORE = ("theory", "statistics", "tasks", "models", "supervision", "probes", "training")
CELLS = ("errors.py", "report/cells.py", "results/cells.json", "../../results/cells.json")  # where results may lie
PAPERS = ("claims", "figures", "papers")  # lists that every paper announced can change, and any file here
ELSEWHERE = ("site-packages", "dist-packages")
Rows = list[tuple[Any, ...]]


def kept(what: str, make: Callable[[], Rows]) -> Rows:
    """The rows of a list, made anew only where some code that could change them has changed."""
    place = _digest([str(PACKAGE), sys.prefix])[:16]
    path = Path(os.environ.get("SORITES_CACHE", Path.home() / ".cache" / "sorites")) / "index" / f"{what}-{place}.json"
    key = _key(what)
    try:
        found = json.loads(path.read_text())
        if found["key"] == key and found["others"] == _texts(found["others"]):
            return [tuple(row) for row in found["rows"]]
    except (OSError, ValueError, KeyError, TypeError):  # none yet, or none of ours
        pass
    rows = make()
    if what not in PAPERS or _all_loaded():
        with contextlib.suppress(OSError), atomic_write(path) as draft:  # a read-only home costs time, not the list
            draft.write_text(json.dumps({"key": key, "others": _texts(_others()), "rows": rows}))
    return rows


def _key(what: str) -> str:
    entries = _announced() if what in PAPERS else []
    places = [PACKAGE] if what in PAPERS else [*(PACKAGE / name for name in CORE), *(PACKAGE / name for name in CELLS)]
    for root in sorted({value.partition(":")[0].split(".")[0] for _, value in entries}):
        places += _places(root)
    files = (path for place in places for path in (sorted(place.rglob("*.py")) if place.is_dir() else [place]))
    installed = (name for place in sys.path for name in _names(place) if name.endswith((".dist-info", ".egg-info")))
    return _digest([sys.version, *map(repr, entries), *sorted(installed), *map(repr, _texts(map(str, files)).items())])


def _announced() -> list[tuple[str, str]]:
    """The papers of other packages; these are not loaded for it."""
    found = [(entry.name, entry.value) for entry in entry_points(group=registry.GROUP)]
    return sorted(each for each in found if not each[1].startswith(f"{registry.__package__}."))


def _all_loaded() -> bool:
    """A paper that cannot be used is warned of every time: its absence is not kept."""
    registry.papers()  # they may not be loaded yet
    return not registry.passed_over


def _places(root: str) -> list[Path]:
    """Where a package or module lies, found without running it."""
    try:
        spec = importlib.util.find_spec(root)
    except (ImportError, ValueError):
        return []
    found = [] if spec is None else spec.submodule_search_locations or [spec.origin or ""]
    return [Path(each) for each in found]


def _others() -> list[str]:
    """Loaded files that are neither installed nor Python's own: what a paper imports from beside itself."""
    library = sysconfig.get_path("stdlib")
    loaded = {getattr(module, "__file__", None) or "" for module in list(sys.modules.values())}
    return sorted(
        each for each in loaded
        if each.endswith(".py") and not set(ELSEWHERE) & set(Path(each).parts)
        and not Path(each).is_relative_to(library) and not Path(each).is_relative_to(PACKAGE)
    )  # fmt: skip


def _texts(paths: Iterable[str]) -> dict[str, str]:
    """Digests of files; a file that is not there has none."""
    found = {}
    for path in paths:
        try:
            found[path] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        except OSError:
            found[path] = ""
    return found


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # a zip file, or nothing
        return []


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
