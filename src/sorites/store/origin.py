"""Where a number came from: versions, machine, commit, time."""

import datetime
import functools
import importlib.metadata
import os
import platform
import subprocess
from typing import Any

from ..runtime.devices import describe_device
from .closure import PACKAGE

PACKAGES = ("sorites", "jax", "jaxlib", "equinox", "optax", "numpy", "polars", "safetensors")


def provenance(seconds: float | None = None) -> dict[str, Any]:
    """Return what meta.json says about the machine and the commit."""
    return {
        "created": now(),
        "seconds": None if seconds is None else round(seconds, 3),
        "versions": {name: version for name in PACKAGES if (version := _version(name)) is not None},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "device": describe_device(),
        "flags": os.environ.get("XLA_FLAGS", ""),
        "commit": commit(),
    }


def now() -> str:
    """UTC to the microsecond; such strings sort by time."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds")


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:  # a checkout on the path, or a bare machine
        return None


@functools.cache
def commit() -> str | None:
    """The commit of this source, with `+` where files differ from it; None outside a checkout."""
    if _git("ls-files", "--error-unmatch", "errors.py") is None:  # installed inside somebody else's checkout
        return None
    head, changed = _git("rev-parse", "HEAD"), _git("status", "--porcelain", "--", ".")
    return None if head is None else head + ("+" if changed else "")


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(PACKAGE), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
