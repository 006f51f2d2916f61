"""Where the gradient comes from: a fresh batch, a fixed pool, every input, or a noisy oracle around these."""

import abc
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key, UInt32

from ..errors import SpecError, require
from ..fields import numbers, require_kind, require_whole
from ..models import AbstractModel
from ..tasks import AbstractTask, Chain

LossFunction = Callable[[AbstractModel, Chain, Key[Array, ""]], Float[Array, ""]]  # a mean over the chains
LossAndGradient = tuple[
    Float[Array, ""], Any
]  # the loss, and its gradient: a pytree shaped as the model's trainable arrays


class Draw(NamedTuple):
    """What a source sees of its member at one step."""

    secret: Any
    pool: Any  # what `prepare` made
    samples_drawn: UInt32[Array, ""]  # chains consumed so far: the number of the next one
    key: Key[Array, ""]  # of this step
    teacher: AbstractModel | None  # a frozen earlier self


def loss_and_gradient(
    loss_function: LossFunction, model: AbstractModel, chains: Chain, key: Key[Array, ""]
) -> LossAndGradient:
    """Return the loss on these chains and its gradient."""
    wanted, still = eqx.partition(model, model.trainable())
    return jax.value_and_grad(lambda part: loss_function(eqx.combine(part, still).for_gradient(), chains, key))(wanted)


class AbstractSource(eqx.Module):
    """Makes chains, and differentiates an objective on them."""

    def prepare(self, task: AbstractTask, secret, key: Key[Array, ""], teacher: AbstractModel | None) -> Any:
        """What a stage keeps beside its batches: nothing, or a pool of chains. Made anew, and the same, for every
        chunk."""

    @property
    @abc.abstractmethod
    def samples(self) -> int:
        """Chains that one gradient consumes."""

    @property
    def pieces(self) -> frozenset[int]:
        """How many of them are differentiated at once."""
        return frozenset([self.samples])

    def chains(self, task: AbstractTask, draw: Draw, key: Key[Array, ""]) -> Chain:
        """The batch of a step."""
        raise SpecError(f"{type(self).__name__} makes gradients, not batches; use Sampled, OnePass, Passes or Pooled")

    def gradient(
        self, loss_function: LossFunction, model: AbstractModel, task: AbstractTask, draw: Draw
    ) -> LossAndGradient:
        make, choose = jax.random.split(draw.key)
        return loss_and_gradient(loss_function, model, self.chains(task, draw, make), choose)


