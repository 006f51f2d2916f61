"""The hardness map: how much a gradient tells about the target, with and without a chain, as d grows."""

import dataclasses
import math

import jax.numpy as jnp
import numpy as np
import polars as pl

from ...drawing import COLOURS, QUIET, new_figure
from ...errors import require
from ...models.positional import positional
from ...theory import class_signal, krawtchouk
from ...theory import parity_class as pc
from ...theory.precision import in_float64
from ...training import Lab
from ..figure import Figure, Frames
from .hardness_learners import answer_alone, answers, drawn, jacobian, task_of


@dataclasses.dataclass(frozen=True)
class Hardness:
    """k = d/2 throughout."""

    perceptron: tuple[int, ...] = (4, 6, 8, 10, 12, 14)  # d, every input and every target enumerated
    transformer: tuple[int, ...] = (4, 8, 16)  # d, powers of two, likewise
    chain: tuple[int, ...] = (4, 8, 16, 32, 64, 128)  # d, by the exact law
    samples: int = 10_000  # n of the noise
    seeds: int = 4  # random weights of the perceptron

    def __post_init__(self):
        enumerated = (*self.perceptron, *self.transformer)
        require(
            all(4 <= d <= 16 and d % 2 == 0 for d in enumerated),
            f"every input is enumerated and k = d/2: bits={enumerated}; use even numbers from 4 to 16",
        )
        require(
            all(d >= 4 and d & (d - 1) == 0 for d in (*self.transformer, *self.chain)),
            f"a tree needs a power of two: bits={(*self.transformer, *self.chain)}; use 4, 8, 16, ...",
        )
        require(self.samples >= 1, f"noise is that of samples: samples={self.samples}; use 1 or more")


def _row(learner: str, bits: int, seed: int, variance: float, noise: float, bound: float | None, samples: int) -> dict:
    """Signal: rms over targets of |grad L_p - class mean|. Noise: rms of an n-sample gradient around its mean."""
    return {
        "learner": learner,
        "bits": bits,
        "seed": seed,
        "signal": math.sqrt(variance),
        "bound": bound,
        "ratio": math.sqrt(variance * samples / noise),
        "samples for ratio 1": noise / variance,
    }


@in_float64
def _without_chain(learner: str, bits: int, seed: int, samples: int) -> dict:
    sparsity, every = bits // 2, np.arange(2**bits)
    task = task_of(bits, sparsity)
    model = positional(task) if learner == "transformer" else drawn(learner, task, seed)
    taught, signs = answer_alone(learner, task.layout), jnp.asarray(pc.signs(bits, every))
    found, said = np.asarray(jacobian(model, taught, task, signs)), np.asarray(answers(model, taught, task, signs))
    variance, slope = pc.population_variance(bits, sparsity, found), (found**2).sum(axis=1)
    means = np.array([float(krawtchouk.mean_label(bits, sparsity, m)) for m in range(bits + 1)])[
        np.bitwise_count(every)
    ]
    square = float(((1 - 2 * means * said + said**2) * slope).mean())  # E_p E_x |(f - p) grad f|²
    centre = (((said - means)[:, None] * found).mean(axis=0) ** 2).sum()  # |E_p grad L_p|²
    noise = square - variance - float(centre)
    bound = math.sqrt(float(slope.mean()) / math.comb(bits, sparsity))
    return _row(learner, bits, seed, variance, noise, bound, samples)


