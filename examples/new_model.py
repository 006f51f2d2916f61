"""A new model: a bilinear form x' W_m x per thought, without attention. Run: sorites run examples/new_model.py"""

import equinox as eqx
import jax
import jax.numpy as jnp

import sorites as so


class Bilinear(so.AbstractModel):
    weights: jax.Array  # thought position position
    layout: so.Layout = eqx.field(static=True)

    def init(self, key):
        return Bilinear(0.1 * jax.random.normal(key, self.weights.shape), self.layout)

    def predict(self, chain, depth=None, key=None):
        shown = True if chain.shown is None else chain.shown
        level = jnp.asarray(self.layout.position_levels)  # a thought reads lower levels
        seen = (level[None] < level[self.layout.inputs :, None]) * jnp.where(shown, chain.tokens[:, 0], 0.0)[None]
        return so.SignLogits(jnp.einsum("mi,mij,mj->m", seen, self.weights, seen)[:, None])


task = so.Parity(bits=8, sparsity=4)
positions = task.layout.positions
model = Bilinear(jnp.zeros((task.layout.thoughts, positions, positions)), task.layout)
evaluation = so.Evaluation(probes=(so.Loss(), so.Outcome("rolled")))
supervisions = [so.teacher_forcing(task.layout, so.CrossEntropy())]
run = so.Run(model, so.stages(task, supervisions, so.Sampled(500), so.Adam(0.05), 200, evaluation))