class Sampled(AbstractSource):
    """A fresh batch at every step.

    Args:
        batch: chains of a step.
        block: most chains that are differentiated at once. A larger batch is summed block by block, each with its own
            random key, so that memory stays flat.
    """

    batch: int = eqx.field(static=True)  # B
    block: int = eqx.field(static=True, kw_only=True, default=16_384)

    def __check_init__(self):
        require_whole(batch=self.batch)
        require(self.batch >= 1, f"a batch holds at least one chain: batch={self.batch}; use 1 or more")
        _require_block(self.block)

    @property
    def samples(self) -> int:
        return self.batch

    @property
    def pieces(self) -> frozenset[int]:
        return _pieces(self.batch, -(-self.batch // self.block))

    def chains(self, task, draw, key):
        return task.sample(draw.secret, key, self.batch)

    def gradient(self, loss_function, model, task, draw):
        def block(key, first, count: int):
            make, choose = jax.random.split(key)
            return loss_and_gradient(loss_function, model, task.sample(draw.secret, make, count), choose)

        return _in_blocks(block, model, self.batch, draw.key, -(-self.batch // self.block))


def _in_blocks(block, model: AbstractModel, batch: int, key: Key[Array, ""], blocks: int) -> LossAndGradient:
    """The mean over a batch of `block(key, first, count)`, a mean over some of its chains."""
    if blocks == 1:
        return block(key, 0, batch)
    each, keys = batch // blocks, jax.random.split(key, blocks + 1)
    rest = batch - each * blocks

    def add(total, here):
        found = block(*here, each)
        return jax.tree.map(lambda have, more: have + more * (each / batch), total, found), None

    total, _ = jax.lax.scan(add, zero_gradient(model), (keys[:-1], jnp.arange(blocks) * each))
    if rest:
        found = block(keys[-1], batch - rest, rest)
        total = jax.tree.map(lambda have, more: have + more * (rest / batch), total, found)
    return total


def _require_block(block: int) -> None:
    require_whole(block=block)
    require(block >= 1, f"a block holds at least one chain: block={block}; use 1 or more")


def _pieces(batch: int, blocks: int) -> frozenset[int]:
    """What `_in_blocks` has in a block, and in the rest."""
    each = batch // blocks
    return frozenset([each, batch - each * blocks or each])


def zero_gradient(model: AbstractModel) -> LossAndGradient:
    """No loss and no gradient: where a sum begins."""
    zeros = jax.tree.map(jnp.zeros_like, eqx.filter(model, model.trainable()))
    return jnp.zeros((), jnp.result_type(float)), zeros


class Pooled(AbstractSource):
    """Batches drawn with replacement from a fixed pool of chains; batch = pool is full-batch descent.

    Args:
        pool: chains of the pool.
        batch: chains of a step.
        block: most chains that are differentiated at once, where a batch has more than four blocks. It is then summed
            in blocks of one size, if that takes fewer than twice as many.
    """

    pool: int = eqx.field(static=True)
    batch: int = eqx.field(static=True)
    block: int = eqx.field(static=True, kw_only=True, default=4_096)  # nearly fits a CPU's cache

    def __check_init__(self):
        require_whole(pool=self.pool, batch=self.batch)
        require(
            1 <= self.batch <= self.pool,
            f"a batch comes out of the pool: batch={self.batch}, pool={self.pool}; use 1 <= batch <= pool",
        )
        _require_block(self.block)

    @property
    def samples(self) -> int:
        return self.batch

    @property
    def pieces(self) -> frozenset[int]:
        return _pieces(self.batch, _blocks_of_a_pool(self.batch, self.block))

    def prepare(self, task, secret, key, teacher):
        return task.sample(secret, key, self.pool)

    def chains(self, task, draw, key):
        if self.batch == self.pool:
            return draw.pool
        rows = jax.random.randint(key, (self.batch,), 0, self.pool)
        return jax.tree.map(lambda leaf: leaf[..., rows], draw.pool)

    def gradient(self, loss_function, model, task, draw):
        make, choose = jax.random.split(draw.key)
        pool = self.chains(task, draw, make)

        def block(key, first, count: int):
            chains = jax.tree.map(lambda leaf: jax.lax.dynamic_slice_in_dim(leaf, first, count, axis=-1), pool)
            return loss_and_gradient(loss_function, model, chains, key)

        return _in_blocks(block, model, self.batch, choose, _blocks_of_a_pool(self.batch, self.block))


def _blocks_of_a_pool(batch: int, block: int) -> int:
    """One, for a batch of at most four blocks; else the least number of equal blocks, if it is below twice the least
    number of blocks."""
    if batch <= 4 * block:
        return 1
    least = -(-batch // block)
    return next((blocks for blocks in range(least, 2 * least) if batch % blocks == 0), least)


class Enumerated(AbstractSource):
    """Every input once: the population gradient."""

    bits: int = eqx.field(static=True)

    def __check_init__(self):
        require_whole(bits=self.bits)

    @property
    def samples(self) -> int:
        return 2**self.bits

    def gradient(self, loss_function, model, task, draw):
        return loss_and_gradient(loss_function, model, task.enumerate(draw.secret), draw.key)


class Noisy(AbstractSource):
    """An oracle that is wrong by at most `error` in every entry: uniform, or adversarial, which knows the secret and
    makes descent push a thought's two children apart, the way they differ already, and lift every other position."""

    source: AbstractSource
    error: Float[Array | np.ndarray, ""] = eqx.field(converter=numbers)
    adversarial: bool = eqx.field(static=True, default=False)

    def __check_init__(self):
        require_kind("source", self.source, AbstractSource, "Sampled(64)")

    @property
    def samples(self) -> int:
        return self.source.samples

    @property
    def pieces(self) -> frozenset[int]:
        return self.source.pieces

    def prepare(self, task, secret, key, teacher):
        return self.source.prepare(task, secret, key, teacher)

    def gradient(self, loss_function, model, task, draw):
        exact, noise = jax.random.split(draw.key)
        loss, gradient = self.source.gradient(loss_function, model, task, draw._replace(key=exact))
        leaves, structure = jax.tree.flatten(gradient)
        if self.adversarial:
            wrong = _against(leaves, task.children(draw.secret))
        else:
            keys = jax.random.split(noise, len(leaves))
            wrong = [
                jax.random.uniform(key, leaf.shape, minval=-1, maxval=1) for leaf, key in zip(leaves, keys, strict=True)
            ]
        found = [leaf + self.error * push for leaf, push in zip(leaves, wrong, strict=True)]
        return loss, jax.tree.unflatten(structure, found)


def _against(leaves: list[Array], children: Array) -> list[Array]:
    """The worst direction, for one row of weights per thought, in order, over positions; -1 raises a weight."""
    rows = sum(leaf.shape[0] if leaf.ndim == 2 else 0 for leaf in leaves)
    require(
        rows == children.shape[0] and all(leaf.ndim == 2 for leaf in leaves) and children.shape[1] == 2,
        "an adversary knows which weights a thought's two children have: this model's are others; use a random error",
    )
    found, start = [], 0
    for leaf in leaves:
        here = children[start : start + leaf.shape[0]]
        first, second = jnp.take_along_axis(leaf, here, axis=1).T
        apart = jnp.where(first >= second, 1.0, -1.0).astype(leaf.dtype)
        pushed = jnp.full_like(leaf, -1)
        found.append(jnp.put_along_axis(pushed, here, jnp.stack([apart, -apart], axis=1), axis=1, inplace=False))
        start += leaf.shape[0]
    return found
