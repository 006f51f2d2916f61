"""A sweep: how large a rate, how wrong an oracle. Run: sorites sweep examples/sweep/rates_and_noise.py --dry-run"""

import sorites as so
from sorites.supervision import Noisy


def make_run(rate: float, noise: float, bits: int = 20, sparsity: int = 8) -> so.Run:
    """Teacher forcing on one layer of attention, 16 updates, each gradient entry wrong by at most `noise`."""
    task = so.Parity(bits, sparsity)
    source = Noisy(so.Sampled(4096), noise)
    checks = so.Evaluation(every=1, count=256, probes=(so.Outcome("rolled"),))
    term = so.teacher_forcing(task.layout)
    return so.Run(so.positional(task), [so.Stage(task, (term,), source, so.GD(rate), 16, checks)]).until_goal()


sweep = so.grid(make_run, rate=(3.0, 10.0, 30.0, 100.0, 300.0), noise=(0.0, 0.001, 0.003, 0.01))
seeds = range(16)
