"""Claims about what the feed-forward network learns in stage 1."""

import dataclasses
import math

import jax
import numpy as np

from ...errors import require
from ...ledger import Claim, Comparison, Erratum, Evidence, at_least, at_most, equal, shown, worst
from ...models.features import Features, imbalance
from ...models.srelu import SReLU
from ...tasks.actions import Action, action_named
from ...training import Lab
from ...training.lego_theory import FeatureHistory
from . import monitors
from .setting import CYCLIC3, CYCLIC6, PAPER, SYMMETRIC3, SYMMETRIC4, Learning, ensemble_magnitudes, winners

WIDTH = SReLU().width  # rho


@dataclasses.dataclass(frozen=True)
class Stage1:
    runs: tuple[Learning, ...] = (CYCLIC3, CYCLIC6)
    seeds: int = 3

    def __post_init__(self):
        require(self.seeds >= 1, f"a mean needs runs: seeds={self.seeds}; use 1 or more")
        require(len(self.runs) >= 1, f"a stage has runs: runs={self.runs}; name one or more")


@dataclasses.dataclass(frozen=True)
class Shape:
    """Winning neurons' features in units of B, averaged; `cancelled` is a worst case, not scaled."""

    move: float  # V(g), g in the fibre
    state: float  # V(y)
    other_move: float  # V(g')
    other_state: float  # V(y')
    apart: float  # V(g', y')
    cancelled: float  # largest |V(g) + V(y')|, |V(g') + V(y)|
    idle: float  # share of fibres at 5 mu or less in neurons that won nothing in their class


def shape(end: Features, winner: np.ndarray, action: Action, ceiling: float, bias: float) -> Shape:
    classes, _ = np.indices(winner.shape)
    reaches = action.table.T[None] == np.arange(action.values)[:, None, None]  # [class j, value y, action]
    own = np.broadcast_to(np.eye(action.values, dtype=bool), (action.values,) * 3)  # [class j, value y, value y']
    moves, values = end.actions[classes, winner], end.values[classes, winner]
    right = np.where(reaches, moves, np.nan)
    crossed = np.abs(right[..., :, None] + np.where(own, np.nan, values)[..., None, :])
    wrong = np.abs(np.where(reaches, np.nan, moves) + np.where(own, values, 0).sum(-1, keepdims=True))
    lost = np.array([[r not in row for r in range(end.actions.shape[1])] for row in winner.tolist()])
    idle = ensemble_magnitudes(end, action)[lost] <= 5 * bias
    far = (np.where(reaches, np.nan, moves)[..., :, None] + np.where(own, np.nan, values)[..., None, :]) / 2
    return Shape(
        float(np.nanmean(right)) / ceiling,
        float(values[own].mean()) / ceiling,
        float(moves[~reaches].mean()) / ceiling,
        float(values[~own].mean()) / ceiling,
        float(np.nanmean(far)) / ceiling,
        worst(float(np.nanmax(crossed)), float(np.nanmax(wrong))),
        float(idle.mean()),
    )


Histories = dict[Learning, list[FeatureHistory]]  # by seed


def histories(size: Stage1, lab: Lab) -> Histories:
    return {run: [run.run(seed, lab)[1] for seed in range(size.seeds)] for run in size.runs}


def shapes(found: Histories) -> dict[Learning, list[Shape]]:
    def shaped(run: Learning, history: FeatureHistory) -> Shape:
        action = action_named(run.action)
        winner, end = winners(history, action)
        return shape(end, winner, action, run.ceiling, run.bias)

    return {run: [shaped(run, history) for history in each] for run, each in found.items()}


def _watched(found: Histories) -> list[Comparison]:
    """Every monitor of stage 1: the share of records, over seeds, at which it holds."""
    compared = []
    for run, each in found.items():
        held = [monitors.learned_features(history, action_named(run.action)) for history in each]
        compared += [
            shown(f"{run.action}, monitor: {name}", 1, float(np.mean([each[name].mean() for each in held])))
            for name in held[0]
        ]
    return compared


def _mean(each: list[Shape], field: str) -> float:
    return float(np.mean([getattr(one, field) for one in each]))


CLOSE = 0.06  # of B: the bend of the activation shifts V by rho (1 - 1/q) = 0.375, 5 % of B = 2 log 50


