"""As many chains as an array says."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from ..errors import require
from .sources import AbstractSource, loss_and_gradient, zero_gradient


def _count(value) -> Array | np.ndarray:
    if isinstance(value, jax.Array):
        return value
    require(int(np.min(value)) >= 1, f"a gradient needs at least one block: count={value}; use 1 or more")
    return np.asarray(value, np.int32)


class Blocks(AbstractSource):
    """A fresh batch of `count` blocks, summed block by block. `count` is data: members of one ensemble may differ in
    the number of chains. An objective that uses its whole batch, as a baseline does, uses one block."""

    block: int = eqx.field(static=True)
    count: Int[Array | np.ndarray, ""] = eqx.field(converter=_count)

    def __check_init__(self):
        require(self.block >= 1, f"a block holds at least one chain: block={self.block}; use 1 or more")

    @property
    def samples(self) -> Any:  # one number per member once members are stacked
        return self.block * self.count

    @property
    def pieces(self) -> frozenset[int]:
        return frozenset([self.block])

    def gradient(self, loss_function, model, task, draw):
        def add(index, total):
            make, choose = jax.random.split(jax.random.fold_in(draw.key, index))
            found = loss_and_gradient(loss_function, model, task.sample(draw.secret, make, self.block), choose)
            return jax.tree.map(jnp.add, total, found)

        total = jax.lax.fori_loop(0, jnp.asarray(self.count), add, zero_gradient(model))
        return jax.tree.map(lambda leaf: leaf / self.count, total)
