"""How programs are compiled: well, or soon, where what they do is short. Whoever sets one of these options in XLA_FLAGS
decides it for all."""

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import numpy as np

from .stage import Run

# Products from a library: the compiler's own search for faster ones takes half of the compilation and finds 1.6 to 5 %.
GPU = {"xla_gpu_enable_triton_gemm": False}
# Half of the compilation, for kernels that take up to twice as long (docs/bench.md).
SOON = {"xla_backend_optimization_level": 1, "xla_cpu_use_fusion_emitters": False}
SHORT = 2e11  # weights x tokens of a training: four seconds of a core where a GPT or the gated transformer trains


def short(run: Run, lengths: Sequence[int], members: int, lanes: str) -> bool:
    """Whether a training of so many steps in each stage is over soon; members that run apart count one by one, so that
    they do not depend on company."""
    tokens = sum(
        steps * int(np.max(stage.source.samples)) * stage.task.layout.positions
        for stage, steps in zip(run.stages, lengths, strict=True)
    )
    return (members if lanes == "together" else 1) * tokens * run.model.weights_count < SHORT


@functools.cache
def program(function: Callable, backend: str, soon: bool, donate: str = "none") -> Any:
    """The function, compiled for that backend when it is called."""
    chosen: Any = {"donate": donate, "compiler_options": options(backend, soon)}
    return eqx.filter_jit(function, **chosen)


def options(backend: str, soon: bool) -> dict[str, Any] | None:
    wanted = GPU if backend == "gpu" else SOON if backend == "cpu" and soon else {}
    said = os.environ.get("XLA_FLAGS", "")
    return wanted if wanted and not any(name in said for name in wanted) and _known(backend) else None


@functools.cache
def _known(backend: str) -> bool:
    """Whether this release of the compiler has them: later ones may not."""
    try:
        jax.jit(lambda: 0, compiler_options=GPU if backend == "gpu" else SOON)()
    except Exception:
        return False
    return True