def _simply_transitive(size: Stage1, lab: Lab) -> Evidence:
    compared: list[Comparison] = []
    found = histories(size, lab)
    for run, each in shapes(found).items():
        name = run.action
        compared += [
            equal(f"{name}: V(g)/B", 1, _mean(each, "move"), CLOSE),
            equal(f"{name}: V(y)/B", 1, _mean(each, "state"), CLOSE),
            equal(f"{name}: V(g',y')/B", -1, _mean(each, "apart"), CLOSE),
            equal(f"{name}: V(g)/V(y)", 1, _mean(each, "move") / _mean(each, "state"), CLOSE),
            at_most(f"{name}: largest |V(g)+V(y')| / rho", max(one.cancelled for one in each) / WIDTH, 4),
            at_least(f"{name}: features of idle neurons at 5 mu or less, share", _mean(each, "idle"), 0.95),
        ]
    return Evidence((*compared, *_watched(found)), seeds=size.seeds)


def _symmetry(size: Stage1, lab: Lab) -> Evidence:
    compared: list[Comparison] = []
    found = histories(size, lab)
    for run, each in shapes(found).items():
        name, ratio = run.action, imbalance(action_named(run.action))
        large, small = 2 * ratio / (1 + ratio), 2 / (1 + ratio)
        compared += [
            equal(f"{name}: V(g)/V(y)", ratio, _mean(each, "move") / _mean(each, "state"), CLOSE * ratio),
            equal(f"{name}: V(g)/B", large, _mean(each, "move"), CLOSE * large),
            equal(f"{name}: V(y)/B", small, _mean(each, "state"), CLOSE * large),
            equal(f"{name}: V(g')/B", -small, _mean(each, "other_move"), CLOSE * large),
            equal(f"{name}: V(y')/B", -large, _mean(each, "other_state"), CLOSE * large),
        ]
    return Evidence(
        (*compared, *_watched(found)),
        seeds=size.seeds,
        erratum=Erratum(
            "(18b): V(g') = +2B/n_y",
            "V(g') = -2B/n_y in the limit, -2B/(1 + C_alpha) at finite n: negative in every run",
            "fails",
        ),
    )


def greedy_order(start: np.ndarray) -> np.ndarray:
    """Predicted winners [class, value] from V^(0) [class, neuron, value] (Def. B.3): the largest feature first, its
    neuron and its combination then leave."""
    winner = np.zeros((start.shape[0], start.shape[2]), int)
    for number, magnitudes in enumerate(start):
        left = magnitudes.copy()
        for _ in range(start.shape[2]):
            neuron, value = np.unravel_index(left.argmax(), left.shape)
            winner[number, value] = neuron
            left[neuron], left[:, value] = -np.inf, -np.inf
    return winner


@dataclasses.dataclass(frozen=True)
class Order(Stage1):
    runs: tuple[Learning, ...] = (CYCLIC3, CYCLIC6, SYMMETRIC3, SYMMETRIC4)
    seeds: int = 8


def _curriculum(size: Order, lab: Lab) -> Evidence:
    from scipy import stats

    compared: list[Comparison] = []
    for run in size.runs:
        action, hits, correlations = action_named(run.action), [], []
        for seed in range(size.seeds):
            start, history = run.run(seed, lab)
            before = ensemble_magnitudes(jax.tree.map(np.asarray, start), action)
            winner, _ = winners(history, action)
            hits.append((winner == greedy_order(before)).mean())
            path = np.stack([ensemble_magnitudes(jax.tree.map(lambda leaf, i=i: leaf[i], history.features), action)
                             for i in range(len(history.step))])  # fmt: skip
            classes, values = np.indices(winner.shape)
            grown = path[:, classes, winner, values] > run.ceiling / 2
            times = np.where(grown.any(axis=0), history.step[grown.argmax(axis=0)], history.step[-1])
            initial = before[classes, winner, values]
            correlations.append(-float(stats.spearmanr(times.ravel(), initial.ravel())[0]))  # pyright: ignore
        compared.append(at_least(f"{run.action}: predicted neuron wins, share", float(np.mean(hits)), 0.9))
        compared.append(
            at_least(f"{run.action}: rank correlation of start and earliness", float(np.mean(correlations)), 0.6)
        )
    return Evidence(tuple(compared), seeds=size.seeds)


MOST_STEPS = 10**7


