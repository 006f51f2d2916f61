"""Files that are whole or absent: written beside their place, then renamed into it."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """Yield a fresh path in the same folder; rename it to `path` on success, remove it on failure.

    The same folder is the same file system, so the rename is atomic: a reader, or a kill at any moment,
    meets the old file or the new one, never half of either.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield draft
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
