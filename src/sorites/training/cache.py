"""The on-disk cache of compiled programs."""

import os
from pathlib import Path

import jax


def use_compilation_cache() -> None:
    """Keep compiled programs under $SORITES_CACHE (else ~/.cache/sorites), unless JAX is set up otherwise."""
    if jax.config.values["jax_compilation_cache_dir"] is not None:
        return
    folder = Path(os.environ.get("SORITES_CACHE", Path.home() / ".cache" / "sorites")) / "xla"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)  # compiled programs are run: nobody else may put one here
    except OSError:  # a read-only home costs compilation time, not the run
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
