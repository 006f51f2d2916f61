"""The device for which a program is traced."""

import jax


def on_gpu() -> bool:
    """Return whether a program that is traced now is compiled for a GPU.

    Returns:
        True if the default device, or else the default backend, is a GPU.
    """
    chosen = jax.config.values["jax_default_device"]
    return (jax.default_backend() if chosen is None else getattr(chosen, "platform", chosen)) in ("gpu", "cuda")
