"""Runs in and out of a store: archives of whole folders, and histories written on a bare machine."""

import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from ..atomic import atomic_write
from ..errors import SpecError, require
from ..training import History
from .catalogue import resolve
from .folder import FILES, Damaged, Folder, copy_aside, folder_name, read_folder, settle, write_aside
from .frames import tables_of
from .identity import SCHEMA, require_schema, short_hash
from .inspection import examine
from .origin import now
from .store import Store

MOST_FILES, MOST_BYTES, RATIO = 1_000_000, 64 * 2**20, 100  # what an archive may hold


def export(store: Store, ids: Sequence[str], path: str | Path) -> Path:
    """The folders of these ids (all, when none is given) as one .tar.gz; an existing file is kept."""
    path = Path(path)
    require(path.name.endswith((".tar.gz", ".tgz")), f"an archive is a .tar.gz: {path}; end its name in .tar.gz")
    require(not path.exists(), f"nothing is overwritten: {path} exists; choose another name")
    folders = [resolve(store, each) for each in ids] if ids else store.folders()
    require(len(folders) > 0, f"an archive needs a run: {store.root} has none; train something first")
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for folder in {folder.path: folder for folder in folders}.values():
            for name, content in _contents(folder).items():
                entry = tarfile.TarInfo(f"{folder.path.name}/{name}")
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    try:
        with atomic_write(path) as draft:
            draft.write_bytes(buffer.getvalue())
    except OSError as error:
        raise SpecError(f"an archive needs a folder that can be written: {path} ({error.strerror})") from None
    return path


def _contents(folder: Folder) -> dict[str, bytes]:
    try:
        files = {name: folder.read(name) for name in folder.meta["files"]}
    except Damaged as damage:
        raise SpecError(f"an archive holds whole folders: {damage}; see `sorites runs check`") from None
    return {**files, "meta.json": (folder.path / "meta.json").read_bytes()}


def adopt(store: Store, path: str | Path) -> list[str]:
    """Take in an archive of `export`, or a `History.save` .npz with its optional `<name>.json` beside it.

    Returns the ids of the folders that are new; what the store already has stays as it is.
    """
    path = Path(path)
    require(path.is_file(), f"an import is a file: {path} is none; give a .tar.gz or a .npz")
    if path.suffix == ".npz":
        return _adopt_history(store, path)
    require(
        path.name.endswith((".tar.gz", ".tgz")),
        f"an import comes from `sorites runs export` or `History.save`: {path}; give a .tar.gz or a .npz",
    )
    return _adopt_archive(store, path)


def _adopt_archive(store: Store, path: Path) -> list[str]:
    """Every folder is judged in memory before the first is written."""
    try:
        arrived = [read_folder(Path(name), files) for name, files in _unpacked(path).items()]
        for folder in arrived:
            examine(folder)
    except Damaged as damage:
        raise SpecError(f"an archive holds whole folders: {path} does not ({damage}); export it again") from None
    asides: list[Path] = []
    try:
        for folder in _new(store, arrived):
            asides.append(copy_aside(store.root, folder_name(folder.ids), folder.packed or {}))
        return [settle(store.root, aside).name for aside in asides]
    finally:
        for aside in asides:
            shutil.rmtree(aside, ignore_errors=True)


def _new(store: Store, arrived: Sequence[Folder]) -> list[Folder]:
    """The folders whose members the store does not have, or has without the models that come with them."""
    held: dict[str, bool] = {}  # whether with models
    for folder in store.folders():
        name = folder_name(folder.ids)
        held[name] = held.get(name, False) or folder.has_models
    new = []
    for folder in arrived:
        name = folder_name(folder.ids)
        if name not in held or (folder.has_models and not held[name]):
            held[name] = folder.has_models
            new.append(folder)
    return new


def _unpacked(path: Path) -> dict[str, dict[str, bytes]]:
    """folder -> file -> bytes, read in memory: nothing in the archive can name a place on this machine."""
    folders: dict[str, dict[str, bytes]] = {}
    room = max(MOST_BYTES, RATIO * path.stat().st_size)
    try:
        with tarfile.open(path, "r:gz") as archive:
            for number, entry in enumerate(archive):
                room -= entry.size
                require(
                    room >= 0 and number < MOST_FILES,
                    f"an archive unpacks to a bounded size: {path} holds more than {MOST_FILES:,} files or {RATIO} "
                    "times its own bytes; export fewer runs at a time",
                )
                parts = PurePosixPath(entry.name).parts
                good = len(parts) == 2 and entry.isreg() and parts[1] in FILES
                require(
                    good and all(letter in "0123456789abcdef-" for letter in parts[0]),
                    f"an archive holds plain files named ID/FILE: {entry.name!r} in {path} is not one; "
                    "make archives with `sorites runs export`",
                )
                content = archive.extractfile(entry)
                assert content is not None
                folders.setdefault(parts[0], {})[parts[1]] = content.read()
            assert archive.fileobj is not None
            while archive.fileobj.read(2**20):  # to the checksum: a spoilt archive may seem to end early
                pass
    except SpecError:
        raise
    except Exception as error:  # tar, gzip and zlib have errors of their own, and let Python's through
        raise SpecError(f"an archive is a whole .tar.gz: {path} ({error}); copy or export it again") from None
    require(len(folders) > 0, f"an archive holds a run: {path} holds none; make it with `sorites runs export`")
    return folders


def _adopt_history(store: Store, path: Path) -> list[str]:
    try:
        history = History.load(path)
        beside = path.with_suffix(".json")
        said: dict[str, Any] = json.loads(beside.read_bytes()) if beside.exists() else {}
        spec = said.get("spec") or _nameless(path, history)
        ids = [str(member["id"]) for member in spec["members"]]
        seeds = [int(member["seed"]) for member in spec["members"]]
        meta = {"created": now(), "seconds": None, **(said.get("meta") or {})}
        runs = list(spec["runs"])
    except Exception as error:  # a spoilt zip fails in a dozen ways, by the bit
        raise SpecError(
            f"an import is a .npz of `History.save`, with spec and meta in its .json: {path} ({error}); "
            "write both again"
        ) from None
    require_schema(path, spec)
    require(
        len(seeds) > 0 and seeds == history.seeds.tolist(),
        f"a spec names the members of its history: {path} has seeds {history.seeds.tolist()}, its .json has "
        f"{seeds}; write both from one training",
    )
    meta |= {"adopted": path.name}
    spec = {"schema": SCHEMA, "runs": runs, "members": spec["members"]}
    extra, tables = tables_of(ids, history)
    aside = write_aside(store.root, spec, {**meta, **extra}, tables)
    try:
        folder = read_folder(aside)
        examine(folder)
        return [settle(store.root, aside).name] if _new(store, [folder]) else []
    except Damaged as damage:
        raise SpecError(f"an import is what it says: {path} is not ({damage}); write both again") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _nameless(path: Path, history: History) -> dict[str, Any]:
    """A history without a spec: its members are named by its bytes."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    members = [{"id": short_hash(f"{digest}\n{row}"), "seed": int(seed)} for row, seed in enumerate(history.seeds)]
    return {"runs": [], "members": members}
