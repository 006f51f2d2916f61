"""How programs are compiled: optimized, or fast where a program runs briefly.

Options in XLA_FLAGS that the user has set are never overridden.
"""

import functools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax

from ..runtime import process
from ..runtime.devices import backend, on_processor

Options = tuple[tuple[str, Any], ...]

# Compile in about half of the time. The programs round otherwise and may run 1.8 times as long.
FAST: Options = (("xla_backend_optimization_level", 1), ("xla_cpu_use_fusion_emitters", False))
ONE_PIECE: Options = (("xla_cpu_parallel_codegen_split_count", 1),)  # where one thread compiles
# XLA's own defaults, for a process whose XLA_FLAGS ask for fast compilation.
OPTIMIZED: Options = (
    ("xla_backend_optimization_level", 3),
    ("xla_cpu_use_fusion_emitters", True),
    ("xla_cpu_parallel_codegen_split_count", 32),
)
# Models whose trainings run as fast when they are compiled fast; by name, so that no model is imported here.
AS_FAST = ("sorites.models.decoder.Decoder",)
# Library products: the search for faster ones takes half of the compilation and finds at most 5 %.
GPU: Options = (("xla_gpu_enable_triton_gemm", False),)


def options(fast_compile: bool) -> Options:
    """Return the compiler options of a program on this device, in this process."""
    if backend() == "gpu":
        wanted = GPU
    elif backend() != "cpu":
        wanted = ()
    elif fast_compile:
        wanted = FAST + ONE_PIECE * process.is_single_threaded()
    else:
        wanted = OPTIMIZED if process.compiles_fast() else ()
    given = process.flags_of_the_user()
    return tuple(each for each in wanted if each[0] not in given and _exists(*each))


def compile_training_fast(model: Any, every: int) -> bool:
    """Whether a training is compiled fast rather than optimized.

    Args:
        model: the model that is trained.
        every: steps between two evaluations of the first stage. A run that is evaluated at every step is taken to be
            short, whatever its length, so that a shortened run rounds as the whole one.
    """
    return every == 1 or f"{type(model).__module__}.{type(model).__qualname__}" in AS_FAST


def compiled(function: Callable, fast_compile: bool, donate: str = "none") -> Any:
    """Return `eqx.filter_jit(function)` with the options of this device and process.

    Args:
        function: what to compile.
        fast_compile: compile in half of the time, for a program that runs briefly.
        donate: as in `eqx.filter_jit`.
    """
    return _jitted(function, donate, options(fast_compile))


def optimized(function: Callable) -> Callable:
    """Decorator: compile a function that runs long, as trainings are compiled."""
    return _decorated(function, fast_compile=False)


def fast_compile(function: Callable) -> Callable:
    """Decorator: compile a function in half of the time, for one that runs as fast without optimization."""
    return _decorated(function, fast_compile=True)


def _decorated(function: Callable, fast_compile: bool) -> Callable:
    @functools.wraps(function)
    def called(*arguments, **named):
        return compiled(function, fast_compile)(*arguments, **named)

    return called


@functools.cache
def _jitted(function: Callable, donate: str, options: Options) -> Any:
    chosen: Any = {"donate": donate, "compiler_options": dict(options) or None}
    return eqx.filter_jit(function, **chosen)


@functools.cache
def _exists(option: str, value: Any) -> bool:
    """Whether this release of the compiler has the option."""
    try:
        with on_processor():  # whose compiler knows the options of all platforms
            jax.jit(lambda: 0, compiler_options={option: value})()
    except jax.errors.JaxRuntimeError as error:
        if option not in str(error):
            raise
        return False
    return True
