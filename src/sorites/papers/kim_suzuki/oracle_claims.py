"""KS-7: real learners against the oracle that hides the target, and the same oracle with a chain."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...ledger import (
    Between,
    Claim,
    Comparison,
    Domain,
    Erratum,
    Evidence,
    Powers,
    Real,
    at_least,
    at_most,
    equal,
    shown,
)
from ...models import AbstractModel
from ...models.positional import positional
from ...supervision.class_oracle import ClassOracle
from ...tasks import Boolean
from ...theory import krawtchouk
from ...theory import parity_class as pc
from ...theory.tree_law import CURVATURE
from ...training import GD, AbstractOptimizer, AdamW, Lab
from .hardness_learners import PAPER, Kept, against, answer_alone, drawn, final_answers, kept, task_of, with_chain

FLOAT32 = 1e-5  # sums of 2^d squares of answers in single precision


@dataclasses.dataclass(frozen=True)
class Hidden:
    bits: int = 10  # d
    sparsity: int = 4  # k
    samples: int = 1024  # n
    steps: int = 20  # T
    rate: float = 0.3  # of Adam on the transformer, with and without a chain
    targets: int = 12  # with a chain; without one every target runs

    def __post_init__(self):
        task_of(self.bits, self.sparsity)
        require(self.sparsity < self.bits, f"a class needs two parities: sparsity={self.sparsity}; use fewer than bits")
        require(self.bits <= 12, f"every target runs: bits={self.bits}; use 12 or fewer")
        require(self.steps >= 1, f"an algorithm asks at least once: steps={self.steps}; use 1 or more")
        require(self.targets >= 2, f"a comparison needs two targets: targets={self.targets}; use 2 or more")
        require(self.samples >= 1, f"a sample is not empty: samples={self.samples}; use 1 or more")

    @property
    def task(self) -> Boolean:
        return task_of(self.bits, self.sparsity)

    @property
    def secrets(self) -> np.ndarray:
        return pc.subsets(self.bits, self.sparsity)

    @property
    def few(self) -> np.ndarray:
        """Targets spread over the class."""
        return np.unique(np.linspace(0, len(self.secrets) - 1, self.targets).astype(int))

    def inputs(self) -> jax.Array:
        return self.task.inputs(jax.random.key(1), self.samples)

    def learners(self) -> dict[str, tuple[str, AbstractModel, AbstractOptimizer]]:
        """Kind, start and rule; the transformer starts where Theorem 5 does."""
        task, start = self.task, positional(self.task)
        step = float((self.bits + self.sparsity - 2) ** 2 / (2 * CURVATURE))  # moves a child's weight by about one
        return {
            "MLP, GD": ("perceptron", drawn("perceptron", task, 0), GD(0.1)),
            "MLP, Adam": ("perceptron", drawn("perceptron", task, 0), AdamW(0.05)),
            "transformer, GD": ("transformer", start, GD(step)),
            "transformer, Adam": ("transformer", start, AdamW(self.rate)),
        }

    def run(self, lab: Lab, name: str, error: float | None, printed: bool = False) -> Kept:
        """The learner against the oracle, for every target; error None: it never tells."""
        return Kept(**lab.keep((self, name, error, printed), _alone))

    def gaps(self, path: Kept, name: str, which: np.ndarray | None = None) -> np.ndarray:
        """p(x) - f(x) of every target at every input, and p(x): [2, target, input]."""
        every, (kind, start, _) = np.arange(2**self.bits), self.learners()[name]
        parities = pc.masks(self.bits, self.sparsity)
        truth = pc.labels(parities if which is None else parities[which], every).astype(float)
        signs, taught = jnp.asarray(pc.signs(self.bits, every)), answer_alone(kind, self.task.layout)
        found = np.asarray(final_answers(start, jnp.asarray(path.last), taught, self.task, signs), float)
        return np.stack([truth - found, truth])

    def outcome(self, path: Kept, name: str, which: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Exact loss E_x(p - f)² and share of signs right, per target, over every input."""
        gap, truth = self.gaps(path, name, which)
        return (gap**2).mean(axis=1), (truth * (truth - gap) > 0).mean(axis=1)

    def untold(self, lab: Lab, name: str) -> tuple[Kept, float]:
        """The path of the class mean, which knows no target, and eps = Var_n^(1/3), Var_n the largest along it."""
        mean = self.run(lab, name, None)
        return mean, float(np.float32(float((mean.deviation**2).mean(axis=0).max()) ** (1 / 3)))


def _alone(spec: tuple[Hidden, str, float | None, bool]) -> dict[str, np.ndarray]:
    size, name, error, printed = spec
    kind, model, rule = size.learners()[name]
    oracle = ClassOracle(np.inf if error is None else error, size.samples, answer_only=True, printed=printed)  # pyright: ignore
    taught, secrets = answer_alone(kind, size.task.layout), jnp.asarray(size.secrets)
    return kept(against(oracle, taught, rule, model, size.task, secrets, size.inputs(), size.steps))


def _chained(spec: tuple[Hidden, float]) -> dict[str, np.ndarray]:
    size, error = spec
    _, model, rule = size.learners()["transformer, Adam"]
    oracle, taught = ClassOracle(error, size.samples), with_chain(size.task.layout)  # pyright: ignore
    secrets = jnp.asarray(size.secrets[size.few])
    return kept(against(oracle, taught, rule, model, size.task, secrets, size.inputs(), size.steps))


