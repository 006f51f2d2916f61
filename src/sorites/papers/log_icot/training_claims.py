"""Claims about training: Algorithm 1 with its literal and its calibrated rate, and the AdamW experiment."""

import dataclasses
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...ledger import Claim, Comparison, Evidence, at_least, at_most, equal, interval_inside, shown, worst
from ...models import AbstractModel
from ...probes import child_masses
from ...statistics import mean_interval, wilson
from ...supervision import Draw, Sampled
from ...theory import gated_laws, tree_law
from ...training import Lab, Stage, Trained
from .experiments import AdamExperiment, AlgorithmOne, trained
from .setting import PAPER

NEEDED = 0.9  # share of seeds with every held-out answer right: 18 of 20 (spec LI-14)


@dataclasses.dataclass(frozen=True)
class Literal:
    bits: int = 30
    sparsity: int = 16
    epsilon: float = 1.0  # of Theorem 1
    samples: int = 150_000
    seeds: int = 20

    def __post_init__(self):
        require(0 < self.epsilon <= 16, f"an exponent lies in (0, 16]: epsilon={self.epsilon}; use 1")


def _literal(size: Literal, lab: Lab) -> Evidence:
    strength = float(gated_laws.literal_strength(size.bits, size.epsilon))
    experiment = AlgorithmOne(size.bits, size.sparsity, strength, size.samples, "literal", seeds=size.seeds)
    accuracy = trained(experiment, lab).history.last("padded.answer")
    return Evidence(
        (
            interval_inside("accuracy of the answer", float(accuracy.mean()), mean_interval(accuracy), 0.5, 0.1),
            equal("seeds solved", 0, int((accuracy == 1).sum()), 0),
            equal("K_n at n = 65,536, epsilon = 1", 2, gated_laws.literal_strength(65_536, 1.0), 0),
            shown("K_n here", None, strength),
            shown("ln n beyond which n^(1/16) > ln n", None, gated_laws.log_size_for_concentration()),
        ),
        seeds=size.seeds,
    )


def _solved(result: Trained) -> Comparison:
    right = int((result.history.last("padded.answer") == 1).sum())
    seeds = len(result.history.seeds)
    return at_least("seeds with all answers right", right, math.ceil(NEEDED * seeds))


def _interval(result: Trained) -> tuple[Comparison, Comparison]:
    right = int((result.history.last("padded.answer") == 1).sum())
    low, high = wilson(right, len(result.history.seeds))
    return shown("success rate, Wilson low", None, low), shown("success rate, Wilson high", None, high)


def _calibrated(size: AlgorithmOne, lab: Lab) -> Evidence:
    result = trained(size, lab)
    weights = _child_weights(result, size)
    return Evidence(
        (
            _solved(result),
            *_interval(result),
            shown("median weight of the children", size.strength, float(np.median(weights))),
            shown("largest error, median over seeds", None, float(np.median(result.history.last("padded.error")))),
        ),
        seeds=size.seeds,
        departures=(
            "K is free and the rate is divided by the finite-size signal of its stage "
            f"(calibration={size.calibration}); the theorem's K_n is checked in LI-13.",
        ),
    )


def _child_weights(result: Trained, size: AlgorithmOne) -> np.ndarray:
    task, found = size.task(), []
    layout = task.layout
    for index, secret in enumerate(result.history.secrets if result.history.secrets is not None else ()):
        children = np.asarray(task.children(secret))
        for level, weight in enumerate(result.model(index).weights):  # pyright: ignore
            rows = children[layout.ends[level] - layout.inputs : layout.ends[level + 1] - layout.inputs]
            found.append(np.take_along_axis(np.asarray(weight), rows, axis=1).ravel())
    return np.concatenate(found)


PROBED = 4  # seeds whose gradient is looked at
PROBE = 16_384  # chains of that gradient: fewer than B, so noisier and larger


