"""A new probe: how sure the model is of its wrong thoughts. Run: sorites run examples/new_probe.py"""

import jax.numpy as jnp

import sorites as so


class SureAndWrong(so.AbstractProbe):
    """Per thought position, the mean certainty (0 a coin, 1 certain) over held-out chains where it errs."""

    def __call__(self, model, task, secret, chains, supervisions):
        prediction, truth = model.predict_batch(chains), chains.tokens[task.layout.inputs :]
        wrong = ~prediction.right(truth)
        certain = 1 - prediction.entropy() / jnp.log(task.alphabet.vocab)
        return {"forced.sure_and_wrong": jnp.sum(certain * wrong, axis=(1, 2)) / jnp.maximum(wrong.sum(axis=(1, 2)), 1)}


task = so.Parity(bits=8, sparsity=4)
evaluation = so.Evaluation(every=25, count=512, probes=(so.Loss(), so.Outcome("forced"), SureAndWrong()))
supervisions = [so.teacher_forcing(task.layout, so.CrossEntropy())]
plan = so.stages(task, supervisions, so.Sampled(128), so.Adam(2e-3), steps=300, evaluation=evaluation)
run = so.Run(so.gpt(task), plan, goal=so.Until("forced.chain"))
