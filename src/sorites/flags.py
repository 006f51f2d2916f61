"""What is asked of XLA. Of every process that imports sorites: loops as they stand, which saves a fifth of a
compilation and costs a training little. Of the command line's: programs that run once, and most do, are made as soon
as can be, in a quarter to a half of the time; what runs long, a training above all, is compiled well all the same
(`training/compiler.py`). Measured in docs/history/speed.md.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

OURS = "SORITES_XLA_FLAGS"  # what we asked for, also of the processes that we begin
LOOPS = "--xla_backend_extra_options=xla_cpu_disable_loop_unrolling"  # a compiler that does not know it looks past it
LEVEL = "backend_optimization_level=0"
THREADS = ("NPROC", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")  # XLA's, and those of numpy's products


def ask_for_loops_as_they_stand() -> None:
    """Unless somebody has asked for something else, or we have. XLA reads it once, before its first program: where that
    was made before sorites was imported, loops are written out as usual, and last digits may differ."""
    if "XLA_FLAGS" not in os.environ:
        os.environ["XLA_FLAGS"] = os.environ[OURS] = LOOPS


def soonest() -> str:
    """As XLA_FLAGS; an unknown flag ends the process, and from 0.11 on jax does not know the last two."""
    from importlib.metadata import version

    flags = [LEVEL]
    if [int(part) for part in version("jax").split(".")[:2]] < [0, 11]:
        flags += ["cpu_use_fusion_emitters=false", "cpu_parallel_codegen_split_count=1"]
    return " ".join([LOOPS, *(f"--xla_{flag}" for flag in flags)])


def ask_for_soonest() -> None:
    """Unless somebody has asked for something else, or an accelerator is there, whose compiler works otherwise."""
    if ("XLA_FLAGS" not in os.environ or os.environ["XLA_FLAGS"] == os.environ.get(OURS)) and not accelerated():
        os.environ["XLA_FLAGS"] = os.environ[OURS] = soonest()


def asked_for_soonest() -> bool:
    return LEVEL in os.environ.get(OURS, "")


def ask_for_one_thread() -> None:
    """Of a process that works beside others: with a thread for every core each of them took a quarter longer, and
    numpy's products twice as long (docs/history). XLA asks when it opens the processor, numpy when it is loaded; some
    products are then summed in another order."""
    for name in THREADS:
        os.environ.setdefault(name, "1")


def asked_for_one_thread() -> bool:
    return os.environ.get(THREADS[0]) == "1"


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Of the processes that are begun meanwhile."""
    free = [name for name in THREADS if name not in os.environ]
    ask_for_one_thread()
    try:
        yield
    finally:
        for name in free:
            del os.environ[name]


def accelerated() -> bool:
    """Whether there is a plug-in of JAX; asked without JAX, for whose first computation the flags must be set."""
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    return bool(entry_points(group="jax_plugins")) or any(map(find_spec, ("jax_plugins", "libtpu")))


def asked_by_others() -> str:
    """What is in XLA_FLAGS and was not put there by us."""
    ours = os.environ.get(OURS, "").split()
    return " ".join(flag for flag in os.environ.get("XLA_FLAGS", "").split() if flag not in ours)
