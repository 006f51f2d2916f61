"""Figures 5 and 6: the signs of the first policy gradient, and of SFT's gradients update by update."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from ...drawing import COLOURS, QUIET, new_figure
from ...models import Positional
from ...supervision import CountChain, Draw, Hinge, Pooled, Supervision, Unlearned, self_generated
from ...tasks import Boolean
from ...training import Lab
from ..figure import Figure, Frames
from .exact import pretrained, secret_of, signs, with_weights
from .uniform_claims import estimates, estimators, keys_of

TINTS = (COLOURS["vermillion"], "#DAD9D3", COLOURS["blue"])


@dataclasses.dataclass(frozen=True)
class SignMeans:
    bits: int = 20
    sparsity: int = 16
    gate: str = "parity"
    samples: int = 50_000
    rate: float = 4.0

    def task(self) -> Boolean:
        return Boolean(self.bits, self.sparsity, self.gate)  # pyright: ignore


def _table(name: str, values: np.ndarray) -> pl.DataFrame:
    thought, source = np.indices(values.shape) + 1
    return pl.DataFrame(
        {"panel": name, "thought": thought.ravel(), "source": source.ravel(), "value": values.ravel().astype(float)}
    )


def _policy(size: SignMeans, lab: Lab) -> Frames:
    task = size.task()
    secret = secret_of(task)
    goal = np.zeros((task.layout.thoughts, task.layout.positions))
    np.put_along_axis(goal, np.asarray(task.children(secret)), 1.0, axis=1)
    draw = Draw(secret, None, jnp.zeros((), jnp.uint32), jax.random.key(0), None)
    _, exact = CountChain().gradient(lambda *_: jnp.zeros(()), pretrained(task), task, draw)
    panels = [_table("(a) goal: 1/2 on the children", goal), _table("(b) exact, by counting", -signs(exact.weights))]  # pyright: ignore
    for name, taught in estimators(task).items():
        if name != "REINFORCE, token":
            gradient = np.asarray(estimates(task, taught, secret, keys_of(1), size.samples))[0]
            panels.append(_table(f"({'c' if len(panels) == 2 else 'd'}) {name}", signs(gradient)))
    return {"data": pl.concat(panels)}


@eqx.filter_jit
def _descent(model: Positional, task: Boolean, secret, pool, taught: Supervision) -> jax.Array:
    gradient = eqx.filter_grad(lambda model: taught(model, task, secret, pool, jax.random.key(0)))(model)
    return -gradient.weights


def _supervised(size: SignMeans, lab: Lab) -> Frames:
    task = size.task()
    secret, panels = secret_of(task), []
    pool = Pooled(size.samples, size.samples).prepare(task, secret, jax.random.key(1), None)
    plain = self_generated(task.layout, Hinge())
    frozen = self_generated(task.layout, Unlearned(Hinge(), task.layout.levels))
    for name, taught in (("learned levels frozen", frozen), ("nothing frozen", plain)):
        model = pretrained(task)
        for update in range(task.layout.depth - 1):
            direction = _descent(model, task, secret, pool, taught)
            panels.append(
                _table(f"s = {update}, {name}", signs(direction, 0.0))
            )  # levels without a signal are exactly 0
            model = with_weights(model, model.weights + size.rate * jnp.sign(direction))
    return {"data": pl.concat(panels)}


def _draw(frames: Frames, size: SignMeans, columns: int):
    data, layout = frames["data"], size.task().layout
    names = data["panel"].unique(maintain_order=True).to_list()
    rows = -(-len(names) // columns)
    figure = new_figure(2.55 * columns + 0.6, 4.3 * rows + 0.5)
    axes = np.atleast_2d(figure.subplots(rows, columns, sharex=True, sharey=True))
    for ax, name in zip(axes.ravel(), names, strict=False):
        grid = data.filter(pl.col("panel") == name)["value"].to_numpy().reshape(layout.thoughts, layout.positions).T
        ax.pcolormesh(
            grid[: layout.ends[-2]], cmap=ListedColormap(TINTS), vmin=-1.5, vmax=1.5, edgecolors="white", linewidth=0.3
        )
        for end in layout.ends[:-2]:
            ax.axhline(end, color=QUIET, linestyle=":", linewidth=0.9)
            ax.axvline(end - layout.inputs, color=QUIET, linestyle=":", linewidth=0.9) if end > layout.inputs else None
        ax.axvline(layout.thoughts - 1, color=QUIET, linestyle=":", linewidth=0.9)
        ax.set_title(name, fontsize=9)
        ax.grid(False)
    axes[0, 0].invert_yaxis()
    ticks = np.arange(0, layout.ends[-2], 4)
    axes[0, 0].set_yticks(ticks + 0.5, ticks + 1)
    marks = np.arange(0, layout.thoughts, 2)
    axes[0, 0].set_xticks(marks + 0.5, marks + 1)
    for ax in axes[:, 0]:
        ax.set_ylabel("source position")
    for ax in axes[-1]:
        ax.set_xlabel("thought")
    figure.legend(
        handles=[Patch(color=tint, label=word) for tint, word in zip(TINTS, ("−1", "0 or masked", "+1"), strict=True)],
        loc="outside lower center", ncols=3,
    )  # fmt: skip
    return figure


def _draw_policy(frames: Frames, size: SignMeans):
    return _draw(frames, size, 4)


def _draw_supervised(frames: Frames, size: SignMeans):
    return _draw(frames, size, max(1, size.task().layout.depth - 1))


def _wrong(frames: Frames, panel: str, truth: str) -> tuple[int, int]:
    found, goal = (frames["data"].filter(pl.col("panel") == name)["value"].to_numpy() for name in (panel, truth))
    return int((found != goal).sum()), int((goal != 0).sum())


def _find_policy(frames: Frames, size: SignMeans) -> str:
    names = frames["data"]["panel"].unique(maintain_order=True).to_list()
    words = []
    for name in names[2:]:
        wrong, live = _wrong(frames, name, names[1])
        words.append(f"{name[4:]} has {wrong} of {live} signs wrong")
    return (
        f"With {size.samples:,} chains {', '.join(words)}. The last thought reads its two children only: its column is 0 and needs no "
        "update, contrary to “all relevant positions”."
    )


def _find_supervised(frames: Frames, size: SignMeans) -> str:
    task = size.task()
    secret = secret_of(task)
    child = np.zeros((task.layout.thoughts, task.layout.positions), bool)
    np.put_along_axis(child, np.asarray(task.children(secret)), True, axis=1)
    words = []
    levels = np.asarray(task.layout.levels)
    for name in frames["data"]["panel"].unique(maintain_order=True).to_list():
        grid = frames["data"].filter(pl.col("panel") == name)["value"].to_numpy().reshape(child.shape)
        live = [str(level) for level in range(1, task.layout.depth + 1) if (grid[levels == level] != 0).any()]
        wrong = int(((grid > 0) & ~child).sum() + ((grid < 0) & child).sum())
        words.append(f"{name}: levels {', '.join(live) or 'none'} move, {wrong} signs wrong")
    return "; ".join(words) + "."


FIGURES = (
    Figure(
        "rl-sft/5", "Sign of the first policy gradient",
        "Rows are sources, columns thoughts. The paper's panels are (a) and one estimate of (b) from 50,000 samples; the exact sign, the "
        "Rao-Blackwell estimate and plain REINFORCE with the step reward stand side by side.",
        {"tiny": SignMeans(8, 4, samples=2_000), "quick": SignMeans()}, _policy, _draw_policy, _find_policy, seconds=12, claims=("RS-13", "RS-8"),
    ),
    Figure(
        "rl-sft/6", "Sign of SFT's gradient, update by update",
        "Descent direction at s = 0, 1, 2 on a fixed set of 50,000 samples, eta = 4. The paper does not say whether learned levels are frozen; "
        "both are shown.",
        {"tiny": SignMeans(8, 4, samples=2_000), "quick": SignMeans()}, _supervised, _draw_supervised, _find_supervised, seconds=10, claims=("RS-19",),
    ),
)  # fmt: skip
