"""The published experiments: four ways to teach a one-layer transformer a k-parity by full-batch gradient descent."""

import dataclasses

import numpy as np

from ...errors import require
from ...models.positional import positional
from ...probes import ChildMass, Loss, Outcome, Released
from ...supervision import FilteredPrefix, Pooled, Scores, Squared, Supervision, TrueLabels, teacher_forcing
from ...tasks import Boolean, Layout, Parity
from ...training import GD, Evaluation, Lab, Run, Stage, Trained

LESSONS = {
    "direct": "Direct (answer only)",
    "free": "CoT, own chain",
    "forced": "CoT + teacher forcing",
    "consistent": "CoT + self-consistency",
}
RATES = {8: 15.0, 16: 50.0, 32: 100.0}  # published, at 64 bits, by sparsity


@dataclasses.dataclass(frozen=True)
class Published:
    """One sparsity. Stated: bits, samples, epochs (at k=32), rates, link, loss scale, filter threshold, the 10 %. Our
    choices: W = 0 at the start, secrets drawn per seed, held-out chains, the filter looks at the level below, and what
    the 10 % is of: the loss of the whole unfiltered chain, or of its answer."""

    bits: int = 64  # d
    sparsity: int = 32  # k
    samples: int = 100_000  # n
    epochs: int = 350
    rate: float = 100.0  # of the three chains; the answer alone takes 0.01 of it
    least: float = 0.4  # softmax score at which the next level is released
    share: float = 0.1  # of the prediction loss, added to the filtered loss
    prediction: str = "chain"  # what the prediction loss is the loss of: chain or answer
    every: int = 5
    chains: int = 2000  # held out
    seeds: int = 8

    def task(self) -> Boolean:
        return Parity(self.bits, self.sparsity)

    def run(self, lesson: str) -> Run:
        require(lesson in LESSONS, f"a lesson is one of {', '.join(LESSONS)}: lesson={lesson!r}; use one of these")
        task = self.task()
        mask = "causal" if lesson == "direct" else "lower-levels"
        rate = 0.01 * self.rate if lesson == "direct" else self.rate
        probes = (Loss(), Outcome("soft"), ChildMass(), Released(Scores(self.least)))  # pyright: ignore
        stage = Stage(
            task,
            self.supervisions(lesson, task.layout),
            Pooled(self.samples, self.samples),
            GD(rate),  # pyright: ignore
            self.epochs,
            Evaluation(self.every, self.chains, probes),
        )
        return Run(positional(task, "quadratic-linear", mask), [stage])

    def supervisions(self, lesson: str, layout: Layout) -> tuple[Supervision, ...]:
        """The objective of a lesson."""
        chain = np.full((layout.thoughts, 1), 1 / layout.thoughts)  # 1/(k-1)
        answer = np.zeros((layout.thoughts, 1))
        answer[-1] = 1
        known = {"chain": chain, "answer": answer}
        require(
            self.prediction in known,
            f"a prediction is of the chain or the answer: prediction={self.prediction!r}; use one of the two",
        )
        if lesson == "direct":
            return (Supervision(FilteredPrefix(), TrueLabels(), answer, Squared()),)
        if lesson == "forced":
            return (Supervision(teacher_forcing(layout).prefix, TrueLabels(), chain, Squared()),)
        if lesson == "free":
            return (Supervision(FilteredPrefix(), TrueLabels(), chain, Squared()),)
        filtered = Supervision(FilteredPrefix(Scores(self.least)), TrueLabels(), chain, Squared())  # pyright: ignore
        return filtered, Supervision(FilteredPrefix(), TrueLabels(), self.share * known[self.prediction], Squared())


def trained(size: Published, lesson: str, lab: Lab) -> Trained:
    """A lesson over its secrets; claims that look at the same ensemble share it."""
    return lab.train(size.run(lesson), range(size.seeds))
