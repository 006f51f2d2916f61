"""A model whose arrays exist only once a member is initialised."""

import equinox as eqx
import jax
import jax.numpy as jnp

from sorites.models import AbstractModel, SignMeans
from sorites.probes import Loss, Outcome
from sorites.supervision import Sampled, teacher_forcing
from sorites.tasks import Layout, Parity
from sorites.training import GD, Evaluation, Stage

TASK = Parity(bits=6, sparsity=2)


class Drawn(AbstractModel):
    weights: object
    scale: float
    counts: object = None
    dtype: str = eqx.field(static=True, default="int8")  # of the counts, which no gradient reaches
    layout: Layout = eqx.field(static=True, default=TASK.layout)

    def init(self, key):
        weights = jax.random.normal(key, (1, self.layout.inputs))
        return Drawn(weights, self.scale, jnp.ones(2, self.dtype), self.dtype, self.layout)

    def predict(self, chain, depth=None, key=None):
        return SignMeans(jnp.tanh(self.scale * self.weights @ chain.tokens[:6, 0].astype(jnp.float32))[:, None])


def stage():
    return Stage(TASK, (teacher_forcing(TASK.layout),), Sampled(16), GD(0.1), 2, Evaluation(2, 16, (Loss(), Outcome())))