def _frozen_layers(size: AlgorithmOne, lab: Lab) -> Evidence:
    """The weights after each stage: the next stage's gradient at the trained layers, and what it does to them."""
    layout, seeds = size.task().layout, range(size.seeds)
    if layout.depth < 2:
        return Evidence((), departures=("One level has no later stage: there is nothing to check.",))
    largest, changed, most = 0.0, 0, 0.0
    result = trained(size, lab)
    for stage in range(1, layout.depth):  # layers 1..stage are trained
        old, new = (jax.tree.leaves(result.along[step].weights[:stage]) for step in (stage, stage + 1))  # pyright: ignore
        changed += sum(int((a != b).sum()) for a, b in zip(old, new, strict=True))
        following, rate = size.run().stages[stage], size.rates()[stage]
        for index in seeds[:PROBED]:
            model, secret = result.model(index, stage), result.history.secrets[index]  # pyright: ignore
            gradient = _gradient(following, model, secret, index)
            largest = worst(largest, *(rate * float(jnp.abs(g).max()) for g in gradient.weights[:stage]))  # pyright: ignore
            mass = child_masses(model, size.task().children(secret)).sum(axis=1)
            most = worst(most, 1 - float(mass[: layout.ends[stage] - layout.inputs].min()))
    return Evidence(
        (
            at_most("largest update of a trained weight before rounding", largest, 0.5),
            equal("trained weights changed by later stages", 0, changed, 0),
            shown("largest mass off the children", None, most),
        ),
        seeds=size.seeds,
    )


@eqx.filter_jit
def _gradient(stage: Stage, model: AbstractModel, secret: jax.Array, seed: int) -> AbstractModel:
    """A fresh gradient of a stage."""
    objective = stage.objective(secret)
    draw = Draw(secret, None, jnp.zeros((), jnp.uint32), jax.random.key(seed), None)
    return Sampled(PROBE).gradient(objective, model, stage.task, draw)[1]


def _theorem(size: AlgorithmOne, lab: Lab) -> Evidence:
    result = trained(size, lab)
    history, layout = result.history, size.task().layout
    right = history.last("padded.answer") == 1
    ratios = []
    for index in np.flatnonzero(right):
        mass = child_masses(result.model(int(index)), size.task().children(history.secrets[index]))  # pyright: ignore
        ratios.append(float(history.last("padded.error")[index]) / _error_bound(np.asarray(mass), layout))
    return Evidence(
        (
            _solved(result),
            *_interval(result),
            shown("updates, by construction", math.log2(size.sparsity), int(history.step[-1])),
            shown("chains per run, by construction", size.samples * layout.depth, float(history.samples.max())),
            at_most("answer error / bound from the trained attention", max(ratios, default=math.nan), 1, 1e-3),
            shown("largest error over solved seeds", None, float(history.last("padded.error")[right].max(initial=0))),
        ),
        seeds=size.seeds,
    )


def _error_bound(mass: np.ndarray, layout) -> float:
    """LI-16 with the model's own scores: distance to (1/2, 1/2) and mass elsewhere, level by level; float32 adds
    rounding of order 1e-6."""
    error = 0.0
    for level in range(1, layout.depth + 1):
        rows = mass[np.asarray(layout.levels) == level]
        miss = (1 - rows.sum(axis=1) + np.abs(rows - 0.5).sum(axis=1)).max()
        error = 1 - math.cos(math.pi * min(1.0, float(miss) + error)) + 2e-6
    return error


LATER = 0.05  # later stages stand on trained, not exact layers
MAJORITY = 0.5  # of the attention of every thought


def _start_losses(size: AdamExperiment, lab: Lab) -> Evidence:
    history = trained(size, lab).history
    compared = []
    for stage in range(1, int(math.log2(size.sparsity)) + 1):
        found, law = history.entry(stage, "own.loss"), tree_law.start_loss(size.bits, size.sparsity, stage)
        error = float(found.std(ddof=1)) / math.sqrt(len(found)) if len(found) > 1 else math.inf
        within = min(4 * error, 0.05 * law) if stage == 1 else LATER * law
        compared.append(equal(f"stage {stage}", law, float(found.mean()), within))
    return Evidence(tuple(compared), seeds=size.seeds)


