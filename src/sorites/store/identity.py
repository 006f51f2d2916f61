"""Who a member is: its spec, its seed, and the source that computed it."""

import dataclasses
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import require
from ..training import Checkpoint, Run
from .source import code_of
from .spec import Description, canonical, describe, modules_of

SCHEMA = 2  # of the description and of the folders
LIBRARIES = {"jax", "jaxlib", "equinox", "optax", "numpy", "ml_dtypes"}  # meta.json records their versions


def fingerprint(thing: Any) -> str:
    """Hash of the numeric source of sorites and of all other code that the spec reaches.

    A bug fix, or an edited script or helper of yours, never serves an old number.
    """
    return code_of(name for name in modules_of(thing) if name.split(".")[0] not in LIBRARIES)


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


def kept_identity(description: Description, things: Any) -> Identity:
    """What is no Run, by its spec and the source that makes it."""
    return Identity(short_hash(canonical([SCHEMA, description, fingerprint(things)])), 0, description)


def checkpoint(runs: Run | Sequence[Run], seeds: Sequence[int], folder: str | Path) -> Checkpoint:
    """For `sorites.train(..., checkpoint=...)` where no store can be used, as on a machine with numpy alone: a file in
    that folder that only these runs and seeds by this source go on from. `drop` it when they are done."""
    name = short_hash("\n".join(member.id for member in identities(runs, seeds)))
    return Checkpoint(Path(folder) / f"{name}.npz", name)


def spec_record(members: Sequence[Identity]) -> dict[str, Any]:
    """What spec.json holds: each distinct run once, and which member is which run from which seed."""
    distinct = {id(member.run): member.run for member in members}
    texts = {key: canonical(run) for key, run in distinct.items()}
    runs: dict[str, Description] = {}
    for key, run in distinct.items():
        runs.setdefault(texts[key], run)
    place = {text: index for index, text in enumerate(runs)}
    return {
        "schema": SCHEMA,
        "runs": list(runs.values()),
        "members": [{"id": member.id, "seed": member.seed, "run": place[texts[id(member.run)]]} for member in members],
    }


def short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
