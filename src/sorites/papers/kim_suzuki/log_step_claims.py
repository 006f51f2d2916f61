"""Claims about Theorem 7: log2 k rounded steps on the model's own, filtered chain."""

import dataclasses
import math
from typing import Any

import numpy as np

from ...errors import require
from ...ledger import (
    Among,
    Between,
    Claim,
    Comparison,
    Domain,
    Erratum,
    Evidence,
    Powers,
    Real,
    alone,
    at_least,
    at_most,
    equal,
    interval_inside,
    shown,
)
from ...statistics import mean_interval
from ...theory import tree_law
from ...training import Lab, Trained
from .log_step_law import chance, law
from .setting import PAPER, child_weights
from .theorems import LogSteps, trained
from .trained import BROKEN, NEEDED, TINY, median_error, right


def _seeds(name: str, size: LogSteps, right: int) -> Comparison:
    """Nine of ten seeds hold; fewer fail where the law gives so few a chance below 1 in 10,000, else nothing is said."""
    from scipy import stats

    needed = math.ceil(NEEDED * size.seeds)
    rare = float(stats.binom.cdf(right, size.seeds, chance(size))) < 1e-4
    return Comparison(f"{name} ≥", needed, right, 0, True if right >= needed else False if rare else None)


FEWER = (
    "Nine of ten seeds hold; fewer fail only where the law of rounding and of the filter gives so few a chance below 1 in 10,000, and are else "
    "inconclusive. That rule came with an audit, after the claim had been run; until then fewer failed outright."
)


@dataclasses.dataclass(frozen=True)
class Pattern(LogSteps):
    printed: float = 0.9  # an eps0 that the proof allows


def _off_pattern(result: Trained) -> int:
    """Seeds that ever depart from: after t updates levels up to t+1 pass, higher ones are zeroed."""
    released = result.history.metrics["released"]  # [seed, update, level]
    updates, levels = released.shape[1:]
    expected = np.arange(1, levels + 1)[None, :] <= np.arange(updates)[:, None] + 1
    return int((released != expected).any(axis=(1, 2)).sum())


def _pattern(size: Pattern, lab: Lab) -> Evidence:
    require(size.sparsity >= 8, f"a level that is not flagged needs three: sparsity={size.sparsity}; use 8 or more")
    setting = alone(LogSteps, size)
    working, printed = trained(setting, lab), trained(dataclasses.replace(setting, threshold=size.printed), lab)
    return Evidence(
        (
            _seeds(f"eps0={size.threshold:g}: seeds on the pattern", setting, size.seeds - _off_pattern(working)),
            _seeds(f"eps0={size.threshold:g}: seeds with all answers right", setting, right(working)),
            at_least(f"eps0={size.printed:g}: seeds off the pattern", _off_pattern(printed), math.ceil(NEEDED * size.seeds)),
            shown(f"eps0={size.printed:g}: seeds with all answers right", None, right(printed)),
        ),
        seeds=size.seeds,
        erratum=Erratum(
            "any eps0 above O(d^-1/2) works",
            "1 < eps0 < 2: a zeroed level has ||0 + 1|| = 1, so a smaller eps0 lets the level above it through",
            "fails" if _off_pattern(printed) else "holds",
        ),
    )  # fmt: skip


def _weights(size: LogSteps, lab: Lab) -> Evidence:
    result, task = trained(size, lab), size.task()
    layout, secrets = task.layout, result.history.secrets
    assert secrets is not None
    found = np.stack([child_weights(result.models.weights[i], task, secrets[i]) for i in range(size.seeds)])  # pyright: ignore
    levels, compared, predicted = np.asarray(layout.levels), [], law(size)
    leading = size.rate() * 2 * tree_law.CURVATURE / np.array(layout.ends[:-1], float) ** 2
    for level in range(1, layout.depth + 1):
        here = found[:, levels == level]
        same = int((here == here[:, :1, :1]).all(axis=(1, 2)).sum())
        compared += [
            _seeds(f"level {level}: seeds whose children all have one weight", size, same),
            _rounded(
                f"level {level}: that weight, against the law rounded",
                float(predicted[level - 1]),
                float(np.median(here)),
            ),
            shown(
                f"level {level}: the law before rounding, against the leading term",
                float(leading[level - 1]),
                float(predicted[level - 1]),
            ),
        ]
    others = np.array(result.models.weights, copy=True)  # pyright: ignore
    for index in range(size.seeds):
        np.put_along_axis(others[index], np.asarray(task.children(secrets[index])), 0, axis=1)
    outside = int((~np.isin(others, (-1, 0))).any(axis=(1, 2)).sum())
    return Evidence(
        (
            *compared,
            _seeds("seeds with every other weight in {-1, 0}", size, size.seeds - outside),
            _seeds("after log2 k updates: seeds with all answers right", size, right(result)),
            shown("largest error of the answer, median over seeds", None, median_error(result)),
        ),
        seeds=size.seeds,
        erratum=Erratum(
            "C_l = 2c eta0 d^(2+epsilon/16)/d_{l-1}^2 <= 2c eta0, and all other weights are 0",
            "C_l carries a spurious d^(epsilon/16); other weights round to -1 or 0, because wrong keys are pushed down (KS-15)",
            "fails" if (others == -1).any() else "holds",
        ),
        departures=(
            "Until an audit the weight was only shown beside the leading term; now it must be the law's K s_l (d/d_{l-1})^2 rounded, and within "
            "0.1 of a half-integer nothing is said.",
        ),
    )  # fmt: skip