@dataclasses.dataclass(frozen=True)
class Power:
    power: int = 4  # q
    start: float = 1e-2  # x_0
    goal: float = 0.5  # A
    rate: float = 0.1
    lead: float = 1.1  # x_0 / y_0

    def __post_init__(self):
        require(self.power >= 3, f"growth takes over for q > 2: power={self.power}; use 3 or more")
        require(
            0 < self.start < self.goal,
            f"growth starts below its goal: start={self.start}, goal={self.goal}; use 0 < start < goal",
        )
        require(self.rate > 0, f"growth needs a rate: rate={self.rate}; use a positive number")
        require(self.lead > 1, f"the winner starts ahead: lead={self.lead}; use more than 1")
        require(
            self.time <= MOST_STEPS,
            f"at most {MOST_STEPS:.0e} steps are taken and {self.time:.1e} are predicted: power={self.power}, "
            f"start={self.start}, rate={self.rate}; use a smaller power, a larger start or a larger rate",
        )

    @property
    def time(self) -> float:
        """Steps to the goal (Lemma B.13)."""
        order = self.power - 2
        return (self.start**-order - self.goal**-order) / (order * self.rate)


def noisy_power(value: float, spread: float, power: int) -> float:
    """E (xi + value)^power for Gaussian xi: its even moments are spread^2k (2k-1)!!."""
    return sum(
        math.comb(power, 2 * k) * value ** (power - 2 * k) * spread ** (2 * k) * math.prod(range(1, 2 * k, 2))
        for k in range(power // 2 + 1)
    )


def _tensor_power(size: Power) -> Evidence:
    p = size.power - 1
    x, y, noisy_x, noisy_y, steps = size.start, size.start / size.lead, size.start, size.start / size.lead, 0
    spread = size.start / 20  # of the Gaussian in Lemma B.12
    noisy_done = None
    while x < size.goal:
        x, y, steps = x + size.rate * x**p, y + size.rate * y**p, steps + 1
        if noisy_done is None:
            noisy_x += size.rate * noisy_power(noisy_x, spread, p)
            noisy_y += size.rate * noisy_power(noisy_y, spread, p)
            noisy_done = noisy_y if noisy_x >= size.goal else None
    order = size.power - 2
    limit = (1 - size.lead**-order) ** (-1 / order)
    return Evidence(
        (
            equal("steps to A / (x_0^{2-q} - A^{2-q}) / ((q-2) eta C)", 1, steps / size.time, 0.02),
            at_most("loser / its start (Corollary B.1)", y * size.lead / size.start, limit, 0.02 * limit),
            at_most(
                "the same in expectation over noise (Lemma B.12)",
                (noisy_done or y) * size.lead / size.start,
                limit,
                0.1 * limit,
            ),
        )
    )


CLAIMS = (
    Claim(
        "L5", PAPER, "Thm B.1, (17)", "finite",
        "Simply transitive: one neuron per (class, value) with V(g) = V(y) = B, V(g',y') = -B and cancelled cross terms; "
        "neurons that win nothing stay at the size of the bias (all but a few near ties).",
        {"tiny": Stage1((CYCLIC3,), 2), "quick": Stage1()}, _simply_transitive,
        departures=("sigma_0 far below d^{-1/2}, which violates mu << rho at any practical d", "q=4, rho=0.5, C_B=2"),
    ),
    Claim(
        "L6", PAPER, "Thm C.1, (18a-c)", "finite",
        "Symmetry: V(g)/V(y) = C_alpha = (1 + n_G(n_Y-1)/n_Y) / (n_Y - 1 + n_G/n_Y), with V(g) + V(y) = 2B and the "
        "opposite signs off the fibre.",
        {"tiny": Stage1((SYMMETRIC3,), 2), "quick": Stage1((SYMMETRIC3, SYMMETRIC4))}, _symmetry,
        departures=("sigma_0 far below d^{-1/2}, which violates mu << rho at any practical d", "q=4, rho=0.5, C_B=2"),
    ),
    Claim(
        "L7", PAPER, "Def. B.3, C.4", "finite",
        "The neuron that carries a combination is the one that the greedy order of initial features predicts, and larger "
        "starts are learned earlier.",
        {"tiny": Order((CYCLIC3, SYMMETRIC3), 3), "quick": Order()}, _curriculum,
    ),
    Claim(
        "L8", PAPER, "Lemmas B.12, B.13, Corollary B.1", "finite",
        "x <- x + eta C x^{q-1} reaches A after (x_0^{2-q} - A^{2-q}) / ((q-2) eta C) steps, and a competitor that starts "
        "a constant factor lower stays at its start's order.",
        {"tiny": Power(), "quick": Power(start=3e-3)}, _tensor_power,
    ),
)  # fmt: skip
