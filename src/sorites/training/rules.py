"""Rules turn a gradient into an update. Each is an optax transformation built inside the trace from its
own array fields, so a new rate never recompiles."""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from ..errors import require


def _scalar(value) -> np.ndarray:
    return value if isinstance(value, jax.Array) else np.asarray(value, np.float32)


def _positive(name: str, value) -> None:
    if isinstance(value, np.ndarray) and not (np.isfinite(value).all() and (value > 0).all()):
        require(False, f"a {name} is a positive number: {name}={value.tolist()}; use one above 0")


class AbstractRule(eqx.Module):
    """A rate and an optax transformation made of it."""

    rate: eqx.AbstractVar[Float[Array, ""]]

    @abc.abstractmethod
    def transformation(self) -> optax.GradientTransformation: ...

    def __check_init__(self):
        _positive("rate", self.rate)


class GD(AbstractRule):
    """w <- w - rate * gradient."""

    rate: Float[Array, ""] = eqx.field(converter=_scalar)

    def transformation(self):
        return optax.sgd(self.rate)


class Sign(AbstractRule):
    """w <- w - rate * sign(gradient), with |gradient| <= `tolerance` * the largest entry counted as 0."""

    rate: Float[Array, ""] = eqx.field(converter=_scalar)
    tolerance: Float[Array, ""] = eqx.field(converter=_scalar, default=1e-6)  # pyright: ignore

    def transformation(self):
        def update(gradient, state, params=None):
            largest = jnp.stack([jnp.max(jnp.abs(leaf)) for leaf in jax.tree.leaves(gradient)]).max()

            def step(leaf):
                return -self.rate * jnp.where(jnp.abs(leaf) <= self.tolerance * largest, 0, jnp.sign(leaf))

            return jax.tree.map(step, gradient), state

        return optax.GradientTransformation(lambda params: optax.EmptyState(), update)


class Normalised(AbstractRule):
    """w <- w - rate * gradient / |gradient|."""

    rate: Float[Array, ""] = eqx.field(converter=_scalar)

    def transformation(self):
        def update(gradient, state, params=None):
            size = optax.global_norm(gradient)
            scale = jnp.where(size > 0, self.rate / jnp.where(size > 0, size, 1), 0)
            return jax.tree.map(lambda leaf: -scale * leaf, gradient), state

        return optax.GradientTransformation(lambda params: optax.EmptyState(), update)


class Adam(AbstractRule):
    """AdamW; decay 0 is Adam."""

    rate: Float[Array, ""] = eqx.field(converter=_scalar)
    decay: Float[Array, ""] = eqx.field(converter=_scalar, default=0.0)  # pyright: ignore
    momentum: Float[Array, ""] = eqx.field(converter=_scalar, default=0.9)  # pyright: ignore
    memory: Float[Array, ""] = eqx.field(converter=_scalar, default=0.999)  # pyright: ignore

    def transformation(self):
        return optax.adamw(self.rate, b1=self.momentum, b2=self.memory, weight_decay=self.decay)  # pyright: ignore


class Quantised(AbstractRule):
    """The rule's step, then every weight to its nearest integer, floor(x + 1/2) (log-icot Alg. 1, kim-suzuki
    Thm 7)."""

    rule: AbstractRule

    @property
    def rate(self):  # pyright: ignore
        return self.rule.rate

    def transformation(self):
        inner = self.rule.transformation()

        def update(gradient, state, params=None):
            updates, state = inner.update(gradient, state, params)

            def rounded(weight, step):
                return jnp.floor(weight + step + 0.5) - weight

            return jax.tree.map(rounded, params, updates), state

        return optax.GradientTransformation(inner.init, update)


class Frozen(AbstractRule):
    """The rule on everything but the named parts of the model."""

    rule: AbstractRule
    parts: tuple[str, ...] = eqx.field(static=True)

    @property
    def rate(self):  # pyright: ignore
        return self.rule.rate

    def transformation(self):
        inner = self.rule.transformation()

        def still(updates):
            zero = [jax.tree.map(jnp.zeros_like, getattr(updates, part)) for part in self.parts]
            return eqx.tree_at(lambda tree: [getattr(tree, part) for part in self.parts], updates, zero)

        def update(gradient, state, params=None):
            updates, state = inner.update(still(gradient), state, params)
            return still(updates), state

        return optax.GradientTransformation(inner.init, update)


RULES = {"gd": GD, "sign": Sign, "normalised": Normalised, "adam": Adam}
