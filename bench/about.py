"""Where and with what a record was made: device, versions, commit, command."""

import importlib.metadata
import os
import platform
import subprocess
import sys
from pathlib import Path

import jax

PACKAGES = ("jax", "jaxlib", "equinox", "optax", "numpy", "torch")


def about() -> dict:
    """The head of every record; the commit is empty where the checkout has no git."""
    found = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False, cwd=Path(__file__).parent
    )
    return {
        "device": jax.devices()[0].device_kind,
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "versions": versions(),
        "commit": found.stdout.strip(),
        "command": " ".join(["python", *sys.argv]),
    }


def versions() -> dict[str, str | None]:
    return {"python": platform.python_version()} | {name: _version(name) for name in PACKAGES}


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
