"""Rules turn a gradient into an update. Each is an optax transformation built inside the trace from its
own array fields, so a new rate never recompiles."""

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from ..errors import SpecError, require
from ..fields import numbers, require_kind, shown

Scalar = Float[Array | np.ndarray, ""]


def _rate(value) -> Scalar:
    if not isinstance(value, jax.Array) and (np.ndim(value) > 0 or isinstance(value, str | bool | None)):
        raise SpecError(f"got rate={shown(value)}; allowed is a positive number; write for example 0.1, a run per rate")
    value = numbers(value)
    if isinstance(value, np.ndarray):  # a traced rate was checked when it was given
        good = bool(np.isfinite(value).all() and (value > 0).all())
        require(good, f"a rate is a positive number: rate={value.tolist()}; use one above 0")
    return value


class AbstractOptimizer(eqx.Module):
    """An optax transformation made of array fields."""

    @abc.abstractmethod
    def transformation(self) -> optax.GradientTransformation: ...


def _require_optimizer(value: Any) -> None:
    require_kind("optimizer", value, AbstractOptimizer, "Adam(0.1)")


class GD(AbstractOptimizer):
    """w <- w - rate * gradient."""

    rate: Scalar = eqx.field(converter=_rate)

    def transformation(self):
        return optax.sgd(jnp.asarray(self.rate))


class Sign(AbstractOptimizer):
    """w <- w - rate * sign(gradient), with |gradient| <= `tolerance` * the largest entry counted as 0."""

    rate: Scalar = eqx.field(converter=_rate)
    tolerance: Scalar = eqx.field(converter=numbers, default=1e-6)  # pyright: ignore

    def transformation(self):
        def update(updates, state, params=None):
            largest = jnp.stack([jnp.max(jnp.abs(leaf)) for leaf in jax.tree.leaves(updates)]).max()

            def step(leaf):
                return -self.rate * jnp.where(jnp.abs(leaf) <= self.tolerance * largest, 0, jnp.sign(leaf))

            return jax.tree.map(step, updates), state

        return optax.GradientTransformation(lambda params: optax.EmptyState(), update)


class Normalised(AbstractOptimizer):
    """w <- w - rate * gradient / |gradient|."""

    rate: Scalar = eqx.field(converter=_rate)

    def transformation(self):
        def update(updates, state, params=None):
            size = optax.tree.norm(updates)
            scale = jnp.where(size > 0, self.rate / jnp.where(size > 0, size, 1), 0)
            return jax.tree.map(lambda leaf: -scale * leaf, updates), state

        return optax.GradientTransformation(lambda params: optax.EmptyState(), update)


class Adam(AbstractOptimizer):
    """Adam with its momenta as plain numbers: 1 - 0.999 as float32 arrays is off by 5e-5 of itself."""

    rate: Scalar = eqx.field(converter=_rate)
    momentum: float = eqx.field(static=True, default=0.9)
    memory: float = eqx.field(static=True, default=0.999)

    def __check_init__(self):
        for name, value in (("momentum", self.momentum), ("memory", self.memory)):
            number = isinstance(value, int | float | np.number) and not isinstance(value, bool) and 0 <= value < 1
            require(number, f"got {name}={shown(value)}; allowed are numbers from 0 to below 1; use for example 0.9")

    def transformation(self):
        scaled = optax.scale_by_adam(b1=self.momentum, b2=self.memory, eps=1e-8)
        return optax.chain(scaled, optax.scale_by_learning_rate(jnp.asarray(self.rate)))


class AdamW(AbstractOptimizer):
    """AdamW; all its numbers are data. Decay 0 is Adam, up to rounding."""

    rate: Scalar = eqx.field(converter=_rate)
    decay: Scalar = eqx.field(converter=numbers, default=0.0)  # pyright: ignore
    momentum: Scalar = eqx.field(converter=numbers, default=0.9)  # pyright: ignore
    memory: Scalar = eqx.field(converter=numbers, default=0.999)  # pyright: ignore

    def transformation(self):
        return optax.adamw(self.rate, b1=self.momentum, b2=self.memory, weight_decay=self.decay)  # pyright: ignore


