"""A new curriculum: thoughts are padded from the top down instead. Run: sorites run examples/new_curriculum.py"""

import numpy as np

import sorites as so


def top_down(layout):
    """Stage s hides the last s levels of thoughts but always teaches every thought."""
    level = np.asarray(layout.position_levels)
    where = np.ones((layout.thoughts, layout.slots))
    hidden_from = range(layout.depth + 1, 0, -1)
    return [so.Supervision(so.TruePrefix(level < start), so.TrueLabels(), where, so.Squared()) for start in hidden_from]


task = so.Parity(bits=12, sparsity=8)
run = so.Run(so.reader(task), so.stages(task, top_down(task.layout), so.Sampled(500), so.Adam(0.1), steps=100))
