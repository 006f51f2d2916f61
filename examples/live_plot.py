"""Plot a training while it runs, in a notebook or in live.png. Run: python examples/live_plot.py"""

import matplotlib.pyplot as plt

import sorites as so


def plotting(metric, show):
    """Return a callback that draws one line per member and calls `show(figure)`."""
    figure, axes = plt.subplots()
    plt.close(figure)  # a notebook shows it where `show` does, and not again at the end of the cell
    steps, values = [], []

    def callback(step, metrics, members):
        steps.append(step)
        values.append(metrics[metric])
        axes.clear()
        axes.plot(steps, values, color="C0", alpha=0.5)
        axes.set(xlabel="training step", ylabel=metric, title=f"{members.solved.sum()} solved")
        show(figure)

    return callback


task = so.Parity(bits=8, sparsity=4)
plan = so.stages(task, so.log_icot(task.layout), so.Sampled(200), so.Adam(0.1), steps=100)
run = so.Run(so.gated(task), plan)

if __name__ == "__main__":
    so.train(run, seeds=range(4), callback=plotting("padded.answer", lambda figure: figure.savefig("live.png")))
