"""A new task with classes on the GPT: moves on a ring. Run: sorites run examples/new_class_task.py"""

import jax
import jax.numpy as jnp

import sorites as so


class Ring(so.AbstractTask):  # moves 2 2 1 0 2 on a ring of 6: thoughts 4 5 5 1
    layout = so.Layout(inputs=5, levels=tuple(range(1, 5)))  # a place after every move but the first
    alphabet = so.Alphabet(vocab=6, signs=False)

    def draw(self, key):
        return ()

    def children(self, secret, tokens=None):
        return jnp.array([[0, 1], [5, 2], [6, 3], [7, 4]])

    def relabel(self, secret, tokens):
        return (tokens[jnp.array([0, 5, 6, 7])] + tokens[1:5]) % 6

    def sample(self, secret, key, count):
        moves = jax.random.randint(key, (5, 1, count), 0, 3)
        return so.Chain(jnp.concatenate([moves, jnp.cumsum(moves, axis=0)[1:] % 6]), self.layout)


task = Ring()
supervisions = [so.teacher_forcing(task.layout, so.CrossEntropy())]
evaluation = so.Evaluation(probes=(so.Loss(), so.Outcome("rolled"), so.ChildMass()))
run = so.Run(so.gpt(task), so.stages(task, supervisions, so.Sampled(128), so.Adam(2e-3), 300, evaluation))
