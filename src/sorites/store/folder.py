"""A folder of members: written aside, synced and renamed, so it is whole or not there; never changed after.

spec.json (runs, seeds, ids), history.parquet, members.parquet, model.safetensors, snapshots.safetensors (weights on the
way, where they were asked for) and tasks.safetensors (large arrays of the tasks); what is no Run has arrays.safetensors
instead. meta.json also holds the size and hash of the others, and one of what else it says.
"""

import dataclasses
import errno
import hashlib
import itertools
import json
import os
import shutil
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..atomic import sync_folder
from ..errors import SpecError
from .identity import require_schema, short_hash

TABLES = ("history.parquet", "members.parquet")
MODEL, SNAPSHOTS, TASKS, ARRAYS = (f"{name}.safetensors" for name in ("model", "snapshots", "tasks", "arrays"))
FILES = ("spec.json", *TABLES, MODEL, SNAPSHOTS, TASKS, ARRAYS, "meta.json")


class Damaged(Exception):
    """A folder that cannot be trusted; the message is a sentence."""


@dataclasses.dataclass(frozen=True)
class Folder:
    """A folder whose files are all there in their full size."""

    path: Path
    spec: dict[str, Any]
    meta: dict[str, Any]
    packed: Mapping[str, bytes] | None = None  # the files of a folder in an archive, which is not on the disk

    @property
    def ids(self) -> list[str]:
        return [member["id"] for member in self.spec["members"]]

    @property
    def seeds(self) -> list[int]:
        return [member["seed"] for member in self.spec["members"]]

    @property
    def has_models(self) -> bool:
        """An adopted .npz has none, nor a sweep that keeps histories alone."""
        return MODEL in self.meta["files"]

    @property
    def has_tables(self) -> bool:
        """What is no Run has none."""
        return set(TABLES) <= set(self.meta["files"])

    @property
    def kept(self) -> set[int]:
        """Steps at which the weights are here, besides the last."""
        return set(self.meta.get("snapshots", ()))

    def holds(self, snapshots: Sequence[int], weights: bool = True) -> bool:
        """Can members be taken from here, with their weights at these steps, or their histories alone?"""
        return (self.has_models if weights else self.has_tables) and set(snapshots) <= self.kept

    def read(self, name: str) -> bytes:
        """The bytes of a file, if they are still those that were written."""
        try:
            content = self.content(name)
        except OSError as error:
            raise Damaged(f"{self.path} is damaged: {name} cannot be read ({error.strerror})") from None
        if _digest(content) != self.meta["files"][name]["sha256"]:
            raise Damaged(f"{self.path} is damaged: {name} is not what was written")
        return content

    def content(self, name: str) -> bytes:
        """The bytes of a file, whatever they are."""
        if self.packed is not None:
            if name not in self.packed:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
            return self.packed[name]
        path = self.path / name
        if path.exists() and not path.is_file():  # opening a pipe would block
            raise OSError(errno.EINVAL, "no plain file", name)
        return path.read_bytes()

    def size(self, name: str) -> int | None:
        """The bytes that a file has; None where there is no such file."""
        if self.packed is not None:
            return len(self.packed[name]) if name in self.packed else None
        return (self.path / name).stat().st_size if (self.path / name).is_file() else None


def folder_name(ids: Sequence[str]) -> str:
    """A folder is named by its members."""
    return short_hash("\n".join(ids))


def read_folder(path: Path, packed: Mapping[str, bytes] | None = None) -> Folder:
    """Read spec and meta of a folder, and compare the size of every file with what meta says.

    Args:
        path: a folder of members.
        packed: its files, where it is in an archive and not on the disk.

    Returns:
        The folder.

    Raises:
        Damaged: where a file is missing, or is not what was written.
        SpecError: where another version of sorites wrote it, with another schema.
    """
    try:
        meta = json.loads(Folder(path, {}, {}, packed).content("meta.json"))
        seal = meta["files"].pop("meta.json", None)  # older folders have none
        if seal is not None and seal["sha256"] != _seal(meta):
            raise Damaged(f"{path} is damaged: meta.json is not what was written")
        sizes = {name: entry["bytes"] for name, entry in meta["files"].items() if entry["sha256"]}  # both are there
        folder = Folder(path, json.loads(Folder(path, {}, meta, packed).read("spec.json")), meta, packed)
        named = path.name.split("-")[0] == folder_name(folder.ids) and isinstance(folder.spec["runs"], list)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Damaged(f"{path} is damaged: spec.json or meta.json cannot be read ({type(error).__name__})") from None
    require_schema(path, folder.spec)
    content = {*TABLES} if ARRAYS not in sizes else {ARRAYS}
    if not named or not {"spec.json", *content} <= set(sizes) <= set(FILES):
        raise Damaged(f"{path} is damaged: its name or its list of files does not fit its members")
    for name, size in sizes.items():
        found = folder.size(name)
        if found != size:
            raise Damaged(f"{path} is damaged: {name} has {found or 0} bytes instead of {size}")
    return folder


def write_aside(root: Path, spec: dict[str, Any], meta: dict[str, Any], tables: dict[str, bytes]) -> Path:
    """A complete folder under partial/, synced, ready to be settled."""
    name = folder_name([member["id"] for member in spec["members"]])
    files = {"spec.json": json.dumps(spec, indent=1, allow_nan=False).encode(), **tables}
    listed = {key: {"bytes": len(content), "sha256": _digest(content)} for key, content in files.items()}
    said = {**meta, "files": listed}
    sealed = {**said, "files": {**listed, "meta.json": {"bytes": None, "sha256": _seal(said)}}}
    files["meta.json"] = json.dumps(sealed, indent=1, allow_nan=False).encode()
    return copy_aside(root, name, files)


def copy_aside(root: Path, name: str, files: Mapping[str, bytes]) -> Path:
    """These very bytes under partial/."""
    aside = open_aside(root, name)
    try:
        for key, content in files.items():
            write_synced(aside / key, content)
        sync_folder(aside)
    except BaseException as error:
        shutil.rmtree(aside, ignore_errors=True)
        if isinstance(error, OSError):
            raise unwritable(root, error) from None
        raise
    return aside


def open_aside(root: Path, name: str) -> Path:
    """An empty folder of one's own under partial/, or one sentence on why there can be none."""
    aside = root / "partial" / f"{name}-{uuid.uuid4().hex[:8]}"
    try:
        (root / "members").mkdir(parents=True, exist_ok=True)
        aside.mkdir(parents=True)
    except OSError as error:
        raise unwritable(root, error) from None
    return aside


def settle(root: Path, aside: Path) -> Path:
    """Rename into members/; a name that is taken gets a suffix, for nothing is overwritten."""
    members, name = root / "members", aside.name.split("-")[0]
    for attempt in itertools.count(1):
        target = members / (name if attempt == 1 else f"{name}-{attempt}")
        if target.exists():  # rename would replace an empty folder
            continue
        try:
            os.rename(aside, target)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                continue
            raise unwritable(root, error) from None
        sync_folder(members)
        return target
    raise AssertionError


def unwritable(root: Path, error: OSError) -> SpecError:
    return SpecError(
        f"a store is a folder that can be written: {root} ({error.strerror or error}); "
        "give another with --store DIR or $SORITES_STORE"
    )


def write_synced(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _seal(meta: dict[str, Any]) -> str:
    """The hash of what meta.json says, however it is spelt."""
    return _digest(json.dumps(meta, sort_keys=True).encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
