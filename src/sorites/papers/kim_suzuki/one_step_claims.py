"""Claims about Theorem 5, one step with teacher forcing, and about the augmented data of Theorem 7."""

import dataclasses
import math
from typing import Any

import jax
import numpy as np

from ...errors import require
from ...ledger import (
    Among,
    Between,
    Claim,
    Comparison,
    Domain,
    Evidence,
    Powers,
    Real,
    alone,
    at_least,
    at_most,
    equal,
    sampled,
    shown,
)
from ...statistics import wilson
from ...tasks import Parity
from ...theory import tree_law
from ...training import Lab, Trained
from ..tree_checks import frequency, require_trials
from .sample_law import strength
from .setting import PAPER
from .theorems import OneStep, trained
from .trained import BROKEN, TINY, median_error, right, works

PRINTED = 2 * tree_law.CURVATURE  # K of eta = d^2, the printed rate with constant 1 and eps -> 0


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
            _printed(size, right(literal)),
            shown("eps at which the printed rate d^(2 + eps/16) is this one", None, 16 * math.log(size.strength / PRINTED) / math.log(size.bits)),
            shown("printed rate: mean accuracy", None, float(literal.history.last("soft.answer").mean())),
            *(works(f"oracle with {name} error {size.error:g}/d^2 per entry", result) for name, result in oracles.items()),
            at_least("worst-case oracle: median error, against the random one's", median_error(oracles["adversarial"]), median_error(oracles["random"])),
            equal("median error falls with n: steps that rise", 0, _rises(by_samples), 0),
            equal("median error falls with K: steps that rise", 0, _rises(by_strength), 0),
        ),
        seeds=size.seeds,
        departures=(
            "The theorem's rate is Theta(d^(2 + eps/16)). As 'printed' it is run with eps -> 0 and constant 1, which is K = 2c = 9.87; the "
            f"calibrated K d^2/(2c) with K={size.strength:g} is the same rate with constant {size.strength / PRINTED:.3g}, or with constant 1 and "
            "the eps shown. The theorem's error exponent is asymptotic and not asserted.",
            "Until an audit the worst-case oracle pushed every entry against its own sign, which only shrinks the gradient; now it parts "
            "siblings and lifts the rest. Where the printed rate is said to miss was set (K asked for from 1.7 times 2c on) when it had been "
            "seen to miss at d=30, k=16 (1.73 times) and to do at up to 1.59 times (d=16, k=8).",
        ),
    )  # fmt: skip


def _printed(size: TheoremFive, solved: int) -> Comparison:
    """It is said to miss only where the concentration rule asks for far more than K = 2c."""
    if strength(size.bits, size.sparsity) < 1.7 * PRINTED:
        return shown("eta = d^2: seeds with all answers right", None, solved)
    return at_most("eta = d^2 (constant 1, eps -> 0): seeds with all answers right", solved, BROKEN * size.seeds)


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
    bound, allowed, count = size.bound(), size.allowed(), size.samples + size.strings
    printed = bound * math.sqrt(math.log(2 * size.strings / size.failure) / math.log(2 * count / size.failure))
    think = jax.jit(lambda key: task.sample(secret, key, count).tokens[:, 0])
    dull, inputs, wide, largest = 0, 0, 0, 0.0
    for trial in range(size.trials):
        chains = np.asarray(think(jax.random.key(trial))).astype(float)
        minus = (chains[:, : size.strings] == -1).all(axis=1)
        dull, inputs = dull + bool(minus.any()), inputs + bool(minus[: size.bits].any())
        mean = max(float(np.abs(chains[:end].mean(axis=0)).max()) for end in layout.ends)
        wide, largest = wide + (mean > bound), max(largest, mean)
    law = 1 - (1 - 0.5**size.strings) ** size.bits  # inputs are independent
    error = math.sqrt(law * (1 - law) / size.trials)
    return Evidence(
        (
            sampled("share of draws with an uninformative input, against 1 - (1 - 2^-n')^d", law, inputs / size.trials, error, 1 / size.trials),
            frequency("share of draws with an uninformative position", dull, size.trials, allowed),
            frequency("share of draws with a mean above the bound", wide, size.trials, size.failure),
            shown("largest mean seen, against the bound", bound, largest),
        ),
        seeds=size.trials,
        departures=(
            "Until a review the first share was judged by the lower end of its interval and the second was allowed p for every "
            "level; 0.09 and 0 had been counted.",
            "The printed bound has log(2n'/p), for its union bound runs over the n' strings alone; the means are over n + n' coordinates, so the "
            "proof needs log(2(n+n')/p). The printed number itself was not exceeded either: "
            f"{printed:.3g} against a largest mean of {largest:.3g}.",
        ),
    )  # fmt: skip


CLAIMS = (
    Claim(
        "KS-18", PAPER, "Theorem 5", "trend",
        "One gradient step with teacher forcing learns the parity at a calibrated rate, also from an oracle that errs a little at random or "
        "at its worst, which harms more; eta = d^2, the printed rate with constant 1 and eps -> 0, misses where the concentration rule asks "
        "for 1.7 times its K or more, as at d=30, k=16; where the rule asks for K from 14 up to the one used, errors fall with n and K.",
        {
            "tiny": TheoremFive(**TINY, fewer=(5_000,), weaker=(10.0,)),
            "quick": TheoremFive(),
            "paper": TheoremFive(64, 32, 400_000, 26.0, fewer=(25_000, 100_000), weaker=(16.0, 20.0)),
        }, _one_step,
        domain=Domain(
            {
                "bits": Between(14, 40),
                "sparsity": Powers(8, 16),
                "samples": Between(80_000, 160_000),
                "strength": Real(19, 22),
                "chains": Between(200, 1000),
                "seeds": Between(2, 4),
                "fewer": Among((5_000,), (5_000, 20_000), (8_000,)),
                "weaker": Among((10.0,), (10.0, 14.0), (11.0,)),
                "error": Real(0.005, 0.02, log=True),
            },
            lambda size: 14 <= strength(size.bits, size.sparsity) <= size.strength,
            "the concentration rule K s(N) (d/N)^2 >= ln(d+k) + 3, N = d+k-2, asks for a K from 14 up to the one used",
        ), revised=True,
    ),
    Claim(
        "KS-22", PAPER, "Lemma 10", "finite",
        "With n' strings no position is uninformative except with probability 2d 2^-n', and the mean over every level boundary stays below "
        "2(sqrt 2 + 1) sqrt(log(2(n+n')/p)/d).",
        {"tiny": Augmented(), "quick": Augmented(), "paper": Augmented(512, 256, 2000, 14)}, _augmented,
        domain=Domain(
            {
                "bits": Between(256, 512),
                "sparsity": Powers(2, 256),
                "samples": Between(50, 300),
                "strings": Between(10, 13),
                "failure": Real(0.02, 0.2, log=True),
                "trials": Between(400, 1000),
            },
            lambda size: 2 * size.sparsity <= size.bits and size.trials * size.allowed() >= 100,
            "the bound 2d 2^-n' is below 1 and expects a hundred draws or more, for a rarer event cannot be told from its bound "
            "(so 13 strings at most); below about 210 bits the second bound exceeds 1; more than half of the bits make the first bound tight",
        ), revised=True,
    ),
)  # fmt: skip