def _measure(size: Hardness, _lab: Lab) -> Frames:
    rows = [_without_chain("perceptron", d, seed, size.samples) for d in size.perceptron for seed in range(size.seeds)]
    rows += [_without_chain("transformer", d, 0, size.samples) for d in size.transformer]
    for d in size.chain:
        told, noise = class_signal.chain_variance(d, d // 2), class_signal.chain_noise(d, d // 2)
        rows.append(_row("chain", d, 0, told, noise, None, size.samples))
    return {"data": pl.DataFrame(rows, infer_schema_length=None)}


LINES = {
    "perceptron": ("MLP, no chain", "vermillion", "o"),
    "transformer": ("transformer, no chain", "purple", "s"),
    "chain": ("transformer, with a chain (exact law)", "blue", "D"),
}


def _draw(frames: Frames, size: Hardness):
    figure = new_figure(9.6, 4.6)
    left, right = figure.subplots(1, 2)
    data = frames["data"]
    for learner, (label, colour, marker) in LINES.items():
        part = data.filter(pl.col("learner") == learner)
        middle = part.group_by("bits").agg(pl.col("signal", "ratio").median()).sort("bits")
        for ax, column in ((left, "signal"), (right, "ratio")):
            ax.scatter(part["bits"], part[column], s=12, color=COLOURS[colour], alpha=0.5, linewidth=0)
            ax.plot(middle["bits"], middle[column], marker=marker, markersize=4, color=COLOURS[colour],
                    label=label if ax is left else None)  # fmt: skip
    bound = data.filter(pl.col("learner") == "perceptron").group_by("bits").agg(pl.col("bound").median()).sort("bits")
    left.plot(
        bound["bits"], bound["bound"], color=COLOURS["vermillion"], linestyle=":", label="Prop. 3's bound for the MLP"
    )
    bits = np.array(sorted(set(data["bits"])), float)
    left.plot(bits, bits**-2.0, color=QUIET, linestyle=(0, (4, 3)), linewidth=1.2, label="an oracle's error $d^{-2}$")
    right.axhline(1, color=QUIET, linestyle=(0, (4, 3)), linewidth=1.2)
    right.text(0.5, 1.05, "noise as large as signal", transform=right.get_yaxis_transform(), ha="center", va="bottom",
               fontsize=8, color=QUIET)  # fmt: skip
    for ax in (left, right):
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.set_xticks(
            bits[np.isin(bits, 2.0 ** np.arange(12))], [f"{int(d)}" for d in bits if d in 2.0 ** np.arange(12)]
        )
        ax.minorticks_off()
        ax.set_xlabel("input bits d (k = d/2)")
    left.set_ylabel("gradient signal: rms over targets")
    left.set_title("What the gradient tells about the target")
    right.set_ylabel("signal / noise")
    right.set_title(f"Against the noise of n = {size.samples:,} samples")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _find(frames: Frames, size: Hardness) -> str:
    data = frames["data"]
    parts = []
    for learner, (label, _, _) in LINES.items():
        last = data.filter(pl.col("learner") == learner).filter(pl.col("bits") == pl.col("bits").max())
        need, bits = float(np.median(last["samples for ratio 1"].to_numpy())), last["bits"][0]
        parts.append(
            f"{label}: signal {np.median(last['signal'].to_numpy()):.2g}, noise as large at n = {need:,.0f} (d={bits})"
        )
    return "; ".join(parts) + "."


FIGURES = (
    Figure(
        "kim-suzuki/hardness", "Hardness map: what a gradient tells, with and without a chain",
        "Signal is the root mean square over all C(d,k) targets of the gradient's distance from the class mean (loss with the "
        "1/2, every input enumerated; with a chain by an exact law at W = 0). Without a chain it falls exponentially in d "
        "(Prop. 3, KS-3), below any polynomial oracle error; with a chain it falls as a power of d. Right: divided by the "
        "noise of an n-sample gradient. Dots: MLPs at random weights; the transformer stands at W = 0, with its own soft chain "
        "where the answer alone is taught.",
        {
            "tiny": Hardness((4, 6), (4,), (4, 8), seeds=2),
            "quick": Hardness(),
            "paper": Hardness((4, 6, 8, 10, 12, 14, 16), (4, 8, 16), (4, 8, 16, 32, 64, 128, 256), seeds=8),
        },
        _measure, _draw, _find, seconds=30, claims=("KS-3", "KS-30"),
    ),
)  # fmt: skip
