"""The induction hypotheses of Appendices B to F as monitors: evaluated along a run, never aborting it."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool

from ...models.features import Features
from ...models.routing import Masses
from ...tasks.actions import Action
from ...training.lego_theory import FeatureHistory, RoutingHistory
from .setting import masses, winners

SLACK = 0.01  # of attention or score: a step moves a score by up to 0.1
Monitors = dict[str, Bool[np.ndarray, " step"]]  # True where the hypothesis holds


def upper_gap(clipping: float) -> float:
    """c_1 = 1.005 log d / (2B): how far the predicate may lead (Inductions E.1, E.2, F.1)."""
    return 1.005 / (2 * clipping)


def lower_gap(clipping: float) -> float:
    """c_2 = log d / (4B)."""
    return 1 / (4 * clipping)


def _rising(values: np.ndarray) -> np.ndarray:
    return np.append(True, np.diff(values) >= -SLACK)


def _shared(history: RoutingHistory, variables: int) -> Monitors:
    path = [np.asarray(leaf, float) for leaf in history.routing.__dict__.values()]
    own, other, own_answer, other_answer = path
    least = np.minimum(own, own_answer)
    return {
        "off-diagonals at most 3/|X| of the diagonal": np.maximum(np.abs(other), np.abs(other_answer))
        <= 3 * np.maximum(least, SLACK) / variables + SLACK,
    }


def simply_transitive(history: RoutingHistory, variables: int, clipping: float) -> Monitors:
    """Inductions D.1 to D.3."""
    attention: Masses = masses(history)
    predicate, answer = np.asarray(history.routing.predicate, float), np.asarray(history.routing.answer, float)
    return {
        "[Q43] never falls (D.1a-D.3a)": _rising(predicate),
        "[Q44] never exceeds [Q43] (D.1)": answer <= predicate + SLACK,
        "signed gap is not negative (D.2, D.3)": np.asarray(attention.gap) >= -SLACK,
        "attention on pred,2 is at most 1/2 + 1/(2 C_B) (D.3)": np.asarray(attention.predicate)
        <= 0.5 + 1 / (2 * clipping),
        **_shared(history, variables),
    }


def symmetry(history: RoutingHistory, variables: int, clipping: float, length: int = 2) -> Monitors:
    """Inductions E.1, E.2 and F.1; the lower gap is the one that Lemma E.34 proves."""
    attention = masses(history, length)
    total = np.asarray(history.routing.predicate, float) + np.asarray(history.routing.answer, float)
    wrong = (length - 1) / length * np.asarray(attention.error) if length > 2 else np.asarray(attention.other_predicate)
    return {
        "[Q43] + [Q44] never falls (E.1a)": _rising(total),
        "the predicate leads by at most c_1 (E.1b)": np.asarray(attention.gap) <= upper_gap(clipping) + SLACK,
        "the answer leads by at most pred,1 - c_2 (E.34)": -np.asarray(attention.gap)
        <= wrong - lower_gap(clipping) + SLACK,
        **_shared(history, variables),
    }


def learned_features(history: FeatureHistory, action: Action) -> Monitors:
    """Inductions B.1 to B.4 and C.1 to C.4, at finite size, over the records of stage 1."""
    winner, _ = winners(history, action)
    features: Features = jax.tree.map(lambda leaf: np.asarray(leaf, float), history.features)
    bias, ceiling = float(features.bias[0]), float(features.ceiling[0])
    classes, states = np.indices(winner.shape)
    fibre = action.table.T[None] == np.arange(action.values)[:, None, None]  # [class, value, action]: g(y) = j
    moves, values = np.asarray(features.actions), np.asarray(features.values)
    pairs = (moves[..., :, None] + values[..., None, :]) / 2  # V_psi [record, class, neuron, action, value]
    own = pairs[:, classes, winner, :, states]  # [class, value, record, action]: numpy puts the looked-up axes first
    own = np.where(fibre[:, :, None], own, np.nan)
    grown = np.nanmax(own, axis=-1) >= 3 * bias  # [class, value, record]: the end of phase I
    reached = fibre.transpose(0, 2, 1)[None, :, None]  # over [record, class, neuron, action, value]
    rivals = np.where(reached, pairs, -np.inf).max(axis=3)  # [record, class, neuron, value]
    rivals[:, classes, winner, states] = -np.inf
    rival = np.moveaxis(rivals.max(axis=2), 0, -1)  # [class, value, record]
    right = _right_share(features, pairs, action)
    solved = right >= 1 - 1 / np.sqrt(float(features.others[0]) + action.values)
    least = np.minimum(moves.min(axis=(1, 2, 3)), values.min(axis=(1, 2, 3)))
    return {
        "a winning feature stays above -mu (B.1, C.1)": (np.nanmin(own, axis=-1) >= -bias).all(axis=(0, 1)),
        "competitors stay at 3 mu until the winner leaves it (B.2, C.2)": (grown | (rival <= 3 * bias)).all(axis=(0, 1)),
        "a learned combination stays learned (B.4, C.4)": (solved | ~np.maximum.accumulate(solved, axis=0)).all(axis=(1, 2)),
        "no component falls below -2B (B.3, C.3)": least >= -2 * ceiling,
    }  # fmt: skip


def _right_share(features: Features, pairs: np.ndarray, action: Action) -> np.ndarray:
    """[record, action, value]: probability of the right value among all classes."""
    table = jnp.asarray(action.table)
    losses = jax.jit(jax.vmap(lambda here, mixed: here.loss(mixed, table)))(features, pairs)
    return np.exp(-np.asarray(losses))


def first_violation(holds: Bool[np.ndarray, " step"]) -> int | None:
    """The first step at which a monitor is False."""
    return None if holds.all() else int(np.argmin(holds))