def _rounded(name: str, law: float, median: float) -> Comparison:
    """The law rounded; near a half-integer the samples decide, and nothing is said."""
    near = abs(law - math.floor(law) - 0.5) < 0.1
    return Comparison(name, round(law), median, 0, True if median == round(law) else None if near else False)


@dataclasses.dataclass(frozen=True)
class Strengths(LogSteps):
    strengths: tuple[float, ...] = (9.0, 11.0, 13.5)  # K

    def __post_init__(self):
        require(len(self.strengths) >= 2, f"a slope needs two strengths: strengths={self.strengths}; give two or more")


def _exponential(size: Strengths, lab: Lab) -> Evidence:
    plain = alone(LogSteps, size)
    weight, error, member = [], [], []
    for strength in size.strengths:
        setting = dataclasses.replace(plain, strength=strength)
        result = trained(setting, lab)
        for seed in np.flatnonzero(result.history.last("soft.answer") == 1):
            secret = result.history.secrets[seed]  # pyright: ignore
            weight.append(child_weights(result.models.weights[seed], setting.task(), secret).min())  # pyright: ignore
            error.append(math.log(float(result.history.last("soft.error")[seed])))
            member.append(seed)
    weights, errors, members = np.array(weight), np.array(error), np.array(member)
    slopes = [
        np.polyfit(weights[members == seed], errors[members == seed], 1)[0]
        for seed in np.unique(members)
        if len(np.unique(weights[members == seed])) > 1
    ]
    return Evidence(
        (
            interval_inside(
                "slope of ln(error) in the smallest child weight", float(np.mean(slopes)) if slopes else math.nan,
                mean_interval(np.array(slopes)), -2, 0.25,
            ),
            shown("solved runs behind it", len(size.strengths) * size.seeds, len(weights)),
            shown("smallest error seen", None, math.exp(min(errors, default=0))),
        ),
        seeds=size.seeds,
        departures=("The exponent Omega(d^(epsilon/16)) is the weight of the children; the check follows the error against that weight.",),
    )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Ablations(LogSteps):
    printed: float = 0.9  # an eps0 that the proof allows
    strongest: float = 27.0  # twice the working K: shown, not judged

    def halfway(self) -> float:
        """The next K above the working one whose first-level weight K s(d) lies halfway between two integers."""
        signal = tree_law.exchangeable_signal(self.bits)
        return (round(self.strength * signal) + 0.5) / signal


def _parted(size: LogSteps, result: Trained) -> int:
    """Seeds in which two children of a thought below the answer have rounded to different integers. One apart at the
    answer, after the last update, leaves the sign right: phi(0.73 - 0.27) < 0."""
    weights = np.asarray(result.models.weights)  # pyright: ignore[reportAttributeAccessIssue]
    children = [child_weights(weights[seed], size.task(), result.secret(seed)) for seed in range(size.seeds)]
    return sum(bool((each[:-1, 0] != each[:-1, 1]).any()) for each in children)


