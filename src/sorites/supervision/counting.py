"""The policy gradient by counting."""

import equinox as eqx
import jax.numpy as jnp

from ..errors import require
from ..models import Positional
from ..tasks import Boolean
from ..theory import count_chain
from .sources import AbstractSource


class CountChain(AbstractSource):
    """The exact process-reward gradient at uniform attention, any number of bits: the first update. Elsewhere it is
    not a number, so that a run that leaves uniform attention is marked as diverged rather than wrong."""

    @property
    def samples(self) -> int:
        return 1

    def gradient(self, loss_function, model, task, draw):
        assert isinstance(model, Positional)
        require(
            isinstance(task, Boolean)
            and task.decomposition == "tree"
            and task.gate.name in count_chain.GATE_COEFFICIENTS,
            f"counting is for trees of symmetric gates: task={type(task).__name__}; use ExactReward or sample",
        )
        assert isinstance(task, Boolean)
        gate = count_chain.GATE_COEFFICIENTS[task.gate.name]
        found = count_chain.uniform_gradient(task.bits, task.sparsity, model.link, gate)
        levels = jnp.asarray(task.layout.levels) - 1
        mask = jnp.asarray(model.mask(task.layout)[task.layout.inputs :])
        rows = jnp.where(mask, found.irrelevant[levels][:, None], 0)
        rows = jnp.put_along_axis(
            rows, task.children(draw.secret), found.relevant[levels][:, None], axis=1, inplace=False
        )
        low, high = (
            jnp.where(mask, model.weights, jnp.inf).min(axis=1),
            jnp.where(mask, model.weights, -jnp.inf).max(axis=1),
        )
        ascent = jnp.where(jnp.all(low == high), rows, jnp.nan).astype(model.weights.dtype)
        slope = eqx.tree_at(lambda tree: tree.weights, eqx.filter(model, eqx.is_inexact_array), -ascent)
        return jnp.asarray(jnp.nan), slope  # counting tells the slope alone