class Clip(AbstractOptimizer):
    """The optimizer on a gradient whose global norm is at most `norm`."""

    optimizer: AbstractOptimizer
    norm: Scalar = eqx.field(converter=numbers)

    def __check_init__(self):
        _require_optimizer(self.optimizer)
        if isinstance(self.norm, np.ndarray):
            require(
                bool((self.norm > 0).all()), f"a norm is a positive number: norm={self.norm.tolist()}; use one above 0"
            )

    def transformation(self):
        inner = self.optimizer.transformation()

        def update(updates, state, params=None):
            size = optax.tree.norm(updates)

            def clipped(leaf):
                return jnp.where(size < self.norm, leaf, leaf / size.astype(leaf.dtype) * self.norm.astype(leaf.dtype))

            return inner.update(jax.tree.map(clipped, updates), state, params)

        return optax.GradientTransformation(inner.init, update)


class Decay(AbstractOptimizer):
    """The optimizer with a rate that falls linearly over `over` steps, to 1 - by of it: to zero by default."""

    optimizer: AbstractOptimizer
    over: Scalar = eqx.field(converter=_rate)
    by: Scalar = eqx.field(converter=numbers, default=1.0)  # pyright: ignore

    def __check_init__(self):
        _require_optimizer(self.optimizer)
        require(
            hasattr(self.optimizer, "rate"),
            f"what decays is a rate: {type(self.optimizer).__name__} has none; decay its inner optimizer",
        )

    def transformation(self):
        inner = self.optimizer.transformation()

        def update(updates, state, params=None):
            count, state = state
            share = jnp.maximum(1 - self.by * jnp.minimum(count / self.over, 1), 0)
            slower = eqx.tree_at(lambda optimizer: optimizer.rate, self.optimizer, self.optimizer.rate * share)  # pyright: ignore
            updates, state = slower.transformation().update(updates, state, params)
            return updates, (count + 1, state)

        return optax.GradientTransformation(lambda params: (jnp.zeros((), jnp.int32), inner.init(params)), update)


class Quantised(AbstractOptimizer):
    """The optimizer's step, then every weight to its nearest integer, floor(x + 1/2) (log-icot Alg. 1, kim-suzuki
    Thm 7)."""

    optimizer: AbstractOptimizer

    def __check_init__(self):
        _require_optimizer(self.optimizer)

    def transformation(self):
        inner = self.optimizer.transformation()

        def update(updates, state, params=None):
            updates, state = inner.update(updates, state, params)

            def rounded(weight, step):
                return jnp.floor(weight + step + 0.5) - weight

            return jax.tree.map(rounded, params, updates), state

        return optax.GradientTransformation(inner.init, update)


class Frozen(AbstractOptimizer):
    """The optimizer on everything but the named parts of the model."""

    optimizer: AbstractOptimizer
    parts: tuple[str, ...] = eqx.field(static=True)

    def __check_init__(self):
        _require_optimizer(self.optimizer)

    def transformation(self):
        inner = self.optimizer.transformation()

        def still(updates):
            for part in self.parts:
                require(hasattr(updates, part), f"a frozen part is a field of the model: {part!r}; use its name")
            zero = [jax.tree.map(jnp.zeros_like, getattr(updates, part)) for part in self.parts]
            return eqx.tree_at(lambda tree: [getattr(tree, part) for part in self.parts], updates, zero)

        def update(updates, state, params=None):
            updates, state = inner.update(still(updates), state, params)
            return still(updates), state

        return optax.GradientTransformation(inner.init, update)


OPTIMIZERS = {"gd": GD, "sign": Sign, "normalised": Normalised, "adam": Adam, "adamw": AdamW}
