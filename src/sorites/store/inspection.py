"""Is everything in the store still what was written?"""

import dataclasses
import json

import numpy as np

from ..atomic import DRAFT
from .folder import MODEL, TABLES, Damaged, Folder, read_folder
from .frames import history_from, require_packages
from .store import Store
from .tables import read_tables
from .verdicts import read_verdict


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something in the store that is not as it was written."""

    path: str
    problem: str


def check(store: Store) -> list[Finding]:
    """Read every folder and verdict whole; an empty list means all is well."""
    require_packages()
    findings = []
    for path in sorted((store.root / "members").glob("*")):
        try:
            examine(read_folder(path))
        except Damaged as damage:
            findings.append(Finding(str(path), f"{damage}; delete it, its members are trained again on demand"))
    unfinished = [*(store.root / "partial").glob("*"), *(store.root / "verdicts").glob(f"*/*{DRAFT}")]
    for path in sorted(unfinished):
        findings.append(Finding(str(path), "an unfinished write; delete it unless a training is running"))
    for path in sorted((store.root / "verdicts").glob("*/*.json")):
        try:
            read_verdict(path)
        except (OSError, ValueError):
            findings.append(Finding(str(path), "a verdict that cannot be read; delete it"))
    for path in sorted((store.root / "figures").glob("*/*/*")):
        if path.suffix == DRAFT or ".damaged-" in path.name or ".partial-" in path.name:  # the last in older stores
            findings.append(Finding(str(path), "tables of a figure that were not finished or made room; delete it"))
        elif read_tables(path) is None:
            findings.append(Finding(str(path), "tables of a figure that are not what was written; delete it"))
    return findings


def mixtures(store: Store) -> list[str]:
    """Find runs whose members were trained with several versions of jax or several XLA_FLAGS.

    Args:
        store: the store.

    Returns:
        A sentence for each such run.
    """
    settings: dict[str, dict[tuple[str, str], str]] = {}  # run -> version and flags -> a folder
    for path in sorted((store.root / "members").glob("*")):
        try:
            folder = read_folder(path)
        except Damaged:  # `check` names it
            continue
        versions = folder.meta.get("versions")
        jax = str(versions.get("jax")) if isinstance(versions, dict) else "None"
        for run in folder.spec["runs"]:
            key = json.dumps(run, sort_keys=True)
            settings.setdefault(key, {}).setdefault((jax, str(folder.meta.get("flags", ""))), folder.path.name)
    return [
        "members of one run were trained in several settings, so their last digits may differ: "
        + ", ".join(f"{name} (jax {jax}, XLA_FLAGS {flags!r})" for (jax, flags), name in sorted(found.items()))
        + "; train them again in one setting to compare digits"
        for found in settings.values()
        if len(found) > 1
    ]


def examine(folder: Folder) -> None:
    """Damaged, where a file is not what was written or cannot be what it should be."""
    from safetensors import deserialize

    _told_right(folder)
    contents = {name: folder.read(name) for name in folder.meta["files"]}
    if not folder.has_tables:
        return
    _bounded(folder.meta.get("shapes"), contents[TABLES[0]])
    try:
        history = history_from(contents[TABLES[0]], contents[TABLES[1]], folder.meta["shapes"])
        tensors = deserialize(contents[MODEL]) if MODEL in contents else []
    except Exception as error:  # polars and safetensors have error classes of their own
        raise Damaged(f"{folder.path} is damaged: {error}") from None
    counts = {tensor["shape"][0] for _, tensor in tensors}
    if history.seeds.tolist() != folder.seeds or not counts <= {len(folder.ids)}:
        raise Damaged(f"{folder.path} is damaged: its tables or tensors are not those of its members")


def _told_right(folder: Folder) -> None:
    """spec.json and meta.json have the parts that everybody reads."""
    spec, meta = folder.spec, folder.meta
    runs, members = spec.get("runs"), spec.get("members")
    right = isinstance(runs, list) and all(isinstance(run, dict) for run in runs)
    right = right and isinstance(members, list) and len(members) > 0
    for each in (members or []) if right else []:
        number = each.get("run", 0) if isinstance(each, dict) else -1
        right = right and number in range(max(len(runs or []), 1))
        right = right and isinstance(each.get("id"), str) and isinstance(each.get("seed"), int)
    said = isinstance(meta.get("created"), str | None) and isinstance(meta.get("seconds"), int | float | None)
    if not right or not said or not isinstance(meta.get("solved"), int | None):
        raise Damaged(f"{folder.path} is damaged: spec.json or meta.json does not say what it should")


def _bounded(shapes: object, history: bytes) -> None:
    """The axes that meta.json names are columns of the table."""
    import io

    import polars as pl

    try:
        columns = len(pl.read_parquet_schema(io.BytesIO(history)))
        assert isinstance(shapes, dict)
        sizes = [np.prod([int(axis) for axis in shape], dtype=float) for shape in shapes["metrics"].values()]
        sound = all(size <= columns for size in sizes) and "secret" in shapes
    except Exception:
        sound = False
    if not sound:
        raise Damaged("its shapes are not those of its tables")
