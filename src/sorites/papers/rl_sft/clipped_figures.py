"""Clipped ratios and group-relative advantages beside the plain policy gradient."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl

from ...drawing import COLOURS, band, new_figure
from ...errors import require
from ...models import Positional
from ...probes import child_masses
from ...supervision import PolicyGradient, credit
from ...tasks import Boolean, Layout
from ...training import GD, Adam
from ...training.proximal import Proximal
from ..figure import Figure, Frames
from .exact import pretrained
from .setting import require_rate

RULES = {"adam": Adam, "gd": GD}


@dataclasses.dataclass(frozen=True)
class Clipped:
    bits: int = 12
    sparsity: int = 4
    batch: int = 2_000
    batches: int = 60
    epochs: int = 4
    clip: float = 0.2
    rate: float = 0.1
    rule: str = "adam"
    seeds: int = 12

    def __post_init__(self):
        known = ", ".join(RULES)
        require(self.rule in RULES, f"a rule is one of {known}: rule={self.rule!r}; use one of these")
        require_rate(self.rate)

    def task(self) -> Boolean:
        return Boolean(self.bits, self.sparsity)  # pyright: ignore

    def ways(self) -> dict[str, Proximal]:
        layout = self.task().layout
        rule, faster = (RULES[self.rule](self.rate * times) for times in (1, self.epochs))
        plain, batch, group = (_signal(layout, kind) for kind in ("none", "batch", "group"))
        return {
            "plain, one update per batch": Proximal(plain, rule, self.batch, 1, 0.0),  # pyright: ignore
            f"plain, one update, {self.epochs} times the rate": Proximal(plain, faster, self.batch, 1, 0.0),  # pyright: ignore
            f"ratio, {self.epochs} updates per batch": Proximal(plain, rule, self.batch, self.epochs, 0.0),  # pyright: ignore
            f"clipped ratio, {self.epochs} updates": Proximal(plain, rule, self.batch, self.epochs, self.clip),  # pyright: ignore
            f"batch baseline, clipped, {self.epochs} updates": Proximal(
                batch, rule, self.batch, self.epochs, self.clip
            ),  # pyright: ignore
            f"group-relative, clipped, {self.epochs} updates": Proximal(
                group, rule, self.batch, self.epochs, self.clip
            ),  # pyright: ignore
        }


def _signal(layout: Layout, baseline: str) -> PolicyGradient:
    group = 8 if baseline == "group" else 1
    return PolicyGradient(credit(layout, "step"), baseline, group, baseline == "group")


@eqx.filter_jit
def _run(way: Proximal, task: Boolean, seeds, batches: int) -> tuple[jax.Array, jax.Array]:
    """Mean reward and least child mass before every batch, for each seed."""

    def one(seed):
        secret_key, key = jax.random.split(jax.random.key(seed))
        secret, start = task.draw(secret_key), pretrained(task)
        static = eqx.filter(start, eqx.is_array, inverse=True)
        arrays = eqx.filter(start, eqx.is_array)

        def body(carry, index):
            arrays, state = carry
            model: Positional = eqx.combine(arrays, static)
            mass = child_masses(model, task.layout, task.children(secret)).sum(axis=1).min()
            moved, state, reward = way.step(model, task, secret, state, jax.random.fold_in(key, index))
            return (eqx.filter(moved, eqx.is_array), state), (reward, mass)

        state = way.rule.transformation().init(arrays)
        _, found = jax.lax.scan(body, (arrays, state), jnp.arange(batches))
        return found

    return jax.lax.map(one, seeds)


def _measure(size: Clipped, training) -> Frames:
    rows = []
    for name, way in size.ways().items():
        reward, mass = (np.asarray(each) for each in _run(way, size.task(), jnp.arange(size.seeds), size.batches))
        seed, batch = np.indices(reward.shape)
        rows.append(pl.DataFrame({"way": name, "seed": seed.ravel(), "batch": batch.ravel(), "reward": reward.ravel(),
                                  "child_mass": mass.ravel()}))  # fmt: skip
    return {"data": pl.concat(rows)}


def _grid(data: pl.DataFrame, way: str, column: str, size: Clipped) -> np.ndarray:
    return data.filter(pl.col("way") == way)[column].to_numpy().reshape(size.seeds, size.batches)


def _draw(frames: Frames, size: Clipped):
    figure = new_figure(9.2, 4.4)
    left, right = figure.subplots(1, 2)
    colours = ("black", "purple", "sky", "blue", "green", "vermillion")
    batches = np.arange(size.batches)
    for way, colour in zip(frames["data"]["way"].unique(maintain_order=True), colours, strict=True):
        band(left, batches, _grid(frames["data"], way, "reward", size), way, COLOURS[colour])
        band(right, batches, _grid(frames["data"], way, "child_mass", size), None, COLOURS[colour])
    left.set(
        title=f"Process reward, d={size.bits}, k={size.sparsity}",
        xlabel=f"batches of {size.batch:,} chains",
        ylabel="mean reward of the batch",
    )
    right.set(
        title=f"{size.seeds} secrets, median and 10–90 %",
        xlabel=f"batches of {size.batch:,} chains",
        ylabel="least attention on the children",
    )
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _find(frames: Frames, size: Clipped) -> str:
    words = []
    for way in frames["data"]["way"].unique(maintain_order=True):
        reward = np.median(_grid(frames["data"], way, "reward", size), axis=0)
        past = np.flatnonzero(reward >= 0.9)
        words.append(
            f"{way}: {past[0]}" if len(past) else f"{way}: more than {size.batches} (ends at {reward[-1]:.2f})"
        )
    return f"Batches until the median reward passes 0.9: {'; '.join(words)}."


FIGURES = (
    Figure(
        "rl-sft/clipped", "Clipped ratios and group-relative advantages",
        "REINFORCE with the step reward of Eq. 6: one update per batch, several with the likelihood ratio, clipped at 1 ± 0.2, with a batch "
        "baseline, and with advantages relative to 8 chains of the same input. Adam, so that steps differ in size as well as sign.",
        {"tiny": Clipped(6, 4, 64, 4, 2, seeds=2), "quick": Clipped()}, _measure, _draw, _find, seconds=30,
    ),
)  # fmt: skip
