"""What the claim and the figure both look at."""

import dataclasses

import numpy as np

import sorites as so


@dataclasses.dataclass(frozen=True)
class Chains:
    """Serial parity, taught by teacher forcing; the fields are the flags of `sorites verify` and `sorites figure`."""

    bits: int = 16
    sparsities: tuple[int, ...] = (2, 4, 8)
    steps: int = 200
    seeds: int = 8


def run(size: Chains, sparsity: int) -> so.Run:
    task = so.Parity(size.bits, sparsity, "serial")
    evaluation = so.Evaluation(every=1, count=500, probes=(so.Loss(), so.Outcome("rolled")))
    goal = so.Until("rolled.answer", 1.0)
    supervision = so.teacher_forcing(task.layout)
    stage = so.Stage(task, (supervision,), so.Sampled(500), so.Adam(0.1), size.steps, evaluation, until=goal)
    return so.Run(so.positional(task), [stage], goal)


def steps_needed(size: Chains, lab: so.Lab) -> dict[int, np.ndarray]:
    """For each sparsity the step at which each member had every held-out answer right; NaN where it never had."""
    found = {}
    for sparsity in size.sparsities:
        solved = lab.train(run(size, sparsity), range(size.seeds)).history.solved_at
        found[sparsity] = np.where(solved >= 0, solved, np.nan)
    return found
