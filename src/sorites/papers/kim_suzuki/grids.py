"""The ensembles behind the figures that train: plain settings, so that a bare GPU machine can run them
(`bench/kim_suzuki_paper_scale.py`)."""

import dataclasses

from ...training import Run
from .published import LESSONS, RATES, Published
from .sample_law import SampleLaw
from .theorems import LogSteps

Ensembles = dict[str, tuple[list[Run], list[int]]]  # name -> one run per seed


@dataclasses.dataclass(frozen=True)
class Curves(Published):
    """The four lessons at one sparsity."""

    def ensembles(self) -> Ensembles:
        seeds = list(range(self.seeds))
        return {lesson: ([self.run(lesson)] * self.seeds, seeds) for lesson in LESSONS}


@dataclasses.dataclass(frozen=True)
class FilterRange:
    """Theorem 7 over the filter's threshold and its number of strings."""

    bits: int = 32
    sparsity: int = 8
    samples: int = 300_000
    strength: float = 13.5
    thresholds: tuple[float, ...] = (0.25, 0.5, 0.75, 0.95, 1.05, 1.25, 1.5, 1.75, 1.95)  # eps0
    strings: tuple[int, ...] = (1, 2, 4, 8, 16, 32)  # n'
    seeds: int = 5

    def cells(self) -> list[tuple[float, int]]:
        return [(threshold, strings) for threshold in self.thresholds for strings in self.strings]

    def ensembles(self) -> Ensembles:
        settings = [
            LogSteps(self.bits, self.sparsity, self.samples, self.strength, strings=strings, threshold=threshold)
            for threshold, strings in self.cells()
        ]
        runs = [setting.run(seed) for setting in settings for seed in range(self.seeds)]
        return {"cells": (runs, list(range(self.seeds)) * len(settings))}


@dataclasses.dataclass(frozen=True)
class SampleLaws:
    """The smallest n in two regimes: half of the bits are secret, or a fixed few."""

    bits: tuple[int, ...] = (8, 16, 32, 64, 128)
    longer: tuple[int, ...] = (16, 32, 64, 128, 256)  # where the sparsity is fixed
    sparsity: int = 4
    doublings: int = 8
    seeds: int = 40

    def laws(self) -> dict[str, SampleLaw]:
        return {
            "k = d/2": SampleLaw(self.bits, 0, doublings=self.doublings, seeds=self.seeds),
            f"k = {self.sparsity}": SampleLaw(self.longer, self.sparsity, doublings=self.doublings, seeds=self.seeds),
        }


QUICK = {f"exp-k{k}": Curves(sparsity=k, rate=rate, samples=20_000) for k, rate in RATES.items()}
LARGE = {
    **{f"exp-k{k}": Curves(sparsity=k, rate=rate, seeds=16) for k, rate in RATES.items()},
    "filter-range": FilterRange(seeds=20),
}  # figures' settings at paper scale
LARGE_LAWS = SampleLaws((8, 16, 32, 64, 128, 256), (16, 32, 64, 128, 256, 512, 1024), doublings=10, seeds=200)
