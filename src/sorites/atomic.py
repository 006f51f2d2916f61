"""Files and folders that are whole or absent: written under another name, then renamed."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

DRAFT = ".part"  # the suffix of an unfinished file or folder


@contextlib.contextmanager
def atomic_write(path: Path, *, sync: bool = False) -> Iterator[Path]:
    """Write a file so that a reader, or a kill at any moment, meets the old file or the new one.

    The draft lies in the same folder. That is the same file system, so the rename is atomic.

    Args:
        path: The file to write. Its folder is made if it is missing; an older file is replaced.
        sync: Force the file and its folder to the disk, so that a power cut cannot lose a finished write.

    Yields:
        The path of the draft. It is renamed to `path` when the block ends, and removed if the block raises.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> path = Path(tempfile.mkdtemp()) / "result.txt"
        >>> with atomic_write(path) as draft:
        ...     _ = draft.write_text("42")
        >>> path.read_text()
        '42'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _draft_of(path) as draft:
        yield draft
        if sync:
            sync_file(draft)
        os.replace(draft, path)
        if sync:
            sync_folder(path.parent)


@contextlib.contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Write a new folder that appears whole or not at all.

    Args:
        path: The folder to write. It must not exist when the block ends.

    Yields:
        An empty folder beside it. It is renamed to `path` when the block ends, and removed if the block raises.
    """
    with _draft_of(path) as draft:
        draft.mkdir(parents=True)
        yield draft
        os.rename(draft, path)


def sync_file(path: Path) -> None:
    """Force the bytes of a file to the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Force the names in a folder to the disk."""
    if os.name == "nt":  # Windows opens no folder
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _draft_of(path: Path) -> Iterator[Path]:
    """A free name beside the path; what still has it at the end is removed."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}{DRAFT}")
    try:
        yield draft
    finally:
        try:
            _remove(draft)
        except KeyboardInterrupt:  # polars reports a signal before Python does: it arrives twice
            _remove(draft)
            raise


def _remove(draft: Path) -> None:
    if draft.is_dir():
        shutil.rmtree(draft, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            draft.unlink()
