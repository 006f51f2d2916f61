"""Is everything in the store still what was written?"""

import dataclasses

from .folder import MODEL, TABLES, Damaged, Folder, read_folder
from .frames import history_from, require_packages
from .store import Store
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
            _examine(read_folder(path))
        except Damaged as damage:
            findings.append(Finding(str(path), f"{damage}; delete it, its members are trained again on demand"))
    for path in sorted((store.root / "partial").glob("*")):
        findings.append(Finding(str(path), "an unfinished write; delete it unless a training is running"))
    for path in sorted((store.root / "verdicts").glob("*/*.json")):
        try:
            read_verdict(path)
        except (OSError, ValueError):
            findings.append(Finding(str(path), "a verdict that cannot be read; delete it"))
    return findings


def _examine(folder: Folder) -> None:
    from safetensors import deserialize

    contents = {name: folder.read(name) for name in folder.meta["files"]}
    if not folder.has_tables:
        return
    try:
        history = history_from(contents[TABLES[0]], contents[TABLES[1]], folder.meta["shapes"])
        tensors = deserialize(contents[MODEL]) if MODEL in contents else []
    except Exception as error:  # polars and safetensors have error classes of their own
        raise Damaged(f"{folder.path} is damaged: {error}") from None
    counts = {tensor["shape"][0] for _, tensor in tensors}
    if history.seeds.tolist() != folder.seeds or not counts <= {len(folder.ids)}:
        raise Damaged(f"{folder.path} is damaged: its tables or tensors are not those of its members")
