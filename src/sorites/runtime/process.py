"""Settings of a whole process: XLA's flags, threads, the cache of compiled programs, the garbage collector."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OURS = "SORITES_XLA_FLAGS"  # the flags that `configure` set, also for child processes
LEVEL = "backend_optimization_level=0"
THREADS = ("NPROC", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")  # XLA's, and those of numpy's products
RARELY = (100_000, 20, 100)  # thresholds of the garbage collector


def configure() -> None:
    """Prepare a process that compiles many programs and runs each of them briefly, as the command line does.

    Sets XLA_FLAGS so that programs compile fast, and raises the thresholds of the garbage collector. XLA reads its
    flags once: call this before JAX runs its first program. Trainings have their own compiler options
    (`sorites.fast.compiler`). XLA_FLAGS stays as it is where the user has set it, or where there is an accelerator.
    """
    if ("XLA_FLAGS" not in os.environ or os.environ["XLA_FLAGS"] == os.environ.get(OURS)) and not has_accelerator():
        os.environ["XLA_FLAGS"] = os.environ[OURS] = fast_compile_flags()
    collect_garbage_rarely()


def fast_compile_flags() -> str:
    """Return the value of XLA_FLAGS under which programs compile fastest.

    An unknown flag ends the process, and from jax 0.11 on the last two flags do not exist.
    """
    from importlib.metadata import version

    flags = [LEVEL]
    if [int(part) for part in version("jax").split(".")[:2]] < [0, 11]:
        flags += ["cpu_use_fusion_emitters=false", "cpu_parallel_codegen_split_count=1"]
    return " ".join(f"--xla_{flag}" for flag in flags)


def compiles_fast() -> bool:
    """Whether `configure` has set this process to compile fast."""
    return LEVEL in os.environ.get(OURS, "")


def flags_of_the_user() -> str:
    """Return what XLA_FLAGS holds beside the flags that `configure` set."""
    ours = os.environ.get(OURS, "").split()
    return " ".join(flag for flag in os.environ.get("XLA_FLAGS", "").split() if flag not in ours)


def has_accelerator() -> bool:
    """Whether a plug-in of JAX is installed; answered without importing JAX."""
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    return bool(entry_points(group="jax_plugins")) or any(map(find_spec, ("jax_plugins", "libtpu")))


def use_single_thread() -> None:
    """Let XLA and numpy use one thread each, unless the user has set another number.

    For a process that works beside others. Call it before numpy is imported and before JAX opens the processor. Some
    products are then summed in another order.
    """
    for name in THREADS:
        os.environ.setdefault(name, "1")


def is_single_threaded() -> bool:
    """Whether XLA uses one thread."""
    return os.environ.get(THREADS[0]) == "1"


@contextmanager
def single_threaded_children() -> Iterator[None]:
    """Make child processes that start in this block single-threaded."""
    unset = [name for name in THREADS if name not in os.environ]
    use_single_thread()
    try:
        yield
    finally:
        for name in unset:
            del os.environ[name]


def use_compilation_cache() -> None:
    """Keep compiled programs on disk, under $SORITES_CACHE or else ~/.cache/sorites.

    Where JAX has a compilation cache already, that one stays. A home that cannot be written is not an error.
    """
    import jax

    if jax.config.values["jax_compilation_cache_dir"] is not None:
        return
    folder = Path(os.environ.get("SORITES_CACHE", Path.home() / ".cache" / "sorites")) / "xla"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)  # compiled programs are executed: only their user may write here
    except OSError:
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)


def collect_garbage_rarely() -> None:
    """Raise the thresholds of the garbage collector: tracing makes many objects and little garbage."""
    gc.set_threshold(*RARELY)
