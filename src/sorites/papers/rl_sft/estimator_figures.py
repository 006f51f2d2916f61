"""How well sampling finds the signs, and how little an outcome reward says."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from matplotlib.ticker import MaxNLocator

from ...drawing import COLOURS, band, new_figure
from ...fast.compiler import optimized
from ...statistics import log_log_slope
from ...supervision import (
    AbstractSource,
    Draw,
    PolicyGradient,
    Repeated,
    Sampled,
    Supervision,
    assignments,
    credit,
    process_reward,
)
from ...tasks import Boolean
from ...theory.precision import in_float64
from ...training import Lab
from ..figure import Figure, Frames
from .exact import pretrained, secret_of
from .experiments import GROUP
from .outcome_claims import answer_slopes, class_variance, parities
from .setting import Tree
from .uniform_claims import estimators, keys_of, sign_accuracy


@dataclasses.dataclass(frozen=True)
class Accuracy:
    bits: int = 20
    sparsity: int = 16
    gate: str = "parity"
    block: int = 1_000
    blocks: int = 100  # the largest number of samples is block x blocks
    seeds: int = 8

    def task(self) -> Boolean:
        return Boolean(self.bits, self.sparsity, self.gate)  # pyright: ignore


@optimized
def _blocks(task: Boolean, taught: Supervision, source, secret, keys, blocks: int) -> jax.Array:
    """The gradient of every block, for each seed: their running mean is the estimate from more and more samples."""

    def objective(model, chains, key):
        return taught(model, task, secret, chains, key)

    def one(key):
        def block(_, index):
            draw = Draw(secret, None, jnp.zeros((), jnp.uint32), jax.random.fold_in(key, index), None)
            _, gradient = source.gradient(objective, pretrained(task), task, draw)
            return None, -gradient.weights

        return jax.lax.scan(block, None, jnp.arange(blocks))[1]

    return jax.lax.map(one, keys)


def _accuracy(size: Accuracy, lab: Lab) -> Frames:
    task, rows = size.task(), []
    secret, layout = secret_of(task), task.layout
    plain = Sampled(size.block)
    ways: dict[str, tuple[Supervision, AbstractSource]] = {
        name: (taught, plain) for name, taught in estimators(task).items()
    }
    ways["REINFORCE, step, batch baseline"] = (
        process_reward(layout, PolicyGradient(credit(layout, "step"), "batch")),
        plain,
    )
    ways["REINFORCE, return (Lemma D.1)"] = (process_reward(layout, PolicyGradient(credit(layout, "return"))), plain)
    grouped = process_reward(layout, PolicyGradient(credit(layout, "step"), "group", GROUP))
    ways[f"REINFORCE, step, {GROUP} chains per input"] = (grouped, Repeated(size.block // GROUP * GROUP, GROUP))
    for name, (taught, source) in ways.items():
        found = np.asarray(_blocks(task, taught, source, secret, keys_of(size.seeds), size.blocks))
        running = np.cumsum(found, axis=1)
        for count in sorted({int(c) for c in np.geomspace(1, size.blocks, 9)}):
            for seed, accuracy in enumerate(sign_accuracy(task, secret, running[:, count - 1])):
                rows += [{"estimator": name, "samples": count * size.block, "seed": seed, "level": level + 1, "accuracy": float(a)}
                         for level, a in enumerate(accuracy)]  # fmt: skip
    return {"data": pl.DataFrame(rows)}


def _draw_accuracy(frames: Frames, size: Accuracy):
    data = frames["data"]
    levels = sorted(data["level"].unique())
    figure = new_figure(3.1 * len(levels) + 0.8, 4.4)
    axes = np.atleast_1d(figure.subplots(1, len(levels), sharey=True))
    names = data["estimator"].unique(maintain_order=True).to_list()
    colours = list(COLOURS.values())
    for ax, level in zip(axes, levels, strict=True):
        for name, colour in zip(names, colours, strict=False):
            part = data.filter((pl.col("estimator") == name) & (pl.col("level") == level)).sort("seed", "samples")
            samples = np.unique(part["samples"].to_numpy())
            band(
                ax,
                samples,
                part["accuracy"].to_numpy().reshape(-1, len(samples)),
                name if level == levels[0] else None,
                colour,
            )
        ax.set_xscale("log")
        ax.set(title=f"level {level}", xlabel="chains")
    axes[0].set_ylabel("share of right signs")
    figure.legend(loc="outside lower center", ncols=min(len(levels), 2))
    figure.suptitle(
        f"First policy gradient, {size.gate}, d={size.bits}, k={size.sparsity}, {size.seeds} seeds", fontsize=11
    )
    return figure


def _find_accuracy(frames: Frames, size: Accuracy) -> str:
    data = frames["data"].filter((pl.col("level") == 1) & (pl.col("samples") == frames["data"]["samples"].max()))
    means = data.group_by("estimator", maintain_order=True).agg(pl.col("accuracy").mean())
    words = [f"{name} {mean:.3f}" for name, mean in means.iter_rows()]
    return f"Right signs on level 1 with {int(data['samples'][0]):,} chains: {'; '.join(words)}."


@dataclasses.dataclass(frozen=True)
class Variance:
    bits: tuple[int, ...] = (4, 5, 6, 7, 8, 9, 10)
    sparsity: int = 4


@in_float64
def _variance(size: Variance, lab: Lab) -> Frames:
    rows = []
    for bits in size.bits:
        slopes = np.asarray(answer_slopes(pretrained(Tree(bits, size.sparsity).task()), assignments(bits)))
        most = float((slopes**2).sum(axis=1).mean())
        for name, chosen in (("all parities", None), ("k-sparse parities", size.sparsity)):
            functions = parities(bits, chosen)
            variance = class_variance(slopes, functions)
            rows.append(
                {
                    "class": name,
                    "bits": bits,
                    "variance": variance,
                    "bound": most / len(functions),
                    "functions": len(functions),
                    "M": most,
                }
            )
    return {"data": pl.DataFrame(rows)}


def _draw_variance(frames: Frames, size: Variance):
    figure = new_figure(6.4, 4.4)
    ax = figure.subplots()
    for name, colour in (("all parities", "blue"), ("k-sparse parities", "vermillion")):
        part = frames["data"].filter((pl.col("class") == name) & (pl.col("variance") > 1e-18))
        ax.plot(part["bits"], part["variance"], marker="o", color=COLOURS[colour], label=f"variance over {name}")
        ax.plot(part["bits"], part["bound"], linestyle="--", color=COLOURS[colour], label=f"bound M/|H|, {name}")
    ax.set_yscale("log")
    ax.set(
        title=f"Outcome reward at uniform attention, k={size.sparsity}",
        xlabel="bits d",
        ylabel="variance of the gradient over targets",
    )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend()
    return figure


def _find_variance(frames: Frames, size: Variance) -> str:
    data = frames["data"]
    every = data.filter(pl.col("class") == "all parities").sort("bits")
    sparse = data.filter((pl.col("class") == "k-sparse parities") & (pl.col("variance") > 1e-18)).sort("bits")
    ratio = every["variance"].to_numpy() / every["bound"].to_numpy()
    words = ""
    if every["bits"].n_unique() >= 2:
        halving = math.exp(np.polyfit(every["bits"].to_numpy(), np.log(every["variance"].to_numpy()), 1)[0])
        words = f" It falls by a factor {1 / halving:.1f} per bit."
    if sparse.height >= 3:
        slope = log_log_slope(sparse["bits"].to_numpy(), sparse["variance"].to_numpy())
        words += (
            f" Over k-sparse parities its log-log slope here is {slope.value:.1f}; they number C(d,k), so at fixed k the bound is "
            "polynomial in d, not exponential."
        )
    return f"Over all parities the variance is {ratio.min():.3f} to {ratio.max():.3f} of the bound.{words}"


FIGURES = (
    Figure(
        "rl-sft/estimators", "Signs of the policy gradient against samples",
        "Share of entries whose sign agrees with the exact one, level by level, for estimates of the same gradient: the token summed out "
        "(Rao-Blackwell), and REINFORCE with ever less specific credit, with baselines and several chains per input. Median and 10-90 %.",
        {"tiny": Accuracy(8, 4, block=64, blocks=4, seeds=2), "quick": Accuracy(), "paper": Accuracy(blocks=1000, seeds=32)},
        _accuracy, _draw_accuracy, _find_accuracy, seconds=60, claims=("RS-13",),
    ),
    Figure(
        "rl-sft/outcome-variance", "How much an outcome reward says about the target",
        "Variance of the outcome-reward gradient over a class of targets, exactly, with the bound of Prop. 3.2.",
        {"tiny": Variance((4, 5, 6)), "quick": Variance(), "paper": Variance((4, 5, 6, 7, 8, 9, 10, 11, 12))}, _variance, _draw_variance, _find_variance,
        seconds=15, claims=("RS-24",),
    ),
)  # fmt: skip
