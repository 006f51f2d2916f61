"""Log a training to TensorBoard. Run: python examples/live_tensorboard.py"""

import sorites as so


def writing_to(writer, metric):
    """Return a callback that writes a metric of every member."""

    def callback(step, metrics, members):
        for seed, value in zip(members.seeds, metrics[metric], strict=True):
            writer.add_scalar(f"{metric}/seed {seed}", value, step)
        writer.add_scalar("solved", members.solved.sum(), step)
        writer.flush()

    return callback


task = so.Parity(bits=8, sparsity=4)
plan = so.stages(task, so.log_icot(task.layout), so.Sampled(200), so.Adam(0.1), 100)
run = so.Run(so.gated(task), plan)

if __name__ == "__main__":
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        missing = "tensorboard is not installed; install it with `pip install tensorboard`"
        raise SystemExit(missing) from None
    with SummaryWriter("runs/parity") as writer:  # see tensorboard --logdir runs
        so.train(run, seeds=range(4), callback=writing_to(writer, "padded.answer"))
