"""Claims about the published experiments: four ways to teach, and the staged release of the filtered one."""

import dataclasses
import math
from typing import Any

import numpy as np

from ...errors import require
from ...ledger import Among, Between, Claim, Comparison, Domain, Evidence, at_least, at_most, sampled, shown
from ...training import Lab
from .published import LESSONS, RATES, Published, trained
from .setting import PAPER

NEEDED = 0.9  # share of secrets solved where a lesson is said to solve

READING = (
    "The 10 % of the prediction loss is read as the loss of the whole unfiltered chain, and a level is released by a score of the level below; "
    "read as the loss of the answer alone (prediction='answer') the last level at k=32 is not reached within 350 epochs."
)


@dataclasses.dataclass(frozen=True)
class Sparsities:
    """Published rates are for 64 bits and k = 8, 16, 32; those for 32 bits are ours, of like rate/((k-1) d^2)."""

    bits: int = 32
    sparsities: tuple[int, ...] = (4, 8, 16)
    rates: tuple[float, ...] = (1.6, 5.8, 20.0)
    samples: int = 20_000
    epochs: int = 350
    prediction: str = "chain"
    seeds: int = 4  # secrets

    def __post_init__(self):
        require(
            len(self.sparsities) == len(self.rates),
            f"one rate per sparsity: sparsities={self.sparsities}, rates={self.rates}; give as many of each",
        )

    def published(self) -> list[Published]:
        return [
            Published(
                self.bits, sparsity, self.samples, self.epochs, rate, prediction=self.prediction, seeds=self.seeds
            )
            for sparsity, rate in zip(self.sparsities, self.rates, strict=True)
        ]


def _own(size: Sparsities) -> tuple[str, ...]:
    """What differs from the published settings."""
    published = all(RATES.get(k) == rate for k, rate in zip(size.sparsities, size.rates, strict=True))
    if size.bits == 64 and size.samples == 100_000 and size.epochs == 350 and published:
        return ()
    return (
        f"Published are d=64, 100,000 samples, 350 epochs and rates {', '.join(f'{rate:g} at k={k}' for k, rate in RATES.items())}; here "
        f"d={size.bits}, {size.samples:,} samples, {size.epochs} epochs and rates of our own, "
        f"{', '.join(f'{rate:g} at k={k}' for k, rate in zip(size.sparsities, size.rates, strict=True))}.",
    )


def _comparison(size: Sparsities, lab: Lab) -> Evidence:
    compared: list[Comparison] = []
    free = []
    for setting in size.published():
        k = setting.sparsity
        ends = {lesson: trained(setting, lesson, lab).history.last("soft.answer") for lesson in LESSONS}
        solved = {lesson: int((accuracy == 1).sum()) for lesson, accuracy in ends.items()}
        compared += [
            sampled(
                f"k={k}, answer only: mean accuracy",
                0.5,
                float(ends["direct"].mean()),
                0.5 / math.sqrt(setting.chains * size.seeds),
            ),
            at_least(f"k={k}, teacher forcing: secrets solved", solved["forced"], NEEDED * size.seeds),
            at_least(f"k={k}, self-consistency: secrets solved", solved["consistent"], NEEDED * size.seeds),
            shown(f"k={k}, own chain without filter: secrets solved", None, solved["free"]),
        ]
        free.append(solved["free"])
    compared.append(at_most("own chain without filter: solved at the largest k", free[-1], 0.5 * size.seeds))
    return Evidence(tuple(compared), seeds=size.seeds, departures=(READING, *_own(size)))


@dataclasses.dataclass(frozen=True)
class Release(Sparsities):
    sparsities: tuple[int, ...] = (16,)
    rates: tuple[float, ...] = (20.0,)
    window: int = 20  # epochs around a release in which the fall of the loss is counted


NEAR = (
    "That the loss falls at the releases was judged too, by bars set after a run (1.2, then 1.5 times the share of a loss that falls evenly). Drawn sizes "
    "gave 0.8 to 1.5 at k = 8: the ratio is shown and nothing is said of it."
)


