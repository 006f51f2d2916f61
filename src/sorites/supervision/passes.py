"""Passes over numbered inputs: one without repetition, or many over the first so many, shuffled anew each time."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from ..errors import require
from ..fields import require_whole, whole_numbers
from ..tasks.numbering import round_keys, shuffled
from .sources import AbstractSource


class OnePass(AbstractSource):
    """The next inputs that training has not seen; after the last one they come round again."""

    batch: int = eqx.field(static=True)

    def __check_init__(self):
        require_whole(batch=self.batch)
        require(self.batch >= 1, f"a batch holds at least one chain: batch={self.batch}; use 1 or more")

    @property
    def samples(self) -> int:
        return self.batch

    def chains(self, task, draw, key):
        numbers = draw.samples_drawn.astype(jnp.uint32) + jnp.arange(self.batch, dtype=jnp.uint32)
        return task.numbered(draw.secret, numbers % np.uint32(task.trainable))


def _size(value) -> Array | np.ndarray:
    found = whole_numbers("size", value)
    if isinstance(found, np.ndarray):
        require(int(found.min()) >= 1, f"a training set has at least one input: size={value}; use 1 or more")
    return found


class Passes(AbstractSource):
    """Many passes over the first `size` inputs. The size is data: members of one ensemble may differ in it."""

    batch: int = eqx.field(static=True)
    size: Int[Array | np.ndarray, ""] = eqx.field(converter=_size)

    def __check_init__(self):
        require_whole(batch=self.batch)
        require(self.batch >= 1, f"a batch holds at least one chain: batch={self.batch}; use 1 or more")

    @property
    def samples(self) -> int:
        return self.batch

    def prepare(self, task, secret, key, teacher):
        """What fixes the order of every pass."""
        return round_keys(key)

    def chains(self, task, draw, key):
        places = draw.samples_drawn.astype(jnp.uint32) + jnp.arange(self.batch, dtype=jnp.uint32)
        size = jnp.asarray(self.size)
        count = size.astype(jnp.uint32)
        return task.numbered(draw.secret, shuffled(places % count, places // count, size, draw.pool))
