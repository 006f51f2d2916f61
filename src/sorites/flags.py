"""What the command line asks of XLA: programs that run once, and most do, are made as soon as can be.

That takes a quarter to a half of the time (docs/bench.md). What runs long, a training above all, is compiled well all
the same (`training/compiler.py`).
"""

import os
from importlib.metadata import entry_points, version
from importlib.util import find_spec

OURS = "SORITES_XLA_FLAGS"  # what the command line asked for, also of the processes that it begins


def soonest() -> str:
    """As XLA_FLAGS; an unknown flag ends the process, and from 0.11 on jax does not know the last two."""
    flags = ["backend_optimization_level=0"]
    if [int(part) for part in version("jax").split(".")[:2]] < [0, 11]:
        flags += ["cpu_use_fusion_emitters=false", "cpu_parallel_codegen_split_count=1"]
    return " ".join(f"--xla_{flag}" for flag in flags)


def ask_for_soonest() -> None:
    """Unless somebody has asked for something else, or an accelerator is there, whose compiler works otherwise."""
    if "XLA_FLAGS" not in os.environ and not accelerated():
        os.environ["XLA_FLAGS"] = os.environ[OURS] = soonest()


def ask_for_one_thread() -> None:
    """Of a process that works beside others: with a thread for every core each of them took a quarter longer
    (docs/bench.md). XLA asks when it opens the processor; some products are then summed in another order."""
    os.environ.setdefault("NPROC", "1")


def accelerated() -> bool:
    """Whether there is a plug-in of JAX; asked without JAX, for whose first computation the flags must be set."""
    return bool(entry_points(group="jax_plugins")) or any(map(find_spec, ("jax_plugins", "libtpu")))


def asked_by_others() -> str:
    """What is in XLA_FLAGS and was not put there by the command line."""
    ours = os.environ.get(OURS, "").split()
    return " ".join(flag for flag in os.environ.get("XLA_FLAGS", "").split() if flag not in ours)
