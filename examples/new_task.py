"""A new task: majority of three secret bits, then parity with a fourth. Run: sorites run examples/new_task.py"""

import jax.numpy as jnp

import sorites as so


class MajorityThenParity(so.AbstractTask):
    bits: int  # a size: plain numbers and strings are compiled in
    layout = property(lambda self: so.Layout(inputs=self.bits, levels=(1, 2)))  # one majority, one answer

    def draw(self, key):
        return so.Parity(self.bits, 4).draw(key)

    def children(self, secret, tokens=None):
        return jnp.array([secret[:3], jnp.array([self.bits, secret[3], -1])])  # -1: the answer has only two

    def relabel(self, secret, tokens):
        majority = jnp.sign(tokens[secret[0]] + tokens[secret[1]] + tokens[secret[2]])
        return jnp.stack([majority, tokens[self.bits] * tokens[secret[3]]]).astype(tokens.dtype)

    def sample(self, secret, key, count):
        tokens = jnp.pad(so.Parity(self.bits, 2).inputs(key, count), ((0, 2), (0, 0)))[:, None]
        for _ in range(2):  # first the majority, then the answer, which reads it
            tokens = tokens.at[self.bits :].set(self.relabel(secret, tokens))
        return so.Chain(tokens, self.layout)


task = MajorityThenParity(bits=12)
run = so.Run(so.gated(task), so.stages(task, so.log_icot(task.layout), so.Sampled(500), so.Adam(0.1), steps=100))
