"""How much memory one member of an ensemble needs, and what is said when it is not there."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import equinox as eqx
import jax
import numpy as np

from ..errors import SpecError
from .member import member_shapes
from .stage import Run


def bytes_needed(run: Run) -> int:
    """Return the bytes of one member at least: weights, gradient, optimizer state, a teacher and a batch."""
    member = member_shapes(run)
    model, state = _bytes(member.model), _bytes(member.state)
    teachers = any(stage.freeze for stage in run.stages)
    batch = max(
        int(np.max(stage.source.samples)) * stage.task.layout.positions * stage.task.layout.slots * 16
        for stage in run.stages
    )
    return (2 + teachers) * model + state + batch


@contextmanager
def memory_errors_refused() -> Iterator[None]:
    """Raise a SpecError where the device runs out of memory in this block."""
    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        asked = re.search(r"allocating (\d+)", str(error))
        size = f", {int(asked[1]) / 2**30:,.1f} GiB at once" if asked else ""
        raise SpecError(
            f"out of memory (RESOURCE_EXHAUSTED): the training asked for more than the device has{size}; use a smaller "
            "batch, a shorter task or a smaller model"
        ) from None


def _bytes(tree) -> int:
    leaves = jax.tree.leaves(eqx.filter(tree, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct)))
    return sum(leaf.size * leaf.dtype.itemsize for leaf in leaves if leaf.dtype.kind in "biufV")
