"""A new task: majority of three secret bits, then parity with a fourth. Run: sorites run examples/new_task.py"""

import jax.numpy as jnp

import sorites as so


class MajorityThenParity(so.AbstractTask):
    layout = so.Layout(inputs=12, levels=(1, 2))  # one majority, one answer

    def draw(self, key):
        return so.Parity(12, 4).draw(key)

    def children(self, secret, tokens=None):
        return jnp.array([[secret[0], secret[1]], [12, secret[3]]])  # two of the majority's three bits

    def relabel(self, secret, tokens):
        majority = jnp.sign(tokens[secret[0]] + tokens[secret[1]] + tokens[secret[2]])
        return jnp.stack([majority, tokens[12] * tokens[secret[3]]]).astype(tokens.dtype)

    def sample(self, secret, key, count):
        tokens = jnp.ones((14, 1, count), jnp.int8).at[:12, 0].set(so.Parity(12, 2).inputs(key, count))
        for position in (12, 13):  # each thought from its children as they stand
            tokens = tokens.at[position].set(self.relabel(secret, tokens)[position - 12])
        return so.Chain(tokens, self.layout)


task = MajorityThenParity()
run = so.Run(so.gated(task), so.stages(task, so.log_icot(task.layout), so.Sampled(500), so.Adam(0.1), steps=100))
