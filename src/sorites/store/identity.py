"""Who a member is: its spec, its seed, and the source that computed it."""

import dataclasses
import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import SpecError, require
from ..training import Run
from .spec import Description, canonical, describe, modules_of

SCHEMA = 2  # of the description and of the folders
PACKAGE = Path(__file__).parents[1]
NUMERIC = ("tasks", "models", "supervision", "probes", "training")
LIBRARIES = {"jax", "jaxlib", "equinox", "optax", "numpy", "ml_dtypes"}  # meta.json records their versions


def _numeric_source() -> str:
    digest = hashlib.sha256()
    for package in NUMERIC:
        for path in sorted((PACKAGE / package).rglob("*.py")):
            digest.update(f"{path.relative_to(PACKAGE).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


# Hashed on import: a file edited while the process lives describes code that is not running.
SOURCE = _numeric_source()
_seen: dict[str, tuple[object, str]] = {}  # module -> (what loaded it, hash of its source then)


def fingerprint(thing: Any) -> str:
    """Hash of the numeric source of sorites and of every other module that the spec names.

    A bug fix, or an edited script of yours, never serves an old number.
    """
    outside = sorted({_source(name) for name in modules_of(thing) if _is_outside(name)})
    return hashlib.sha256("\n".join([SOURCE, *outside]).encode()).hexdigest()


def _is_outside(module: str) -> bool:
    root, *rest = module.split(".")
    if root == PACKAGE.name and rest and rest[0] in NUMERIC:
        return False
    return root not in LIBRARIES and (root not in sys.stdlib_module_names or module == "__main__")


def _source(name: str) -> str:
    module = sys.modules.get(name)
    loaded = getattr(module, "__spec__", None) or module  # a reload makes a new spec
    if name in _seen and _seen[name][0] is loaded:
        return _seen[name][1]
    try:
        source = Path(getattr(module, "__file__", None) or "").read_bytes()
    except OSError:
        raise SpecError(
            f"a stored run needs the source of its classes and functions: module {name} has none that can "
            "be read; save it as a file and import it"
        ) from None
    _seen[name] = loaded, hashlib.sha256(source).hexdigest()
    return _seen[name][1]


@dataclasses.dataclass(frozen=True)
class Identity:
    """One member, before or after its training."""

    id: str
    seed: int
    run: Description


def member_id(run: Run, seed: int) -> str:
    """Sixteen hex digits that name the training of that run from that seed by this source."""
    return identities([run], [seed])[0].id


def identities(runs: Run | Sequence[Run], seeds: Sequence[int]) -> list[Identity]:
    """One identity per seed; each distinct run is described once."""
    runs = [runs] * len(seeds) if isinstance(runs, Run) else list(runs)
    require(len(runs) == len(seeds), f"one run per seed: {len(runs)} runs, {len(seeds)} seeds; make them equal")
    known: dict[int, tuple[Description, str]] = {}
    for run in runs:
        if id(run) not in known:
            description = describe(run)
            known[id(run)] = description, canonical([SCHEMA, description, fingerprint(run)])
    members = []
    for run, seed in zip(runs, map(int, seeds), strict=True):
        description, text = known[id(run)]
        members.append(Identity(short_hash(f"{text}\n{seed}"), seed, description))
    return members


def spec_record(members: Sequence[Identity]) -> dict[str, Any]:
    """What spec.json holds: each distinct run once, and which member is which run from which seed."""
    runs: dict[str, Description] = {}
    for member in members:
        runs.setdefault(canonical(member.run), member.run)
    place = {text: index for index, text in enumerate(runs)}
    return {
        "schema": SCHEMA,
        "runs": list(runs.values()),
        "members": [{"id": member.id, "seed": member.seed, "run": place[canonical(member.run)]} for member in members],
    }


def short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
