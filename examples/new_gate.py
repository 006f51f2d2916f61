"""A new gate: implication, which no symmetric link can compute. Run: sorites run examples/new_gate.py"""

import sorites as so


def implies(a, b):
    """-1 only where a is true and b is not."""
    return (a * b - a + b + 1) // 2


task = so.Boolean(bits=12, sparsity=4, gate=so.Gate("implies", implies), decomposition="serial")
run = so.Run(so.gated(task), so.stages(task, so.log_icot(task.layout), so.Sampled(500), so.Adam(0.1), steps=100))
