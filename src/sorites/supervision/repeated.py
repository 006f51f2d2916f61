"""Several chains per input."""

import equinox as eqx
import jax
import jax.numpy as jnp

from ..errors import require
from ..fields import require_whole
from .sources import AbstractSource


class Repeated(AbstractSource):
    """A fresh batch in which every input stands `times` times, side by side: trajectories per input, for group
    baselines."""

    batch: int = eqx.field(static=True)
    times: int = eqx.field(static=True)

    def __check_init__(self):
        require_whole(batch=self.batch, times=self.times)
        require(
            1 <= self.times <= self.batch and self.batch % self.times == 0,
            f"a batch is whole groups: batch={self.batch}, times={self.times}; use a multiple of times",
        )

    @property
    def samples(self) -> int:
        return self.batch

    def chains(self, task, draw, key):
        chains = task.sample(draw.secret, key, self.batch // self.times)
        return jax.tree.map(lambda leaf: jnp.repeat(leaf, self.times, axis=-1), chains)
