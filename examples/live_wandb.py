"""Log a training to Weights & Biases, offline. Run: python examples/live_wandb.py"""

import numpy as np

import sorites as so


def logging_to(log):
    """Return a callback that logs the mean of each metric over the members."""

    def callback(step, metrics, members):
        seen = {name: each[~np.isnan(each)] for name, each in metrics.items()}
        means = {name: each.mean() for name, each in seen.items() if each.size}
        log({**means, "solved": members.solved.sum()}, step=step)

    return callback


task = so.Parity(bits=8, sparsity=4)
plan = so.stages(task, so.log_icot(task.layout), so.Sampled(200), so.Adam(0.1), 100)
run = so.Run(so.gated(task), plan)

if __name__ == "__main__":
    try:
        import wandb
    except ImportError:
        missing = "wandb is not installed; install it with `pip install wandb`"
        raise SystemExit(missing) from None
    with wandb.init(project="sorites", mode="offline") as board:
        so.train(run, seeds=range(4), callback=logging_to(board.log))
