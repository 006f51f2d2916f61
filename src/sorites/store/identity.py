"""The key of a member: a hash of its specification, its seed, and the code that computes it."""

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import SpecError, require
from ..training import Checkpoint, Run
from .closure import closure, code_of, hash_of
from .spec import Description, canonical, describe, modules_of

SCHEMA = 4  # of the description and of the folders
READERS = {2: "e86403e", 3: "0b1d64a"}  # the last commit that reads folders of an older schema


def fingerprint(thing: Any) -> str:
    """Hash the code that a run, or another specification, uses: its import closure.

    Args:
        thing: a `Run`, or anything that `describe` takes.

    Returns:
        A digest in hexadecimal digits. An edit of a function that the run can call changes it, also in a file of your
        own; an edit of a comment, of a docstring, or of code that the run does not import does not.

    Raises:
        SpecError: where a file was edited after it was imported, or a module has no source file.
    """
    return code_of(modules_of(thing))


@dataclasses.dataclass(frozen=True)
class Identity:
    """One member, before or after its training."""

    id: str
    seed: int
    run: Description
    code: Mapping[str, str]  # a digest for each module of its import closure


def member_id(run: Run, seed: int) -> str:
    """Sixteen hex digits that name the training of that run from that seed by this source."""
    return identities([run], [seed])[0].id


def identities(runs: Run | Sequence[Run], seeds: Sequence[int]) -> list[Identity]:
    """One identity per seed; each distinct run is described once."""
    runs = [runs] * len(seeds) if isinstance(runs, Run) else list(runs)
    require(len(runs) == len(seeds), f"one run per seed: {len(runs)} runs, {len(seeds)} seeds; make them equal")
    known: dict[int, tuple[Description, str, Mapping[str, str]]] = {}
    for run in runs:
        if id(run) not in known:
            description = describe(run)
            code = closure(modules_of(run))
            known[id(run)] = description, canonical([SCHEMA, description, hash_of(code)]), code
    members = []
    for run, seed in zip(runs, map(int, seeds), strict=True):
        description, text, code = known[id(run)]
        members.append(Identity(short_hash(f"{text}\n{seed}"), seed, description, code))
    return members


def kept_identity(description: Description, things: Any) -> Identity:
    """What is no Run, by its spec and the source that makes it."""
    code = closure(modules_of(things))
    return Identity(short_hash(canonical([SCHEMA, description, hash_of(code)])), 0, description, code)


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


def require_schema(path: Path, spec: Mapping[str, Any]) -> None:
    """Refuse a folder that another version of sorites wrote.

    Args:
        path: the folder, for the message.
        spec: what its spec.json holds.

    Raises:
        SpecError: where its schema is an older or a newer one.
    """
    schema = spec.get("schema", SCHEMA)
    if not isinstance(schema, int) or schema == SCHEMA:
        return
    reader = f"read this one with commit {READERS.get(schema, READERS[2])}" if schema < SCHEMA else "a newer sorites"
    raise SpecError(
        f"{path} has schema {schema}; this version reads schema {SCHEMA}: use another store with --store DIR, "
        f"or {reader}"
    )


def short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
