"""How programs are compiled: well, or soon where that costs nothing. Whoever sets an option in XLA_FLAGS decides it;
of what we put there, loops as they stand are for all programs, the rest for those that run once."""

import functools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import equinox as eqx
import jax

from ..flags import asked_by_others, asked_for_one_thread, asked_for_soonest

# About half of the compilation. Weights of new members, and of models that say so, are the same to the bit and train
# nearly as fast; others round otherwise, and train up to 1.8 times as long (docs/history): taken where steps are few,
# and for descents that are no Run and, so compiled, take as long.
SOON = (("xla_backend_optimization_level", 1), ("xla_cpu_use_fusion_emitters", False))
WHOLE = (("xla_cpu_parallel_codegen_split_count", 1),)  # in one piece, where there is one thread to compile it
WELL = (  # as the compiler does by itself, but for loops
    ("xla_backend_optimization_level", 3),
    ("xla_cpu_use_fusion_emitters", True),
    ("xla_cpu_parallel_codegen_split_count", 32),
)
# Products from a library: the compiler's own search for faster ones takes half of the compilation and finds 1.6 to 5 %.
GPU = (("xla_gpu_enable_triton_gemm", False),)


def program(function: Callable, backend: str, soon: bool, donate: str = "none") -> Any:
    """The function, compiled for that backend when it is called."""
    sooner = SOON + WHOLE * asked_for_one_thread()
    said, cpu = asked_by_others(), sooner if soon else WELL if asked_for_soonest() else ()
    wanted = {"gpu": GPU, "cpu": cpu}.get(backend, ())
    return _program(function, donate, tuple(each for each in wanted if each[0] not in said and _known(*each)))


def well(function: Callable) -> Callable:
    """The function as a program that runs long, compiled as trainings are."""
    return _called(function, soon=False)


def soon(function: Callable) -> Callable:
    """The same for one that takes no longer when it was made soon (docs/history/speed.md)."""
    return _called(function, soon=True)


def _called(function: Callable, soon: bool) -> Callable:
    @functools.wraps(function)
    def called(*arguments, **named):
        return program(function, jax.default_backend(), soon)(*arguments, **named)

    return called


def on_processor() -> AbstractContextManager:
    """For what is small and asked at once: an accelerator's compiler takes a third of a second for it."""
    try:
        return jax.default_device(jax.devices("cpu")[0])
    except RuntimeError:  # JAX was told to open the accelerator alone
        return nullcontext()


@contextmanager
def beside(program: Any, *arguments: Any) -> Iterator[None]:
    """The program is compiled for these arguments on a thread of its own, while this one compiles another. It is traced
    here, under the settings of this thread; whatever goes wrong there will go wrong again when it is called."""
    lowered = program.lower(*arguments)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lowered.compile)
        yield


@functools.cache
def _program(function: Callable, donate: str, options: tuple[tuple[str, Any], ...]) -> Any:
    chosen: Any = {"donate": donate, "compiler_options": dict(options) or None}
    return eqx.filter_jit(function, **chosen)


@functools.cache
def _known(option: str, value: Any) -> bool:
    """Whether this release of the compiler has it: a later one may not."""
    try:
        with on_processor():  # whose compiler knows the options of the others
            jax.jit(lambda: 0, compiler_options={option: value})()
    except jax.errors.JaxRuntimeError as error:
        if option not in str(error):
            raise
        return False
    return True
