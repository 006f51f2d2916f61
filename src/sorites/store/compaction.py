"""Many small folders as few large ones: 10^5 members in few files.

Members of one kind (the same tensors, metrics, versions and device) move into one folder. The new one is whole and in
its place before the old ones go, so a kill leaves members twice, which is the same, and never none.
"""

import json
import shutil
from collections.abc import Iterable
from typing import Any

import numpy as np

from .folder import MODEL, SNAPSHOTS, TASKS, Damaged, Folder, read_folder, settle, write_aside
from .frames import tables_of
from .gather import gather
from .loading import load
from .reservation import reserved
from .store import Store
from .weights import arrays_bytes, arrays_from

MOST = 16_384  # members of a folder
BYTES = 512 * 2**20  # and bytes


def compact(store: Store) -> tuple[int, int]:
    """How many folders there were, and how many there are now."""
    before = store.folders()
    groups: dict[str, list[Folder]] = {}
    for folder in before:
        if folder.has_tables and SNAPSHOTS not in folder.meta["files"] and not _foreign(folder):
            groups.setdefault(_kind(folder), []).append(folder)
    for kind in groups.values():
        for part in _parts(kind):
            if len(part) > 1:
                _join(store, part)
    return len(before), len(store.folders())


def _foreign(folder: Folder) -> bool:
    """Tensors of a type that numpy does not have stay where they are."""
    return folder.has_models and any(kind == "BF16" for _, kind, _ in _header(folder.path / MODEL))


def _kind(folder: Folder) -> str:
    """What must be equal in one folder: where its numbers came from, and the shapes of its tables and tensors."""
    said = {name: folder.meta.get(name) for name in ("versions", "device", "commit", "code", "shapes", "adopted")}
    tensors = _header(folder.path / MODEL) if folder.has_models else None
    return json.dumps([said, tensors, folder.spec.get("schema")], sort_keys=True)


def _header(path: Any) -> list[Any]:
    """Names, types and shapes of the tensors in a file, members apart."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        found = json.loads(file.read(min(length, 2**24)))
    found.pop("__metadata__", None)
    return sorted([name, each["dtype"], each["shape"][1:]] for name, each in found.items())


def _parts(folders: list[Folder]) -> Iterable[list[Folder]]:
    """In order, as many at a time as one folder may hold."""
    part, members, size = [], 0, 0
    for folder in folders:
        own = sum(entry["bytes"] for entry in folder.meta["files"].values())
        if part and (members + len(folder.ids) > MOST or size + own > BYTES):
            yield part
            part, members, size = [], 0, 0
        part, members, size = [*part, folder], members + len(folder.ids), size + own
    yield part


def _join(store: Store, folders: list[Folder]) -> None:
    with reserved(store.root, [each for folder in folders for each in folder.ids]):
        try:
            held = [(folder, load(folder, None), _tensors(folder), _arrays(folder)) for folder in folders]
        except Damaged:  # `runs check` tells; nothing is moved
            return
        places, seen, runs, members = [], set(), {}, []
        rows: list[np.ndarray] = []
        for folder, kept, _, _ in held:
            texts = [json.dumps(run, sort_keys=True) for run in folder.spec["runs"]]
            runs |= dict(zip(texts, folder.spec["runs"], strict=True))
            numbers = {text: number for number, text in enumerate(runs)}
            chosen = [row for row, each in enumerate(folder.ids) if each not in seen]
            for row in chosen:
                entry = folder.spec["members"][row]
                moved = {"run": numbers[texts[entry["run"]]]} if "run" in entry and texts else {}
                members.append({**entry, **moved})
                places.append((kept, row))
                seen.add(entry["id"])
            rows.append(np.array(chosen, int))
        history = gather(places).history
        meta, tables = tables_of([entry["id"] for entry in members], history)
        tensors = [each for _, _, each, _ in held if each is not None]
        if tensors:
            parts = {name: [each[name][own] for each, own in zip(tensors, rows, strict=True)] for name in tensors[0]}
            tables[MODEL] = arrays_bytes({name: np.concatenate(part) for name, part in parts.items()})
        if arrays := {name: values for _, _, _, own in held for name, values in own.items()}:
            tables[TASKS] = arrays_bytes(arrays)
        said = {**folders[-1].meta, **meta, "seconds": _total(folders), "joined": len(folders)}
        said.pop("files")
        spec = {**folders[-1].spec, "runs": list(runs.values()), "members": members}
        path = settle(store.root, write_aside(store.root, spec, said, tables))
        read_folder(path)  # whole, or nothing goes
        for folder in folders:
            shutil.rmtree(folder.path, ignore_errors=True)


def _total(folders: list[Folder]) -> float | None:
    seconds = [folder.meta.get("seconds") for folder in folders]
    return None if None in seconds else round(sum(each or 0.0 for each in seconds), 3)


def _tensors(folder: Folder) -> dict[str, np.ndarray] | None:
    return arrays_from(folder.read(MODEL)) if folder.has_models else None


def _arrays(folder: Folder) -> dict[str, np.ndarray]:
    return arrays_from(folder.read(TASKS)) if TASKS in folder.meta["files"] else {}
