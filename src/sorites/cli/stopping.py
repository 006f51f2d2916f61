"""Ctrl-C and SIGTERM: one sentence, the right status, nobody left behind.

Python handles a signal between two instructions, so never inside XLA: a running chunk or compilation ends first, and a
second thread says so meanwhile. The process then leaves without tearing down XLA's threads, which would crash.
"""

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import NoReturn

PATIENCE = 1.0  # seconds after which it is said what one waits for
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(KeyboardInterrupt):
    """A signal asked for the end."""

    status = 130


def listen() -> None:
    """From here on a first signal raises `Stopped` in the main thread, a second one ends the process at once."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    for number in SIGNALS:
        signal.signal(number, _raise)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    sys.unraisablehook = _unheard
    threading.Thread(target=_watch, args=(reading,), daemon=True).start()


def _raise(number: int, frame: FrameType | None) -> NoReturn:
    Stopped.status = 128 + number
    raise Stopped


def _raise_again() -> None:
    main = ctypes.c_ulong(threading.main_thread().ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(Stopped))


def _unheard(lost: "sys.UnraisableHookArgs") -> None:
    """A signal may fall into a finaliser or a collection, out of which nothing is raised."""
    if issubclass(lost.exc_type, Stopped):
        threading.Timer(0.05, _raise_again).start()  # out of here first: nothing is raised out of this either
    else:
        sys.__unraisablehook__(lost)


def _watch(reading: int) -> None:
    first = os.read(reading, 1)[0]

    def remind() -> None:
        time.sleep(PATIENCE)
        _say("stopping as soon as the running chunk or compilation is done; Ctrl-C again ends it at once")
        while True:  # whoever caught the first one lets a later one through
            time.sleep(PATIENCE)
            _raise_again()

    threading.Thread(target=remind, daemon=True).start()
    while os.read(reading, 1)[0] not in SIGNALS:
        pass
    os._exit(128 + first)


def leave(status: int) -> NoReturn:
    """End now, with what was printed; XLA's threads are not waited for."""
    if "multiprocessing.util" in sys.modules:  # the semaphores of a pool
        sys.modules["multiprocessing.util"]._run_finalizers(0)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(status)


def follow_parent() -> None:
    """A worker of its own session: the terminal's Ctrl-C is the parent's, and the parent's end is its own."""
    os.setsid()
    begun_by = multiprocessing.parent_process()  # who may have died before this line
    parent = os.getppid() if begun_by is None else begun_by.pid
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG, where there is one

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _say(sentence: str) -> None:
    os.write(2, f"sorites: {sentence}\n".encode())
