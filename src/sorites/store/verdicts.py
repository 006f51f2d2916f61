"""Verdicts on disk: append-only JSON, one file per judgement."""

import json
import re
import warnings
from pathlib import Path
from typing import Any

from ..atomic import atomic_write
from ..errors import SpecError, require
from .folder import unwritable
from .identity import short_hash
from .origin import now

Record = dict[str, Any]


def put_verdict(root: Path, record: Record) -> Path:
    """Add a verdict; it gets the time unless it has one."""
    require("id" in record, "a verdict names its claim: the record has no 'id'; add one")
    claim = safe(str(record["id"]))
    try:
        content = json.dumps({"created": now(), **record}, indent=1, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise SpecError(f"a verdict is plain JSON without NaN: {claim} ({error}); use null") from None
    path = root / "verdicts" / claim / f"{short_hash(content)}.json"  # the same name is the same content
    try:
        with atomic_write(path, sync=True) as draft:
            draft.write_bytes(content.encode())
    except OSError as error:
        raise unwritable(root, error) from None
    return path


def verdicts(root: Path, claim: str = "*") -> list[Record]:
    """Every verdict, oldest first; a damaged file is passed over with a warning."""
    found = []
    for path in sorted((root / "verdicts").glob(f"{claim}/*.json")):
        try:
            found.append(read_verdict(path))
        except (OSError, ValueError):
            warnings.warn(f"{path} is damaged and passed over; delete it", stacklevel=2)
    return sorted(found, key=lambda record: record["created"])


def read_verdict(path: Path) -> Record:
    """One file; ValueError where it is not a verdict, or not the one that was written."""
    content = path.read_bytes()
    if path.stem != short_hash(content.decode()):
        raise ValueError(f"{path} is not what was written")
    try:
        record = json.loads(content)
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply") from None
    named = ("id", "created", "verdict") if isinstance(record, dict) and "scale" in record else ("id", "created")
    if not isinstance(record, dict) or not all(isinstance(record.get(name), str) for name in named):
        raise ValueError(f"{path} is not a verdict")
    return record


def safe(part: str) -> str:
    """A name that is one folder and stays inside the store."""
    require(
        re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", part) is not None,
        f"a name in the store is made of letters, digits, dot, dash and underscore: {part!r}; use these",
    )
    return part
