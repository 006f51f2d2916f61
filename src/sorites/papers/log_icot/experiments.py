"""The paper's two trainings, every choice a field: Algorithm 1, and the AdamW experiment of Section 4."""

import dataclasses

import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...models import MODELS, Gated, link_named
from ...models.gated import gated
from ...probes import ChildMass, Loss, Outcome
from ...supervision import AbstractSource, Noisy, Pooled, Sampled
from ...tasks import Boolean, Parity
from ...theory import gated_laws, link_law, tree_law
from ...training import CURRICULA, GD, AdamW, Evaluation, Lab, Quantised, Run, Trained, log_icot, stages
from ..seed_checks import ORACLES
from .unmasked import unmasked


@dataclasses.dataclass(frozen=True)
class AlgorithmOne:
    """One gradient step per stage on a fresh batch, then rounding to integers (Algorithm 1).

    calibration: literal, eta_t = K n_t^2/(2c); exchangeable, divided by the law s(n_t) of independent keys;
    exact, divided by the stage's own finite-size signal, which puts the children at K in expectation.
    """

    bits: int = 30  # n
    sparsity: int = 16  # k
    strength: float = 7.0  # K
    samples: int = 150_000  # B, per stage
    calibration: str = "exact"
    noise: float = 0.0  # the oracle is wrong by at most this in every entry
    chains: int = 2000  # held out
    seeds: int = 20
    oracle: str = "random"  # how it is wrong; adversarial: it knows the secret
    link: str = "cosine"
    quantised: bool = True
    mask: str = "levels"  # of Def. 1; else a name of `Unmasked`

    def task(self) -> Boolean:
        return Parity(self.bits, self.sparsity)

    def rates(self) -> list[float]:
        """eta_1, ..., eta_L."""
        require(
            self.calibration in ("literal", "exchangeable", "exact"),
            f"a calibration is literal, exchangeable or exact: calibration={self.calibration!r}; use one of these",
        )
        curvature, found = link_named(self.link).curvature, []
        for stage in range(1, self.task().layout.depth + 1):
            keys = tree_law.keys_of_stage(self.bits, self.sparsity, stage)
            signal = {
                "literal": lambda *_: 1.0,
                "exchangeable": lambda keys, _: tree_law.exchangeable_signal(keys),
                "exact": lambda _, stage: self._signal(stage),
            }[self.calibration](keys, stage)
            found.append(gated_laws.rate(keys, self.strength, curvature, signal))
        return found

    def _signal(self, stage: int) -> float:
        """The child's gradient over -2c/n_t^2, exactly; the cosine has a closed form."""
        if self.link == "cosine":
            return tree_law.signal(self.bits, self.sparsity, stage)
        return link_law.signal(self.bits, self.sparsity, stage, link_named(self.link), link_named(self.link).curvature)

    def run(self, only: int | None = None) -> Run:
        """The training; `only` keeps the first stages, which end exactly where the whole run passes through."""
        task = self.task()
        require(
            self.oracle in ORACLES,
            f"an oracle errs in one of two ways, {' or '.join(ORACLES)}: oracle={self.oracle!r}; use one of these",
        )
        source: AbstractSource = Sampled(self.samples)
        if self.noise:
            source = Noisy(source, self.noise, self.oracle == "adversarial")  # pyright: ignore
        rules = [Quantised(GD(rate)) if self.quantised else GD(rate) for rate in self.rates()]  # pyright: ignore
        masked = self.mask == "levels"
        probes = (Loss(), Outcome(), ChildMass()) if masked else (Loss(), Outcome())
        evaluation = Evaluation(every=1, count=self.chains, probes=probes)
        plan = stages(task, log_icot(task.layout), source, list(rules), 1, evaluation)
        return Run(gated(task, self.link) if masked else unmasked(task, self.mask, self.link), plan[:only])


@dataclasses.dataclass(frozen=True)
class AdamExperiment:
    """The 4-layer experiment of Section 4 and Appendix B.2. The paper states bits, sparsity, rate, batch, steps,
    evaluations and link; everything else is our choice and a field here."""

    bits: int = 30
    sparsity: int = 16
    rate: float = 0.1
    batch: int = 500
    steps: int = 500  # per stage
    every: int = 25
    chains: int = 2000  # held out
    link: str = "cosine"
    decay: float = 0.01  # unstated; the library default of AdamW
    pool: int = 0  # unstated; 0 draws a fresh batch at every step, else batches come from this many chains
    reset: bool = True  # unstated; forget Adam's moments at a stage change
    quantised: bool = False  # unstated; round the weights as Algorithm 1 does
    model: str = "gated"
    curriculum: str = "log-icot"
    seeds: int = 32

    def run(self) -> Run:
        task = Parity(self.bits, self.sparsity)
        for name, known in (("model", MODELS), ("curriculum", CURRICULA)):
            value = getattr(self, name)
            require(value in known, f"a {name} is one of {', '.join(known)}: {name}={value!r}; use one of these")
        rule = AdamW(self.rate, decay=self.decay)  # pyright: ignore
        source = Pooled(self.pool, self.batch) if self.pool else Sampled(self.batch)
        return Run(
            MODELS[self.model](task, link=self.link),
            stages(
                task,
                CURRICULA[self.curriculum](task.layout),
                source,
                Quantised(rule) if self.quantised else rule,
                self.steps,
                Evaluation(self.every, self.chains, (Loss(), Outcome(), ChildMass())),
                reset=self.reset,
            ),
        )


def trained(experiment: AlgorithmOne | AdamExperiment, lab: Lab) -> Trained:
    """The experiment over its seeds; of Algorithm 1, which has few steps, with the weights after each."""
    run = experiment.run()
    keep = after_each(run) if isinstance(experiment, AlgorithmOne) else ()
    return lab.train(run, range(experiment.seeds), snapshots=keep)


def after_each(run: Run) -> tuple[int, ...]:
    """Of Algorithm 1, a step a stage. Whoever trains it keeps these weights, so that nobody has to train it again."""
    return tuple(range(1, len(run.stages) + 1))


def concentrated(task: Boolean, secret, strength: float) -> Gated:
    """Children at weight K, everything else at 0: what Algorithm 1 aims for."""
    layout, weights = task.layout, []
    children = np.asarray(task.children(secret))
    for level in range(1, layout.depth + 1):
        start, end = layout.ends[level - 1], layout.ends[level]
        weight = np.zeros((end - start, start))
        np.put_along_axis(weight, children[start - layout.inputs : end - layout.inputs], strength, axis=1)
        weights.append(jnp.asarray(weight))
    return Gated(weights=tuple(weights), layout=layout, link=link_named("cosine"))


def scattered(task: Boolean, generator: np.random.Generator, scale: float = 1.0, link: str = "cosine") -> Gated:
    """Independent Gaussian weights: identities must hold at any weights."""
    shapes = [weight.shape for weight in gated(task).weights]
    weights = tuple(jnp.asarray(scale * generator.normal(size=shape)) for shape in shapes)
    return Gated(weights=weights, layout=task.layout, link=link_named(link))
