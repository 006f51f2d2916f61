"""A plain two-layer network: the learner without attention, positions or a chain.

prediction = W2 tanh(W1 x + b1) + b2,   one output per thought, from the inputs alone
"""

import math
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from ..errors import require
from ..tasks import AbstractTask, Chain, Layout
from .base import AbstractModel, Defaults, own_layout_only, padded_signs, zeros
from .prediction import SignMeans


class Perceptron(AbstractModel):
    """It never reads a thought, shown or not."""

    hidden: Float[Array, "width input"]
    shift: Float[Array, " width"]
    output: Float[Array, "thought width"]
    offset: Float[Array, " thought"]
    layout: Layout = eqx.field(static=True)

    def init(self, key: Key[Array, ""]) -> "Perceptron":
        """Normal weights of variance 1 / fan-in; normal shifts, without which it would be an odd function."""
        first, middle, second = jax.random.split(key, 3)
        width, inputs = self.hidden.shape
        return Perceptron(
            hidden=jax.random.normal(first, self.hidden.shape) / math.sqrt(inputs),
            shift=jax.random.normal(middle, self.shift.shape),
            output=jax.random.normal(second, self.output.shape) / math.sqrt(width),
            offset=jnp.zeros_like(self.offset),
            layout=self.layout,
        )

    probabilistic: ClassVar[bool] = False  # any number
    defaults: ClassVar[Defaults] = Defaults(rate=0.01, batch=500, steps=1000, every=50)

    def refuses(self, layout, alphabet):
        return own_layout_only(self, layout, alphabet)

    def predict(self, chain: Chain, depth: int | None = None, key=None) -> SignMeans:
        features = jnp.tanh(self.hidden @ padded_signs(chain)[: self.layout.inputs] + self.shift)
        return SignMeans((self.output @ features + self.offset)[:, None])


def perceptron(task: AbstractTask, width: int = 32) -> Perceptron:
    """Weights are drawn per member by `init`; before that they are zero."""
    require(width >= 1, f"a hidden layer needs a unit: width={width}; use 1 or more")
    layout = task.layout
    return Perceptron(
        hidden=zeros((width, layout.inputs)),
        shift=zeros(width),
        output=zeros((layout.thoughts, width)),
        offset=zeros(layout.thoughts),
        layout=layout,
    )
