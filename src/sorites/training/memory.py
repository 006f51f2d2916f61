"""How much memory one member of an ensemble needs."""

import equinox as eqx
import jax
import numpy as np

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


def _bytes(tree) -> int:
    leaves = jax.tree.leaves(eqx.filter(tree, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct)))
    return sum(leaf.size * leaf.dtype.itemsize for leaf in leaves if leaf.dtype.kind in "biufV")
