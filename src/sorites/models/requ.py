"""The link as the feed-forward layer that it stands for: one hidden layer of squared ReLUs (kim-suzuki Sec. 3.1)."""

import dataclasses

import jax
import jax.numpy as jnp

from .links import AbstractParityLink, Means, QuadraticLinear


@dataclasses.dataclass(frozen=True)
class Requ(AbstractParityLink):
    """phi(t) = bias + sum_i weight_i relu(t - knot_i)^2."""

    knots: tuple[float, ...]
    weights: tuple[float, ...]
    bias: float
    like: QuadraticLinear  # the closed form that the layer realises

    def __call__(self, t: Means) -> Means:
        total = jnp.full_like(t, self.bias)
        for knot, weight in zip(self.knots, self.weights, strict=True):
            total = total + weight * jax.nn.relu(t - knot) ** 2
        return total

    @property
    def curvature(self) -> float:
        return self.like.curvature

    @property
    def lipschitz(self) -> float:
        return self.like.lipschitz


def requ(joint: float = 0.5) -> Requ:
    """`QuadraticLinear(joint)` on [-1, 1], knot by knot: phi'' jumps by twice the neuron's weight."""
    link = QuadraticLinear(joint)
    c, a = link.curvature, joint
    return Requ(knots=(-1, a - 1, -a, a, 1 - a), weights=(-c, c, c, -c, -c), bias=1.0, like=link)
