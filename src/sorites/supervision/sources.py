"""Where the gradient comes from: a fresh batch, a fixed pool, every input, or a noisy oracle around these."""

import abc
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from ..errors import require
from ..models import AbstractModel
from ..tasks import AbstractTask, Chain

Objective = Callable[[AbstractModel, Chain, Key[Array, ""]], Float[Array, ""]]  # a mean over the chains
BLOCK = 16_384  # chains per block: larger batches are summed block by block, so memory stays flat


class AbstractSource(eqx.Module):
    """Differentiates an objective at a model."""

    def prepare(self, task: AbstractTask, secret, key: Key[Array, ""]) -> Chain | None:
        """What the member carries through the stage: nothing, or a pool of chains."""

    @property
    @abc.abstractmethod
    def samples(self) -> int:
        """Chains that one gradient consumes."""

    @abc.abstractmethod
    def __call__(
        self,
        objective: Objective,
        model: AbstractModel,
        task: AbstractTask,
        secret,
        pool,
        key: Key[Array, ""],
    ) -> AbstractModel:
        """The gradient: a pytree shaped as the model's arrays."""


class Sampled(AbstractSource):
    """A fresh batch at every step."""

    batch: int = eqx.field(static=True)  # B

    def __check_init__(self):
        require(self.batch >= 1, f"a batch holds at least one chain: batch={self.batch}; use 1 or more")

    @property
    def samples(self) -> int:
        return self.batch

    def __call__(self, objective, model, task, secret, pool, key):
        def block(key, first, count: int):
            draw, choose = jax.random.split(key)
            return eqx.filter_grad(objective)(model, task.sample(secret, draw, count), choose)

        return _in_blocks(block, model, self.batch, key)


def _in_blocks(block, model: AbstractModel, batch: int, key: Key[Array, ""]) -> AbstractModel:
    """The mean over a batch of `block(key, first, count)`, a mean over some of its chains."""
    blocks = -(-batch // BLOCK)
    if blocks == 1:
        return block(key, 0, batch)
    each, keys = batch // blocks, jax.random.split(key, blocks + 1)
    rest = batch - each * blocks

    def add(total, here):
        found = block(*here, each)
        return jax.tree.map(lambda have, more: have + more * (each / batch), total, found), None

    zero = jax.tree.map(jnp.zeros_like, eqx.filter(model, eqx.is_inexact_array))
    total, _ = jax.lax.scan(add, zero, (keys[:-1], jnp.arange(blocks) * each))
    if rest:
        found = block(keys[-1], batch - rest, rest)
        total = jax.tree.map(lambda have, more: have + more * (rest / batch), total, found)
    return total


class Pooled(AbstractSource):
    """Batches drawn with replacement from a fixed pool of chains; batch = pool is full-batch descent."""

    pool: int = eqx.field(static=True)
    batch: int = eqx.field(static=True)

    def __check_init__(self):
        require(
            1 <= self.batch <= self.pool,
            f"a batch comes out of the pool: batch={self.batch}, pool={self.pool}; use 1 <= batch <= pool",
        )

    @property
    def samples(self) -> int:
        return self.batch

    def prepare(self, task, secret, key):
        return task.sample(secret, key, self.pool)

    def __call__(self, objective, model, task, secret, pool, key):
        draw, choose = jax.random.split(key)
        if self.batch < self.pool:
            rows = jax.random.randint(draw, (self.batch,), 0, self.pool)
            pool = jax.tree.map(lambda leaf: leaf[..., rows], pool)

        def block(key, first, count: int):
            chains = jax.tree.map(lambda leaf: jax.lax.dynamic_slice_in_dim(leaf, first, count, axis=-1), pool)
            return eqx.filter_grad(objective)(model, chains, key)

        return _in_blocks(block, model, self.batch, choose)


class Enumerated(AbstractSource):
    """Every input once: the population gradient."""

    bits: int = eqx.field(static=True)

    @property
    def samples(self) -> int:
        return 2**self.bits

    def __call__(self, objective, model, task, secret, pool, key):
        return eqx.filter_grad(objective)(model, task.enumerate(secret), key)


def _scalar(error) -> Array | np.ndarray:
    return error if isinstance(error, jax.Array) else np.asarray(error, np.float32)


class Noisy(AbstractSource):
    """An oracle that is wrong by at most `error` in every entry: uniform, or its worst sign throughout."""

    source: AbstractSource
    error: Float[Array | np.ndarray, ""] = eqx.field(converter=_scalar)
    adversarial: bool = eqx.field(static=True, default=False)

    @property
    def samples(self) -> int:
        return self.source.samples

    def prepare(self, task, secret, key):
        return self.source.prepare(task, secret, key)

    def __call__(self, objective, model, task, secret, pool, key):
        exact, noise = jax.random.split(key)
        gradient = self.source(objective, model, task, secret, pool, exact)
        leaves, structure = jax.tree.flatten(gradient)
        keys = jax.random.split(noise, len(leaves))

        def perturb(leaf, key):
            if self.adversarial:  # push every entry against its own sign
                return leaf - self.error * jnp.sign(leaf)
            return leaf + self.error * jax.random.uniform(key, leaf.shape, minval=-1, maxval=1)

        return jax.tree.unflatten(structure, [perturb(*pair) for pair in zip(leaves, keys, strict=True)])
