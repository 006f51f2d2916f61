"""The ensembles behind the figures that train: plain settings, no tables and no drawing, so that a bare GPU machine can run
them (`bench/rl_sft_paper_scale.py`). Secrets, numbers of chains and label noise are arrays: one program per way of teaching."""

import dataclasses
from collections.abc import Iterable

from ...tasks import Boolean
from ...training import Run
from .experiments import LOSSES, Experiment

Ensemble = tuple[list[Run], list[int]]  # one run per seed
Ensembles = dict[str, Ensemble]  # by name
WAYS: dict[str, dict[str, str]] = {
    "RL, Rao-Blackwell": {"method": "rl"},
    "RL, REINFORCE": {"method": "rl", "estimator": "step"},
    "SFT, own thoughts": {"method": "sft"},
    "SFT, teacher forcing": {"method": "forced"},
}

LONGER = ", T-1 updates"  # instead of one


def _updates(bits: int, sparsity: int, method: str) -> int:
    """One for what learns at once, T - 1 for what learns level by level."""
    return max(1, Boolean(bits, sparsity).layout.depth - 1) if method == "sft" else 1  # pyright: ignore


def _ensemble(experiments: Iterable[Experiment], seeds: int) -> Ensemble:
    """Every experiment with every seed."""
    runs = [experiment.run() for experiment in experiments]
    return [run for run in runs for _ in range(seeds)], list(range(seeds)) * len(runs)


@dataclasses.dataclass(frozen=True)
class FiniteSamples:
    """Success against the number of chains per update."""

    bits: int = 12
    sparsity: int = 8
    gate: str = "parity"
    samples: tuple[int, ...] = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
    rate: float = 4.0
    block: int = 500
    seeds: int = 40
    ways: tuple[str, ...] = (*WAYS, "RL, Rao-Blackwell" + LONGER, "RL, REINFORCE" + LONGER)

    def experiment(self, way: str, samples: int) -> Experiment:
        chosen = WAYS[way.removesuffix(LONGER)]
        updates = _updates(self.bits, self.sparsity, "sft" if way.endswith(LONGER) else chosen["method"])
        return Experiment(self.bits, self.sparsity, self.gate, rate=self.rate, samples=samples, block=self.block,
                          updates=updates, seeds=self.seeds, **chosen)  # pyright: ignore  # fmt: skip

    def ensembles(self) -> Ensembles:
        return {
            way: _ensemble((self.experiment(way, samples) for samples in self.samples), self.seeds) for way in self.ways
        }


@dataclasses.dataclass(frozen=True)
class LabelNoise:
    """Success against the chance that a label, so a token's reward, is flipped."""

    bits: int = 12
    sparsity: int = 8
    gate: str = "parity"
    noises: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5)
    samples: int = 16_000
    rate: float = 4.0
    block: int = 500
    seeds: int = 40
    alike: bool = True  # T-1 updates for all, so the same chains; else as many as each way needs
    ways: tuple[str, ...] = tuple(WAYS)

    def experiment(self, way: str, noise: float) -> Experiment:
        chosen = WAYS[way]
        updates = _updates(self.bits, self.sparsity, "sft" if self.alike else chosen["method"])
        return Experiment(self.bits, self.sparsity, self.gate, rate=self.rate, samples=self.samples, block=self.block, noise=noise,
                          updates=updates, seeds=self.seeds, freeze="none", **chosen)  # pyright: ignore  # fmt: skip

    def ensembles(self) -> Ensembles:
        return {way: _ensemble((self.experiment(way, noise) for noise in self.noises), self.seeds) for way in self.ways}


@dataclasses.dataclass(frozen=True)
class Losses:
    """SFT on own thoughts with three losses, against the number of chains."""

    bits: int = 12
    sparsity: int = 8
    samples: tuple[int, ...] = (500, 1_000, 2_000, 4_000, 8_000, 16_000)
    gates: tuple[str, ...] = ("parity", "and")
    rate: float = 4.0
    block: int = 500
    seeds: int = 40

    def experiment(self, gate: str, loss: str, samples: int) -> Experiment:
        updates = _updates(self.bits, self.sparsity, "sft")
        return Experiment(self.bits, self.sparsity, gate, method="sft", loss=loss, rate=self.rate, samples=samples, block=self.block,
                          updates=updates)  # fmt: skip

    def ensembles(self) -> Ensembles:
        return {
            f"{gate}, {loss}": _ensemble((self.experiment(gate, loss, samples) for samples in self.samples), self.seeds)
            for gate in self.gates
            for loss in LOSSES
        }


LARGE = {
    "finite-samples": FiniteSamples(
        20,
        16,
        samples=(1_000, 3_000, 10_000, 30_000, 50_000, 100_000, 300_000),
        block=1_000,
        seeds=1_000,
        ways=tuple(WAYS),
    ),
    "label-noise": LabelNoise(
        20, 16, noises=(0.0, 0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5), samples=50_000, block=1_000, seeds=200, alike=False
    ),
}