def _adam(size: AdamExperiment, lab: Lab) -> Evidence:
    history = trained(size, lab).history
    layers = int(math.log2(size.sparsity))
    right = int((history.last("padded.answer") == 1).sum())
    mass = np.median(history.last("child_mass"), axis=0)
    ends = [at_most(f"stage {s}: median loss at its end", float(np.median(history.end(s, "own.loss"))), 0.01)
            for s in range(1, layers + 1)]  # fmt: skip
    return Evidence(
        (
            at_least("seeds with all answers right", right, math.ceil(NEEDED * size.seeds)),
            *ends,
            *(at_least(f"layer {n + 1}: least child mass, median", float(mass[n]), MAJORITY) for n in range(layers)),
        ),
        seeds=size.seeds,
        departures=(
            f"Unstated in the paper and chosen here: weight decay {size.decay}, fresh batches={not size.pool}, "
            f"optimiser reset per stage={size.reset}, quantisation={size.quantised}, loss as in Eq. 1.",
        ),
    )


TINY = AlgorithmOne(12, 4, 6.0, 20_000, seeds=4)
LARGE = AlgorithmOne(64, 32, 8.0, 1_000_000)
TINY_ADAM = AdamExperiment(8, 4, steps=100, batch=128, seeds=4)
CLAIMS = (
    Claim(
        "LI-13", PAPER, "Theorem 1, Algorithm 1", "finite",
        "With the literal rate eta_t = K_n n_t^2/(2c), K_n = ceil(n^(eps/16)), nothing is learned at sizes that can "
        "be run: eps = 1 gives K_n = 2 for all n <= 65,536, and the answer stays at chance.",
        {"tiny": Literal(12, 4, 1.0, 20_000, 4), "quick": Literal(), "paper": Literal(64, 32, 1.0, 100_000, 20)},
        _literal,
    ),
    Claim(
        "LI-14", PAPER, "Algorithm 1, K free", "finite",
        "With K free and the rate calibrated to each stage's finite-size signal, one rounded step per stage learns "
        "k-parity: every held-out answer is right in at least 9 of 10 seeds.",
        {"tiny": TINY, "quick": AlgorithmOne(), "paper": LARGE},
        _calibrated,
    ),
    Claim(
        "LI-18", PAPER, "Lemma 10", "finite",
        "Later stages move a trained weight by less than 1/2 before rounding, so rounding leaves it unchanged.",
        {"tiny": TINY, "quick": AlgorithmOne()}, _frozen_layers,
    ),
    Claim(
        "LI-19", PAPER, "Theorem 1", "finite",
        "log2 k updates and B log2 k chains give the right answer with high probability, with an error within the "
        "bound that the trained attention implies.",
        {"tiny": TINY, "quick": AlgorithmOne(), "paper": LARGE},
        _theorem,
    ),
    Claim(
        "LI-21", PAPER, "Fig. 2(b)", "finite",
        "The loss at the start of stage t is (k/2^t)(E phi^2 + 1 - 2 E[phi b])/2 with the expectations of the exact "
        "tree law: at stage 1 within sampling error, later, on trained instead of exact layers, within 5 %.",
        {"tiny": TINY_ADAM, "quick": AdamExperiment(), "paper": AdamExperiment(seeds=1024)},
        _start_losses,
    ),
    Claim(
        "LI-22", PAPER, "Sec. 4", "finite",
        "The AdamW experiment reaches 100 % validation accuracy, with a loss near zero at the end of every stage "
        "and most of every thought's attention on its two children.",
        {"tiny": TINY_ADAM, "quick": AdamExperiment(), "paper": AdamExperiment(seeds=1024)},
        _adam,
    ),
)  # fmt: skip
