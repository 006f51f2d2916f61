"""The paper's trainings, every choice a field: who labels, whose thoughts are read, what is estimated and how the weights move."""

import dataclasses

import numpy as np
from jaxtyping import Bool

from ...errors import require
from ...probes import ChildMass, Outcome
from ...supervision import (
    AbstractObjective,
    Blocks,
    ExpectedReward,
    Exponential,
    Hinge,
    Logistic,
    PolicyGradient,
    Pooled,
    Repeated,
    Supervision,
    TrueLabels,
    Unlearned,
    credit,
    process_reward,
    self_generated,
    teacher_forcing,
)
from ...tasks import Boolean, Layout
from ...training import GD, AbstractOptimizer, AdamW, Evaluation, History, Lab, Run, Sign, Stage, Trained
from .exact import pretrained

LOSSES: dict[str, AbstractObjective] = {"hinge": Hinge(), "logistic": Logistic(), "exponential": Exponential()}
METHODS = {
    "rl": "RL, labels from the own prefix",
    "rl-truth": "RL, true labels",
    "outcome": "RL, outcome reward",
    "sft": "SFT, own thoughts",
    "filtered": "SFT, own thoughts, one thought per phase",
    "forced": "SFT, teacher forcing",
}
ESTIMATORS = ("rao-blackwell", "token", "step", "return", "group")
GROUP = 8  # trajectories per input of the group estimator


@dataclasses.dataclass(frozen=True)
class Experiment:
    """The experiment of Appendix C and its neighbours. The paper states bits, sparsity, samples and the sign rule; the rate, the
    secret, the estimator and the freeze rule are unstated and fields here."""

    bits: int = 20  # d
    sparsity: int = 16  # k
    gate: str = "parity"
    decomposition: str = "tree"
    method: str = "rl"
    estimator: str = "rao-blackwell"  # of RL: or REINFORCE crediting the token, the step, the return; or group-relative
    discount: float = 1.0  # of the return
    loss: str = "hinge"  # of SFT
    forcing: float = 0.0  # share of teacher forcing mixed into method "sft"
    freeze: str = "learned"  # none, learned: a level without a wrong token in the batch; magnitude: small gradients
    rule: str = "sign"
    rate: float = 4.0  # eta
    samples: int = 50_000  # chains per update
    block: int = (
        0  # 0: one fixed data set, as in the paper; else fresh blocks of this many, as many as make up the samples
    )
    updates: int = 4
    noise: float = 0.0  # chance that a label, so a token's reward, is flipped
    chains: int = 2000  # held out
    seeds: int = 20

    def __post_init__(self):
        for name, known in (
            ("method", METHODS),
            ("estimator", ESTIMATORS),
            ("loss", LOSSES),
            ("freeze", ("none", "learned", "magnitude")),
            ("rule", ("sign", "gd", "adam")),
        ):
            value = getattr(self, name)
            require(value in known, f"a {name} is one of {', '.join(known)}: {name}={value!r}; use one of these")
        require(0 <= self.noise <= 1, f"a chance lies in [0, 1]: noise={self.noise}; use one in it")
        require(0 <= self.forcing <= 1, f"a share lies in [0, 1]: forcing={self.forcing}; use one in it")
        require(
            self.estimator != "group" or self.samples % GROUP == 0,
            f"groups are of {GROUP} chains: samples={self.samples}; use a multiple of {GROUP}",
        )
        require(
            not self.block or self.samples % self.block == 0,
            f"samples come in whole blocks: samples={self.samples}, block={self.block}; use a multiple of the block",
        )
        require(self.updates >= 1, f"training takes an update: updates={self.updates}; use 1 or more")
        require(
            self.method != "filtered" or self.updates % (self.sparsity - 1) == 0,
            f"filtered SFT has as many updates for each of its {self.sparsity - 1} thoughts: updates={self.updates}; use a multiple",
        )

    def task(self) -> Boolean:
        return Boolean(self.bits, self.sparsity, self.gate, self.decomposition)  # pyright: ignore

    def supervisions(self) -> list[tuple[Supervision, ...]]:
        """What is taught: one entry, or one per phase."""
        layout = self.task().layout
        signal = LOSSES[self.loss]
        if self.freeze == "learned":
            signal = Unlearned(signal, layout.levels)
        flips = self.noise  # becomes an array, so that another noise is the same program
        own = self_generated(layout, signal, flips)
        forced = dataclasses.replace(teacher_forcing(layout, signal), where=own.where, flips=flips)
        if self.method == "forced":
            return [(forced,)]
        if self.method == "filtered":
            only = np.eye(layout.thoughts, dtype=np.float32)[:, :, None]
            return [(dataclasses.replace(own, where=own.where * only[index]),) for index in range(layout.thoughts)]
        if self.method == "sft":
            if not self.forcing:
                return [(own,)]
            mixed = (dataclasses.replace(own, where=own.where * (1 - self.forcing)),)
            return [(*mixed, dataclasses.replace(forced, where=own.where * self.forcing))]
        return [(self._rewarded(layout, flips),)]

    def _rewarded(self, layout: Layout, flips: float) -> Supervision:
        if self.method == "outcome":
            term = process_reward(layout, PolicyGradient(credit(layout, "return", 1.0)), TrueLabels(), flips)
            return dataclasses.replace(term, where=np.eye(layout.thoughts)[-1:].T)
        signals: dict[str, AbstractObjective] = {
            "rao-blackwell": ExpectedReward(),
            "group": PolicyGradient(credit(layout, "step"), "group", GROUP, True),
        }
        signal = signals.get(self.estimator) or PolicyGradient(credit(layout, self.estimator, self.discount))
        return process_reward(layout, signal, TrueLabels() if self.method == "rl-truth" else None, flips)

    def update(self) -> AbstractOptimizer:
        if self.rule == "sign":
            return Sign(self.rate, tolerance=0.05 if self.freeze == "magnitude" else 1e-6)  # pyright: ignore
        return {"gd": GD, "adam": AdamW}[self.rule](self.rate)

    def run(self) -> Run:
        task, phases = self.task(), self.supervisions()
        source = Blocks(self.block, self.samples // self.block) if self.block else Pooled(self.samples, self.samples)
        if self.estimator == "group" and self.method.startswith("rl"):
            source = Repeated(self.samples, GROUP)
        probes = (Outcome("rolled"), ChildMass())
        evaluation = Evaluation(1, self.chains, probes)
        steps = self.updates // len(phases)
        plan = [Stage(task, terms, source, self.update(), steps, evaluation) for terms in phases]
        return Run(pretrained(task), plan)


def exact(history: History) -> Bool[np.ndarray, "member record"]:
    """Where every held-out thought is right."""
    return np.asarray((history.metrics["rolled.levels"] >= 1).all(axis=-1))


def updates_to_exact(history: History) -> np.ndarray:
    """The first update after which every held-out thought is right; NaN where there is none."""
    right = exact(history)
    first = np.where(right.any(axis=1), right.argmax(axis=1), 0)
    return np.where(right.any(axis=1), history.step[first], np.nan).astype(float)


def trained(experiment: Experiment, lab: Lab) -> Trained:
    """The experiment over its seeds."""
    return lab.train(experiment.run(), range(experiment.seeds))