def _ablations(size: Ablations, lab: Lab) -> Evidence:
    plain = alone(LogSteps, size)
    changes: dict[str, dict[str, Any]] = {
        "no rounding": {"quantised": False},
        "no filter": {"filtered": False},
        f"eps0={size.printed:g}": {"threshold": size.printed},
    }
    compared = [_seeds("all in place: seeds with all answers right", plain, right(trained(plain, lab)))]
    for name, change in changes.items():
        result = trained(dataclasses.replace(plain, **change), lab)
        compared.append(at_most(f"{name}: seeds with all answers right", right(result), BROKEN * size.seeds))
    halfway = trained(dataclasses.replace(plain, strength=size.halfway()), lab)
    together = size.seeds - _parted(size, halfway)
    name = f"K={size.halfway():.2f}, whose weight lies on a half-integer: seeds with all answers right, and with no siblings apart below the answer"
    compared.append(equal(name, together, right(halfway), 0))
    strongest = trained(dataclasses.replace(plain, strength=size.strongest), lab)
    compared.append(shown(f"K={size.strongest:g}: seeds with all answers right", None, right(strongest)))
    return Evidence(
        tuple(compared),
        seeds=size.seeds,
        departures=(
            "The catalogue names a K that is too large (24 at these sizes). What breaks there is that 24 s(d) = 19.5: where the weight lies on a "
            "half-integer siblings may round to different integers, just above the working K too, and a larger K off it works.",
            "At first most seeds had to fail on a half-integer. Fifteen drawn sizes showed 22 of 44 seeds right: siblings share their noise and mostly "
            "round together. What is judged since is who fails: the seeds whose siblings part below the answer.",
        ),
    )


WORKING = {
    "bits": Between(24, 48),
    "samples": Between(300_000, 600_000),
    "strength": Real(9.5, 14),
    "strings": Between(16, 32),
    "threshold": Real(1.4, 1.7),
    "chains": Between(200, 1000),
    "seeds": Between(2, 4),
}
LIKELY = "the law gives a seed 0.9 or more: no level's weight near a half-integer, no string of an untaught level beyond eps0"


def _likely(size: LogSteps) -> bool:
    return chance(size) >= 0.9


CLAIMS = (
    Claim(
        "KS-23", PAPER, "Theorem 7, filter", "finite",
        "After t updates the filter passes levels up to t+1 and zeroes the rest if 1 < eps0 < 2; with a smaller eps0 it does not.",
        {"tiny": Pattern(**TINY), "quick": Pattern(), "paper": Pattern(64, 16, 1_000_000, 14.0)}, _pattern,
        departures=(FEWER,),
        domain=Domain({**WORKING, "printed": Real(0.6, 0.95)}, _likely, LIKELY),
    ),
    Claim(
        "KS-24", PAPER, "Theorem 7, Eq. 11", "finite",
        "After log2 k updates the children of a level share one integer weight, round(2c eta s_l/d_{l-1}^2) with s_l the exact signal of the "
        "level's first gradient, every other weight is -1 or 0, and every answer is right, where no level's weight lies near a half-integer.",
        {"tiny": LogSteps(**TINY), "quick": LogSteps(), "paper": LogSteps(64, 16, 1_000_000, 14.0)}, _weights,
        departures=(FEWER,),
        domain=Domain({**WORKING, "sparsity": Powers(4, 8)}, _likely, LIKELY), revised=True,
    ),
    Claim(
        "KS-25", PAPER, "Theorem 7", "trend",
        "The loss is exponentially small in the weights: ln(error) falls by 2 for each unit of the smallest child weight.",
        {"tiny": Strengths(**TINY), "quick": Strengths(), "paper": Strengths(64, 16, 1_000_000, strengths=(10.0, 12.0, 14.0))},
        _exponential,
        domain=Domain(
            {**WORKING, "strengths": Among((9.0, 11.0, 13.5), (9.0, 13.5), (10.0, 12.0, 14.0), (8.5, 12.5))},
            lambda size: all(chance(dataclasses.replace(size, strength=each)) >= 0.3 for each in size.strengths),
            "the law gives a seed 0.3 or more at each strength; only solved runs are looked at",
        ),
    ),
    Claim(
        "KS-26", PAPER, "Theorem 7, ablations", "finite",
        "Rounding, the filter and its range are each needed: without one of them most seeds fail. Where the weight lies on a half-integer exactly those "
        "seeds fail whose siblings round apart below the answer.",
        {"tiny": Ablations(**TINY), "quick": Ablations(), "paper": Ablations(64, 16, 1_000_000, 14.0)}, _ablations,
        departures=(FEWER,),
        domain=Domain({**WORKING, "printed": Real(0.6, 0.95), "strongest": Real(20, 30)}, _likely, LIKELY), revised=True,
    ),
)  # fmt: skip
