"""Log a training to Weights & Biases, offline, while it runs. Run: python examples/live_wandb.py"""

import numpy as np

import sorites as so


def logging_to(log):
    """Return a callback that logs every metric, averaged over the members that train."""

    def callback(step, metrics, members):
        means = {name: float(np.nanmean(each)) for name, each in metrics.items() if not np.isnan(each).all()}
        log({**means, "solved": int(members.solved.sum())}, step=step)

    return callback


task = so.Parity(bits=8, sparsity=4)
plan = so.stages(task, so.log_icot(task.layout), so.Sampled(200), so.Adam(0.1), steps=100)
run = so.Run(so.gated(task), plan)

if __name__ == "__main__":
    try:
        import wandb
    except ImportError:
        raise SystemExit("wandb is not installed; install it with `pip install wandb`") from None
    with wandb.init(project="sorites", mode="offline") as board:  # later: wandb sync wandb/offline-run-*
        so.train(run, seeds=range(4), callback=logging_to(board.log))
