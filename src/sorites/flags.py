"""What the command line asks of XLA: programs that run once, and most do, are made as soon as can be.

That takes a third of the time (docs/bench.md). What runs long, a training above all, is compiled well all the same
(`training/compiler.py`).
"""

import os
from importlib.metadata import entry_points, version

OURS = "SORITES_XLA_FLAGS"  # what the command line asked for, also of the processes that it begins


def soonest() -> str:
    """As XLA_FLAGS; an unknown flag ends the process, and from 0.11 on jax does not know the last two."""
    flags = ["backend_optimization_level=0"]
    if [int(part) for part in version("jax").split(".")[:2]] < [0, 11]:
        flags += ["cpu_use_fusion_emitters=false", "cpu_parallel_codegen_split_count=1"]
    return " ".join(f"--xla_{flag}" for flag in flags)


def ask_for_soonest() -> None:
    """Unless somebody has asked for something else, or an accelerator is there, whose compiler works otherwise."""
    if "XLA_FLAGS" not in os.environ and not entry_points(group="jax_plugins"):
        os.environ["XLA_FLAGS"] = os.environ[OURS] = soonest()


def asked_by_others() -> str:
    """What is in XLA_FLAGS, unless the command line put it there."""
    said = os.environ.get("XLA_FLAGS", "")
    return "" if said == os.environ.get(OURS) else said
