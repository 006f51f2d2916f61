"""How much memory an ensemble needs at least, how much there is, and how many programs a process may hold."""

from pathlib import Path

import equinox as eqx
import jax
import numpy as np

from .member import newborn
from .stage import Run

SHARE = 0.9  # of what is free
MAPS = 0.6  # of the memory maps that a process may have; compiled programs take a few dozen each


def needed(run: Run) -> int:
    """Bytes of one member at least: its weights and their gradient, the rule's state, a teacher, and a batch of chains
    with what is said about it. What the compiled program needs besides is not counted."""
    member = newborn(run)
    model, state = _bytes(member.model), _bytes(member.state)
    teachers = any(stage.freeze for stage in run.stages)
    batch = max(
        int(np.max(stage.source.samples)) * stage.task.layout.positions * stage.task.layout.slots * 16
        for stage in run.stages
    )
    return (2 + teachers) * model + state + batch


def _bytes(tree) -> int:
    leaves = jax.tree.leaves(eqx.filter(tree, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct)))
    return sum(leaf.size * leaf.dtype.itemsize for leaf in leaves if leaf.dtype.kind in "biufV")


def available() -> int | None:
    """Bytes that can still be taken where trainings run; None where nobody says."""
    if jax.default_backend() != "cpu":
        found = jax.devices()[0].memory_stats() or {}
        limit = found.get("bytes_limit")
        return None if limit is None else int(SHARE * (limit - found.get("bytes_in_use", 0)))
    free = [_field("/proc/meminfo", "MemAvailable:", 1024), _left("/sys/fs/cgroup")]
    known = [each for each in free if each is not None]
    return int(SHARE * min(known)) if known else None


def _field(path: str, name: str, unit: int) -> int | None:
    try:
        lines = Path(path).read_text().splitlines()
        return next(unit * int(line.split()[1]) for line in lines if line.startswith(name))
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def _left(folder: str) -> int | None:
    """What the container may still take."""
    try:
        limit, used = (Path(folder, name).read_text().strip() for name in ("memory.max", "memory.current"))
        cached = _field(f"{folder}/memory.stat", "inactive_file", 1) or 0
        return int(limit) - int(used) + cached
    except (OSError, ValueError):
        return None


def drop_programs_before_the_limit() -> bool:
    """Every compiled program maps memory, and a process may map only so often: forget them in time."""
    try:
        with open("/proc/self/maps", "rb") as maps:
            count = sum(1 for _ in maps)
        limit = int(Path("/proc/sys/vm/max_map_count").read_text())
    except (OSError, ValueError):
        return False
    if count < MAPS * limit:
        return False
    jax.clear_caches()
    return True
