"""A new prefix and new labels: true thoughts, some hidden at random. Run: sorites run examples/new_prefix.py"""

import jax
import jax.numpy as jnp
import numpy as np

import sorites as so


class RandomlyHidden(so.AbstractPrefix):
    rate: float

    def __call__(self, model, chains, key, depth):
        thought = jnp.arange(chains.layout.positions) >= chains.layout.inputs
        drop = False if key is None else jax.random.bernoulli(key, self.rate, thought.shape)
        return so.PrefixOutput(chains.tokens, model.predict_batch(chains.with_shown(~(thought & drop)), depth))


class TrueOnFirstLevel(so.AbstractLabels):
    def __call__(self, task, secret, chains, tokens):
        first = np.asarray(task.layout.levels)[:, None, None] == 1
        return jnp.where(first, chains.tokens[task.layout.inputs :], task.relabel(secret, tokens))


task = so.Parity(bits=12, sparsity=4)
where = np.ones((task.layout.thoughts, task.layout.slots))
supervision = so.Supervision(RandomlyHidden(0.2), TrueOnFirstLevel(), where, so.Squared())
evaluation = so.Evaluation(probes=(so.Loss(), so.Outcome("rolled")))
run = so.Run(so.gated(task), so.stages(task, [supervision], so.Sampled(500), so.Adam(0.1), 200, evaluation))