def _hidden(size: Hidden, lab: Lab) -> Evidence:
    compared, count, error = [], len(size.secrets), 0.0
    signs = np.asarray(size.inputs())[size.secrets]  # [target, secret bit, sample]
    rows = len(np.unique(signs.prod(axis=1), axis=0))  # targets that the sample tells apart
    lost = krawtchouk.mean_label_size(size.bits, size.sparsity)
    right, share = np.zeros(0), 1.0
    for name in size.learners():
        mean, error = size.untold(lab, name)
        deviation, path = mean.deviation, size.run(lab, name, error)
        untold = ~path.told.any(axis=1)
        share = float(untold.mean())
        other = (path.prints[untold] != mean.prints[:1]).any(axis=1)
        exact = size.run(lab, name, 0.0).last
        loss, right = size.outcome(path, name)
        compared += [
            equal(f"{name}: |Q|, run by run and along the mean path", float((deviation.max(axis=1) <= error).sum()), float(untold.sum()), 0),
            equal(f"{name}: targets in Q whose weights differ in any bit at any step", 0, float(other.sum()), 0),
            _apart(f"{name}: different final weights for {count} targets, exact gradient", rows, len(np.unique(exact, axis=0))),
            at_least(f"{name}: exact loss, floor Pr(Q) - 1/|P|", float(loss.mean()), pc.exact_floor(share, count), FLOAT32),
            at_least(f"{name}: exact loss, printed floor", float(loss.mean()), pc.printed_floor(share, lost), FLOAT32),
            Comparison(f"{name}: Pr(Q) ≥", 0.5, share, 0.0, True if share >= 0.5 else None),  # else the floor says little
        ]  # fmt: skip
    told, solved, loss = _with_chain(size, error, lab)  # the transformer's Adam comes last: its oracle is used again
    wrong, leaks = _as_printed(size, lab)
    compared += [
        at_most("transformer, Adam, no chain: answers right", float(right.mean()), (1 + lost) / 2 + 1 - share, FLOAT32),
        Comparison("the same with a chain, same oracle, rule and queries: answers right ≥", 1.0, solved, 0.0,
                   True if solved == 1 else None),
        shown("with a chain: exact loss, worst target", None, loss),
        shown("with a chain: share of queries the oracle had to answer truly", None, told),
        shown("the oracle's error eps, transformer with Adam", None, error),
    ]  # fmt: skip
    return Evidence(
        tuple(compared),
        seeds=count,
        erratum=Erratum(
            "The oracle returns the class mean if the true gradient is further than eps from it, else the true gradient (App. A).",
            "The cases are swapped: the class mean within eps, the true gradient beyond. As printed, at eps = half the largest "
            f"deviation an answer is wrong by {wrong:.3g} eps, and at eps = Var^(1/3) the {count} targets end at "
            f"{leaks} different weights.",
            "fails" if wrong > 1 and leaks > 1 else "holds",
        ),
    )


def _apart(name: str, predicted: int, measured: int) -> Comparison:
    """The exact gradient should tell the targets apart; where it does not, a hidden target proves nothing."""
    return Comparison(name, predicted, measured, 0.0, True if measured == predicted > 1 else None)


def _with_chain(size: Hidden, error: float, lab: Lab) -> tuple[float, float, float]:
    """Teacher forcing under the same oracle: share of true answers, worst accuracy, worst exact loss."""
    path = Kept(**lab.keep((size, error), _chained))
    loss, right = size.outcome(path, "transformer, Adam", size.few)
    return float(path.told.mean()), float(right.min()), float(loss.max())


def _as_printed(size: Hidden, lab: Lab) -> tuple[float, int]:
    """The largest error of an answer in units of eps, and at how many different weights the targets end."""
    name = "MLP, GD"
    deviation = size.run(lab, name, None).deviation
    small, usual = 0.5 * float(deviation.max()), float((deviation**2).mean(axis=0).max() ** (1 / 3))
    path = size.run(lab, name, small, printed=True)
    wrong = np.where(path.told, 0.0, path.deviation)  # where it answered with the mean
    final = size.run(lab, name, usual, printed=True).last
    return float(wrong.max()) / small, len(np.unique(final, axis=0))


CLAIMS = (
    Claim(
        "KS-7", PAPER, "Thm 2, App. A", "inequality",
        "Against the oracle that answers with the class mean while the gradient is within eps = Var^(1/3) of it, the weights "
        "of an MLP and of the one-layer transformer, under GD and Adam, are the same to the last bit for every target in Q, so "
        "the exact loss is at least Pr(Q) - 1/|P| and at least 2 - 1/Pr(Q) - 2 E|E_p p|. With a chain the same oracle must "
        "tell, and the transformer learns every target.",
        {
            "tiny": Hidden(10, 8, 1024, 20, targets=2),
            "quick": Hidden(),
            "paper": Hidden(12, 8, 2048, 20, targets=12),
        },
        _hidden,
        domain=Domain(
            {
                "bits": Between(5, 10),
                "sparsity": Powers(4, 8),
                "samples": Between(1024, 2048),
                "steps": Between(20, 30),
                "rate": Real(0.25, 0.35),
                "targets": Between(2, 12),
            },
            lambda size: size.sparsity < size.bits and math.comb(size.bits, size.sparsity) <= 210,
            "every target of the class runs, so classes of 210 or fewer; the chain is learned with 1,024 samples and 20 queries or more",
        ),
        departures=(
            "eps is the cube root of the largest variance along the class-mean path, one number per learner; Pr(Q) is counted, "
            "for Chebyshev's bound is empty at enumerable sizes.",
            "Pr(Q) - 1/|P| is new and never below the printed floor: one f serves all of Q, and by orthonormality its best "
            "choice is their mean. It needs neither clipping nor Lemma 8.",
            "Without a chain no algorithm does better. With one, this algorithm does at this size; with half the samples, or at "
            "rate 0.2, 20 queries leave some targets unlearned, and plain descent with a chain did not survive the oracle's later mean "
            "answers at the three or four rates tried.",
        ),
    ),
)  # fmt: skip
