"""Who works on what at the moment: two processes on one store never train the same member.

A worker lists its members in a file that it holds locked; the lock goes with the process, however that ends, so what a
killed one leaves behind is seen to be nobody's. Where files cannot be locked everybody just works.
"""

import json
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # not on this system
    fcntl: Any = None


@contextmanager
def reserved(root: Path, ids: Sequence[str]) -> Iterator[None]:
    """Wait until nobody works on any of these, then do; they may be there by now."""
    folder, mine = root / "running", None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        while mine is None and fcntl is not None:
            with (folder / "lock").open("a") as gate:
                fcntl.flock(gate, fcntl.LOCK_EX)
                other = _worker(folder, set(ids))
                if other is None:
                    mine = (folder / f"{uuid.uuid4().hex}.json").open("x")
                    fcntl.flock(mine, fcntl.LOCK_EX)
                    json.dump(list(ids), mine)
                    mine.flush()
            if other is not None:
                fcntl.flock(other, fcntl.LOCK_SH)  # until that worker is done or dead
                other.close()
    except OSError:
        mine = None
    try:
        yield
    finally:
        if mine is not None:
            Path(mine.name).unlink(missing_ok=True)
            mine.close()


@contextmanager
def sweep_mark(root: Path) -> Iterator[Path]:
    """Keep a locked file in the store during a sweep, and remove the files of sweeps that were killed."""
    folder = root / "running"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{uuid.uuid4().hex}.sweep"
    with (folder / "lock").open("a") as gate:
        if fcntl is not None:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(gate, fcntl.LOCK_EX)
        for other in folder.glob("*.sweep"):
            with suppress(OSError), other.open() as file:
                if fcntl is not None:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # fails while the sweep runs
                    other.unlink()
        mark = path.open("x")
        if fcntl is not None:
            with suppress(OSError):
                fcntl.flock(mark, fcntl.LOCK_EX)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        mark.close()


def _worker(folder: Path, ids: set[str]) -> IO[str] | None:
    """The file of a living worker on one of these; those of the dead are removed."""
    for path in folder.glob("*.json"):
        file = path.open()
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            if ids & set(_listed(path)):
                return file
        else:
            path.unlink(missing_ok=True)
        file.close()
    return None


def _listed(path: Path) -> list[str]:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return []
