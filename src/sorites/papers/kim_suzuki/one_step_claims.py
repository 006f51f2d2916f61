"""Claims about Theorem 5, one step with teacher forcing, and about the augmented data of Theorem 7."""

import dataclasses
import math
from typing import Any

import jax
import numpy as np

from ...errors import require
from ...ledger import Claim, Erratum, Evidence, alone, at_most, equal, shown
from ...statistics import wilson
from ...tasks import Parity
from ...training import Lab, Trained
from ..tree_checks import frequency, require_trials
from .setting import PAPER
from .theorems import OneStep, trained
from .trained import BROKEN, TINY, median_error, right, works


@dataclasses.dataclass(frozen=True)
class TheoremFive(OneStep):
    fewer: tuple[int, ...] = (5_000, 20_000)  # smaller n, for the trend
    weaker: tuple[float, ...] = (10.0, 14.0)  # smaller K, for the trend
    error: float = 0.05  # of a noisy oracle, in units of d^-2


def _one_step(size: TheoremFive, lab: Lab) -> Evidence:
    setting = alone(OneStep, size)

    def changed(**changes: Any) -> Trained:
        return trained(dataclasses.replace(setting, **changes), lab)

    calibrated, literal = trained(setting, lab), changed(strength=0.0)
    noise = size.error / size.bits**2
    oracles = {name: changed(noise=noise, oracle=name) for name in ("random", "adversarial")}
    by_samples = [median_error(changed(samples=n)) for n in (*size.fewer, size.samples)]
    by_strength = [median_error(changed(strength=k)) for k in (*size.weaker, size.strength)]
    low, high = wilson(right(calibrated), size.seeds)
    return Evidence(
        (
            works(f"K={size.strength:g}", calibrated),
            shown("success rate, Wilson low", None, low),
            shown("success rate, Wilson high", None, high),
            shown("largest error of the answer, median over seeds", None, median_error(calibrated)),
            at_most("printed rate eta = d^2: seeds with all answers right", right(literal), BROKEN * size.seeds),
            shown("printed rate: mean accuracy", None, float(literal.history.last("soft.answer").mean())),
            *(works(f"oracle with {name} error {size.error:g}/d^2 per entry", result) for name, result in oracles.items()),
            equal("median error falls with n: steps that rise", 0, _rises(by_samples), 0),
            equal("median error falls with K: steps that rise", 0, _rises(by_strength), 0),
        ),
        seeds=size.seeds,
        departures=(
            f"The theorem's rate eta = d^(2 + epsilon/16) is run with epsilon -> 0 as 'printed'; K d^2/(2c) with K={size.strength:g} is "
            "the calibrated one. The theorem's error exponent is asymptotic and not asserted.",
        ),
    )  # fmt: skip


def _rises(values: list[float]) -> int:
    return int((np.diff(values) >= 0).sum())


@dataclasses.dataclass(frozen=True)
class Augmented:
    bits: int = 256  # below about 210 the bound exceeds 1 and says nothing
    sparsity: int = 128
    samples: int = 200  # n
    strings: int = 12  # n'
    failure: float = 0.05  # p
    trials: int = 400

    def __post_init__(self):
        require_trials(self.trials, self.failure)
        counts = self.samples >= 1 and self.strings >= 1
        require(counts, f"samples and strings are counted: {self.samples}, {self.strings}; use 1 or more of both")
        most = max(self.bound(), self.allowed())
        require(most < 1, f"bounds of 1 and more say nothing: {most:.3g}; use more bits, or more strings for them")

    def bound(self) -> float:
        """What the mean over a level's positions stays below."""
        return (
            2 * (math.sqrt(2) + 1) * math.sqrt(math.log(2 * (self.samples + self.strings) / self.failure) / self.bits)
        )

    def allowed(self) -> float:
        """Probability of an uninformative position."""
        return 2 * self.bits * 0.5**self.strings


def _augmented(size: Augmented) -> Evidence:
    task = Parity(size.bits, size.sparsity)
    secret, layout = task.draw(jax.random.key(0)), task.layout
    bound, allowed = size.bound(), size.allowed()
    think = jax.jit(lambda key: task.sample(secret, key, size.samples + size.strings).tokens[:, 0])
    dull, wide, largest = 0, 0, 0.0
    for trial in range(size.trials):
        chains = np.asarray(think(jax.random.key(trial))).astype(float)
        dull += bool((chains[:, : size.strings] == -1).all(axis=1).any())
        mean = max(float(np.abs(chains[:end].mean(axis=0)).max()) for end in layout.ends)
        wide, largest = wide + (mean > bound), max(largest, mean)
    return Evidence(
        (
            frequency("share of draws with an uninformative position", dull, size.trials, allowed),
            frequency("share of draws with a mean above the bound", wide, size.trials, size.failure),
            shown("largest mean seen, against the bound", bound, largest),
        ),
        seeds=size.trials,
        departures=(
            "Until a review the first share was judged by the lower end of its interval and the second was allowed p for every "
            "level; 0.09 and 0 had been counted.",
        ),
        erratum=Erratum(
            "the union bound runs over the n' augmented coordinates",
            "the means are over x_j^+, which has n + n' coordinates; the bound needs log(2(n+n')/p)",
            "inconclusive",
        ),
    )  # fmt: skip


CLAIMS = (
    Claim(
        "KS-18", PAPER, "Theorem 5", "trend",
        "One gradient step with teacher forcing learns the parity at a calibrated rate, also from an oracle that errs a little at random or "
        "at its worst; the printed rate eta = d^2 does not reach it at these sizes; errors fall with n and with K.",
        {
            "tiny": TheoremFive(**TINY, fewer=(5_000,), weaker=(10.0,)),
            "quick": TheoremFive(),
            "paper": TheoremFive(64, 32, 400_000, 26.0, fewer=(25_000, 100_000), weaker=(16.0, 20.0)),
        }, _one_step,
    ),
    Claim(
        "KS-22", PAPER, "Lemma 10", "finite",
        "With n' strings no position is uninformative except with probability 2d 2^-n', and the mean over every level boundary stays below "
        "2(sqrt 2 + 1) sqrt(log(2(n+n')/p)/d).",
        {"tiny": Augmented(), "quick": Augmented(), "paper": Augmented(512, 256, 2000, 14)}, _augmented,
    ),
)  # fmt: skip
