"""Log a training to TensorBoard while it runs. Run: python examples/live_tensorboard.py"""

import sorites as so


def writing_to(writer, metric):
    """Return a callback that writes a metric of every member, and how many members are solved."""

    def callback(step, metrics, members):
        for seed, value in zip(members.seeds, metrics[metric], strict=True):
            writer.add_scalar(f"{metric}/seed {seed}", value, step)
        writer.add_scalar("solved", members.solved.sum(), step)
        writer.flush()

    return callback


task = so.Parity(bits=8, sparsity=4)
plan = so.stages(task, so.log_icot(task.layout), so.Sampled(200), so.Adam(0.1), steps=100)
run = so.Run(so.gated(task), plan)

if __name__ == "__main__":
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise SystemExit("TensorBoard is not installed; install it with `pip install torch tensorboard`") from None
    with SummaryWriter("runs/parity") as writer:  # look at it: tensorboard --logdir runs
        so.train(run, seeds=range(4), callback=writing_to(writer, "padded.answer"))
