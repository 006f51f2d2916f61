"""A figure's tables: a folder of Parquet files and about.json, which names them, their hashes and their parameters."""

import hashlib
import io
import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..atomic import atomic_folder
from ..errors import SpecError
from .origin import commit, now

if TYPE_CHECKING:
    import polars


def read_tables(folder: Path, parameters: dict[str, Any] | None = None) -> "dict[str, polars.DataFrame] | None":
    """The tables of a whole folder, or None; with parameters, only if they were measured with these."""
    import polars as pl

    try:
        about = json.loads((folder / "about.json").read_text())
        if parameters is not None and about["parameters"] != json.loads(json.dumps(parameters)):
            return None
        found, hashes = {}, about.get("sha256")  # older records have no hashes
        for name in about["tables"]:
            content = (folder / f"{name}.parquet").read_bytes()
            if hashes is not None and hashes[name] != hashlib.sha256(content).hexdigest():
                return None
            found[name] = pl.read_parquet(io.BytesIO(content))
        return found if "data" in found else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, pl.exceptions.PolarsError):
        return None


def read_about(folder: Path) -> dict[str, Any]:
    """Read what is known about recorded tables.

    Args:
        folder: a folder of tables.

    Returns:
        The content of its about.json; empty where that cannot be read.
    """
    try:
        about = json.loads((folder / "about.json").read_text())
    except (OSError, ValueError, RecursionError):
        return {}
    return about if isinstance(about, dict) else {}


def write_tables(
    folder: Path, frames: "dict[str, polars.DataFrame]", parameters: dict[str, Any], code: str | None = None
) -> None:
    """Write the tables of a figure; the folder is whole or absent.

    Args:
        folder: where they are written. A folder of that name is renamed.
        frames: the tables by name; the main one is `data`.
        parameters: what they were measured with.
        code: the digest of the code that measured them, where it is known.

    Raises:
        SpecError: where the folder cannot be written.
    """
    try:
        with atomic_folder(folder) as draft:
            hashes = {}
            for name, frame in frames.items():
                buffer = io.BytesIO()
                frame.write_parquet(buffer)
                hashes[name] = hashlib.sha256(buffer.getvalue()).hexdigest()
                (draft / f"{name}.parquet").write_bytes(buffer.getvalue())
            about = {"tables": list(frames), "parameters": parameters, "commit": commit(), "created": now()}
            about |= {} if code is None else {"code": code}
            (draft / "about.json").write_text(json.dumps(about | {"sha256": hashes}, indent=1))
            if folder.exists():
                folder.rename(folder.with_name(f"{folder.name}.damaged-{uuid.uuid4().hex[:8]}"))
    except OSError as error:
        raise SpecError(
            f"a store is a folder one can write to: {folder} ({error.strerror}); choose another --store"
        ) from None
