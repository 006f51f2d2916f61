"""Whether JAX compiles just now: told by its own monitoring events, so that training knows nothing of it."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

BEGINS = "/jax/core/compile/jaxpr_to_mlir_module_duration"  # traced and lowered: the compiler is next
ENDS = "/jax/core/compile/backend_compile_duration"  # compiled, or found in the cache
Listener = Callable[[bool, float], None]
_LISTENERS: list[Listener] = []


@contextmanager
def compiling(listener: Listener) -> Iterator[None]:
    """listener(True, 0) when a program goes to the compiler in the block, listener(False, seconds) when it is ready."""
    _register()
    _LISTENERS.append(listener)
    try:
        yield
    finally:
        _LISTENERS.remove(listener)


@functools.cache
def _register() -> None:
    """Once: older versions of JAX cannot forget a single listener."""
    import jax.monitoring

    jax.monitoring.register_event_duration_secs_listener(_heard)


def _heard(event: str, duration_secs: float, **_: object) -> None:
    if event in (BEGINS, ENDS):
        for listener in tuple(_LISTENERS):
            listener(event == BEGINS, 0.0 if event == BEGINS else duration_secs)
