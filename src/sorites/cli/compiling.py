"""Whether JAX compiles just now: told by its own monitoring events, so that training knows nothing of it."""

import functools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

BEGINS = "/jax/core/compile/jaxpr_to_mlir_module_duration"  # traced and lowered: the compiler is next
ENDS = "/jax/core/compile/backend_compile_duration"  # compiled, or found in the cache
Listener = Callable[[bool, float], None]
_LISTENERS: list[Listener] = []
_LOCK = threading.Lock()  # two programs may be compiled at once
_NOW = {"open": 0, "until": 0.0}  # programs with the compiler, and until when its time is told


@contextmanager
def compiling(listener: Listener) -> Iterator[None]:
    """listener(True, 0) when a program goes to the compiler in the block, listener(False, seconds) when it is ready
    and no other one is there; of two at once the seconds that they share are told once."""
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
    if event not in (BEGINS, ENDS):
        return
    with _LOCK:
        now, seconds = time.perf_counter(), 0.0
        _NOW["open"] = _NOW["open"] + 1 if event == BEGINS else max(_NOW["open"] - 1, 0)
        if event == ENDS:
            seconds = now - max(now - duration_secs, _NOW["until"])
            _NOW["until"] = now
        working = _NOW["open"] > 0
    for listener in tuple(_LISTENERS):
        listener(working, seconds)
