"""The induction hypotheses of Appendices D, E and F as monitors: evaluated along a run, never aborting it."""

import numpy as np
from jaxtyping import Bool

from ...models.routing import Masses
from ...training.lego_theory import RoutingHistory
from .setting import masses

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


def first_violation(holds: Bool[np.ndarray, " step"]) -> int | None:
    """The first step at which a monitor is False."""
    return None if holds.all() else int(np.argmin(holds))
