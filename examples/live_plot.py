"""Plot a training while it runs. Run: python examples/live_plot.py; see live.png"""

import matplotlib.pyplot as plt

import sorites as so


def plotting(metric, show):
    """Return a callback that draws one line per member and calls `show(figure)`."""
    (figure, axes), steps, values = plt.subplots(), [], []
    plt.close(figure)  # a notebook must not show it again at the end of the cell

    def callback(step, metrics, members):
        steps.append(step)
        values.append(metrics[metric])
        axes.clear()
        axes.plot(steps, values, color="C0", alpha=0.5)
        axes.set(xlabel="step", ylabel=metric, title=f"{members.solved.sum()} solved")
        show(figure)

    return callback


task = so.Parity(bits=8, sparsity=4)
plan = so.stages(task, so.log_icot(task.layout), so.Sampled(200), so.Adam(0.1), 100)
run = so.Run(so.gated(task), plan)

if __name__ == "__main__":
    save = plotting("padded.answer", lambda figure: figure.savefig("live.png"))
    so.train(run, seeds=range(4), callback=save)