def _release(size: Release, lab: Lab) -> Evidence:
    compared: list[Comparison] = []
    for setting in size.published():
        history = trained(setting, "consistent", lab).history
        released, loss = history.metrics["released"], history.metrics["own.loss"]
        levels = setting.task().layout.depth
        first = np.stack([_first(released[:, :, level] > 0) for level in range(levels)], axis=1)  # [seed, level]
        ordered = int(((first >= 0).all(axis=1) & (np.diff(first, axis=1) > 0).all(axis=1)).sum())
        epochs = np.where(first < 0, np.inf, first * float(setting.every))  # never: later than any
        reach = max(1, size.window // setting.every // 2)
        found = np.array([_near(loss[seed], first[seed][1:], reach) for seed in range(size.seeds)])
        time, fall, even = found.mean(axis=0)
        k = setting.sparsity
        compared += [
            at_least(f"k={k}: secrets whose levels are released one after another", ordered, NEEDED * size.seeds),
            shown(f"k={k}: share of the loss's fall near a release / the same for a loss that falls evenly", None, fall / max(even, 1e-12)),
            shown(f"k={k}: share of the epochs near a release", None, float(time)),
            *(shown(f"k={k}: level {level + 1} released at epoch, median", None, float(np.median(epochs[:, level])))
              for level in range(1, levels)),
        ]  # fmt: skip
    return Evidence(tuple(compared), seeds=size.seeds, departures=(READING, NEAR, *_own(size)))


def _near(loss: np.ndarray, releases: np.ndarray, reach: int) -> tuple[float, float, float]:
    """Shares that lie within `reach` records of a release: of the records, of the loss's fall, and of the fall of a loss
    that goes evenly from its start to where 99 % of the real one's fall is done."""
    fell = np.maximum(0, -np.diff(loss))
    near = np.zeros(len(fell), bool)
    for record in releases[releases >= 0]:
        near[max(0, record - reach) : record + reach] = True
    total = np.cumsum(fell)
    done = 1 + int(np.argmax(total >= 0.99 * total[-1]))
    return float(near.mean()), float(fell[near].sum() / max(total[-1], 1e-12)), float(near[:done].mean())


def _first(seen: np.ndarray) -> np.ndarray:
    """For each member, the first record where it is true; -1: never."""
    return np.where(seen.any(axis=1), seen.argmax(axis=1), -1)


FULL: dict[str, Any] = {"bits": 64, "samples": 100_000, "seeds": 8}

CLAIMS = (
    Claim(
        "KS-27", PAPER, "Camera-ready experiments", "finite",
        "By full-batch descent the answer alone is never learned; teacher forcing and the self-consistent chain solve every sparsity; the "
        "model's own chain without the filter fails at the largest.",
        {
            "tiny": Sparsities(32, (8,), (5.8,), 10_000, seeds=2),
            "quick": Sparsities(),
            "paper": Sparsities(sparsities=(8, 16, 32), rates=(15.0, 50.0, 100.0), **FULL),
        }, _comparison,
        domain=Domain(
            {
                "sparsities": Among((8,), (4, 8)),
                "rates": Among((5.8,), (1.6, 5.8)),
                "samples": Between(10_000, 20_000),
                "seeds": Between(2, 4),
            },
            lambda size: size.bits == 32 and (size.sparsities, size.rates) in (((8,), (5.8,)), ((4, 8), (1.6, 5.8))),
            "a rate of its own for each sparsity at 32 bits, found by trial, so the bits stay",
        ), revised=True,
    ),
    Claim(
        "KS-28", PAPER, "Camera-ready experiments", "finite",
        "The self-consistent chain is released level by level, each level after the one below it.",
        {
            "tiny": Release(32, (8,), (5.8,), 10_000, seeds=2),
            "quick": Release(),
            "paper": Release(sparsities=(8, 16, 32), rates=(15.0, 50.0, 100.0), **FULL),
        }, _release,
        domain=Domain(
            {
                "sparsities": Among((8,)),
                "rates": Among((5.8,)),
                "samples": Between(10_000, 20_000),
                "seeds": Between(2, 4),
            },
            lambda size: size.bits == 32 and size.sparsities == (8,) and size.rates == (5.8,),
            "a rate of its own for each sparsity at 32 bits, found by trial, so the bits stay",
        ), revised=True,
    ),
)  # fmt: skip
