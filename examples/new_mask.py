"""A new mask: each thought sees the level below and every thought before it. Run: sorites run examples/new_mask.py"""

import numpy as np

import sorites as so
from sorites.models.masks import causal, previous_level


def below_and_before(layout):
    mask, position = previous_level(layout), np.arange(layout.positions)
    return mask | (causal(layout) & (position >= layout.inputs)[None])


task = so.Parity(bits=12, sparsity=4)
model = so.positional(task, mask=below_and_before)
evaluation = so.Evaluation(probes=(so.Loss(), so.Outcome("rolled"), so.ChildMass()))
supervisions = [so.teacher_forcing(task.layout)]
run = so.Run(model, so.stages(task, supervisions, so.Sampled(500), so.Adam(0.1), steps=200, evaluation=evaluation))
