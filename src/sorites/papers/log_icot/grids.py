"""The ensembles behind the figures that train: plain settings, no tables and no drawing, so that a bare GPU machine
can run them (`bench/log_icot_paper_scale.py`)."""

import dataclasses
from collections.abc import Sequence

from ...models import MODELS
from ...probes import Loss, Outcome
from ...supervision import Sampled
from ...tasks import Parity
from ...training import CURRICULA, AdamW, Evaluation, Run, stages
from .experiments import AdamExperiment, AlgorithmOne

Ensembles = dict[str, tuple[list[Run], list[int]]]  # name -> one run per seed


def _each(experiments: Sequence[AlgorithmOne], seeds: int) -> tuple[list[Run], list[int]]:
    """Every experiment over the same seeds; they differ in rates only, so they are one compiled ensemble."""
    runs = [experiment.run() for experiment in experiments]
    return [run for run in runs for _ in range(seeds)], [seed for _ in runs for seed in range(seeds)]


@dataclasses.dataclass(frozen=True)
class Losses(AdamExperiment):
    """The AdamW experiment with its weight decay, and without."""

    def ensembles(self) -> Ensembles:
        decays = {"decayed": self.decay, "plain": 0.0}
        seeds = list(range(self.seeds))
        return {
            name: ([dataclasses.replace(self, decay=decay).run()] * self.seeds, seeds) for name, decay in decays.items()
        }


@dataclasses.dataclass(frozen=True)
class SuccessMap:
    """Algorithm 1 over strength K and chains per stage B."""

    bits: int = 16
    sparsity: int = 8
    strengths: tuple[float, ...] = tuple(map(float, range(2, 11)))
    batches: tuple[int, ...] = (3_000, 10_000, 30_000, 100_000)
    seeds: int = 10

    def ensembles(self) -> Ensembles:
        return {
            f"batch-{samples}": _each(
                [AlgorithmOne(self.bits, self.sparsity, strength, samples) for strength in self.strengths], self.seeds
            )
            for samples in self.batches
        }


@dataclasses.dataclass(frozen=True)
class ErrorLaw:
    """Algorithm 1 over strength K at one large batch: at quick scale the last row of the success map."""

    bits: int = 16
    sparsity: int = 8
    strengths: tuple[float, ...] = tuple(map(float, range(2, 11)))
    samples: int = 100_000
    seeds: int = 10

    def ensembles(self) -> Ensembles:
        sizes = [AlgorithmOne(self.bits, self.sparsity, strength, self.samples) for strength in self.strengths]
        return {"strengths": _each(sizes, self.seeds)}


VARIANTS = {"gated": "gates of the paper", "reader": "shown thoughts are read", "open-gates": "trainable gates"}
LESSONS = {
    "log-icot": "Log-ICoT",
    "icot": "linear ICoT",
    "direct": "no curriculum",
    "teacher-forcing": "teacher forcing",
}


@dataclasses.dataclass(frozen=True)
class Variants:
    """Three gate designs under four ways of teaching."""

    bits: int = 16
    sparsity: int = 8
    batch: int = 500
    rate: float = 0.1
    steps: int = 2100  # in all, shared evenly among a curriculum's stages
    every: int = 50
    seeds: int = 8

    def run(self, model: str, curriculum: str) -> Run:
        task = Parity(self.bits, self.sparsity)
        plan = CURRICULA[curriculum](task.layout)
        each = max(1, self.steps // len(plan) // self.every) * self.every
        evaluation = Evaluation(self.every, 1000, (Loss(), Outcome(), Outcome("rolled")))
        return Run(MODELS[model](task), stages(task, plan, Sampled(self.batch), AdamW(self.rate), each, evaluation))

    def ensembles(self) -> Ensembles:
        seeds = list(range(self.seeds))
        return {
            f"{model}-{lesson}": ([self.run(model, lesson)] * self.seeds, seeds)
            for model in VARIANTS
            for lesson in LESSONS
        }


LARGE = {
    "2b": Losses(seeds=1024),
    "success-map": SuccessMap(
        30, 16, tuple(map(float, range(3, 13))), (10_000, 30_000, 60_000, 100_000, 150_000, 300_000, 600_000), 40
    ),
    "error-law": ErrorLaw(30, 16, tuple(map(float, range(4, 13))), 600_000, 40),
    "variants": Variants(30, 16, 500, 0.1, 6000, 50, 64),
}  # figures' settings at paper scale
