"""A new mask: each thought sees the level below and every second input. Run: sorites run examples/new_mask.py"""

import sorites as so
from sorites.models.masks import previous_level


def every_second_input(layout):
    mask = previous_level(layout)
    mask[layout.inputs :, : layout.inputs : 2] = True
    return mask


task = so.Parity(bits=12, sparsity=4)
model = so.positional(task, mask=every_second_input)
run = so.Run(model, so.stages(task, [so.teacher_forcing(task.layout)], so.Sampled(500), so.Adam(0.1), steps=200))
