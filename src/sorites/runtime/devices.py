"""What the device offers: memory, and what runs fastest on it. No number that a training draws depends on this."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import jax

FREE = 0.9  # fraction of the free memory that a training may plan with
MAPS = 0.6  # fraction of the memory maps a process may have; compiled programs take a few dozen each
LARGE = 20_000  # weights of a large model: its members get one call each, and run one after another on a CPU
TOKENS = 50_000  # tokens of a step from which they do
FILLS = 2e11  # weights times tokens of a step that fill a GPU
MOST_ON_CPU, MOST_ON_ACCELERATOR = 1024, 4096  # members of one ensemble of a sweep
LARGE_MEMBERS = 8  # members of one group, of models so large that they train for long


def backend() -> str:
    """The platform that JAX runs on: cpu, gpu or tpu."""
    return jax.default_backend()


def describe_device() -> dict[str, Any]:
    """Return platform, kind and number of the devices, for the record of a result."""
    devices = jax.devices()
    return {"platform": devices[0].platform, "kind": devices[0].device_kind, "count": len(devices)}


def accelerators() -> int:
    """Return how many accelerators this process can use; 0 on a CPU."""
    return 0 if backend() == "cpu" else len(jax.local_devices())


def arrays_in_host_memory() -> bool:
    """Whether JAX's arrays lie in the memory of the processor, where numpy can read and copy them."""
    return backend() == "cpu"


def fills_device(weights: int, tokens: int) -> bool:
    """Whether one member's step fills the device, so that members train faster one after another.

    Args:
        weights: the model's weights.
        tokens: tokens of one batch.
    """
    if backend() == "cpu":
        return tokens > TOKENS or weights > LARGE
    return tokens * weights >= FILLS


def members_of_a_group(weights: int) -> int:
    """Return how many members of a sweep make one ensemble, if memory suffices."""
    if backend() != "cpu":
        return MOST_ON_ACCELERATOR
    return LARGE_MEMBERS if weights > LARGE else MOST_ON_CPU


def on_processor() -> AbstractContextManager:
    """Run small programs in this block on the processor: an accelerator's compiler takes longer for them."""
    try:
        return jax.default_device(jax.devices("cpu")[0])
    except RuntimeError:  # JAX_PLATFORMS names the accelerator alone
        return nullcontext()


def free_memory() -> int | None:
    """Return the bytes that a training may plan with, or None where this is unknown."""
    if backend() != "cpu":
        found = jax.devices()[0].memory_stats() or {}
        limit = found.get("bytes_limit")
        return None if limit is None else int(FREE * (limit - found.get("bytes_in_use", 0)))
    free = [_field("/proc/meminfo", "MemAvailable:", 1024), _left_in_container("/sys/fs/cgroup")]
    known = [each for each in free if each is not None]
    return int(FREE * min(known)) if known else None


def _field(path: str, name: str, unit: int) -> int | None:
    try:
        lines = Path(path).read_text().splitlines()
        return next(unit * int(line.split()[1]) for line in lines if line.startswith(name))
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def _left_in_container(folder: str) -> int | None:
    try:
        limit, used = (Path(folder, name).read_text().strip() for name in ("memory.max", "memory.current"))
        cached = _field(f"{folder}/memory.stat", "inactive_file", 1) or 0
        return int(limit) - int(used) + cached
    except (OSError, ValueError):
        return None


def drop_programs_before_the_limit() -> bool:
    """Forget compiled programs if they use most of the memory maps that this process may have."""
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
