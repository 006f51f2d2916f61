"""Gradient flow: the second driver of the same gradient. diffrax is imported where it is used."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..errors import require


class Flow(NamedTuple):
    """A trajectory of dw/dt = field(w)."""

    times: Float[np.ndarray, " time"]
    states: Float[np.ndarray, "time weight"]
    steps: int  # of the solver


def gradient_flow(
    field: Callable[[Float[Array, " weight"]], Float[Array, " weight"]],
    start: Float[np.ndarray, " weight"],
    times: Float[np.ndarray, " time"],
    tolerance: float = 1e-10,
    most: int = 100_000,
) -> Flow:
    """Integrate from the first time to the last (Dormand-Prince 8, adaptive) and read the state at every time; run
    it inside `in_float64`."""
    import diffrax

    require(len(times) >= 2 and bool(np.all(np.diff(times) > 0)), "times of a flow increase: give two or more")
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, state, _: field(state)),
        diffrax.Dopri8(),
        t0=float(times[0]),
        t1=float(times[-1]),
        dt0=None,
        y0=jnp.asarray(start),
        saveat=diffrax.SaveAt(ts=jnp.asarray(times)),
        stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
        max_steps=most,
        throw=False,
    )
    finished = solution.result == diffrax.RESULTS.successful
    require(bool(finished), f"the flow ends within {most} solver steps: it did not; use an earlier last time")
    return Flow(np.asarray(times), np.asarray(jax.device_get(solution.ys)), int(solution.stats["num_steps"]))
