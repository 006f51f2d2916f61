"""A new reward: a right thought pays 1, a wrong one costs 2. Run: sorites run examples/new_reward.py"""

import jax
import jax.numpy as jnp
import numpy as np

import sorites as so


class Asymmetric(so.AbstractObjective):
    """REINFORCE on the model's own sampled thoughts, judged by the gate applied to its own prefix."""

    def __call__(self, prediction, labels, where, tokens):
        reward = jnp.where(labels == tokens, 1.0, -2.0)
        return so.weighted(-jax.lax.stop_gradient(reward) * prediction.log_prob(tokens), where)


task = so.Parity(bits=12, sparsity=4)
where = np.ones((task.layout.thoughts, 1))
supervision = so.Supervision(so.OwnPrefix("sampled"), so.LabelsFromPrefix(), where, Asymmetric())
evaluation = so.Evaluation(probes=(so.Outcome("rolled"), so.ChildMass()))
plan = so.stages(task, [supervision], so.Sampled(500), so.Adam(0.1), steps=200, evaluation=evaluation)
run = so.Run(so.positional(task, mask="previous-level"), plan)
