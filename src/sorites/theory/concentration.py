"""How fast attention concentrates on the two target clauses of LEGO under plain descent (Thm 4.1, eq. 8).

Simply transitive actions, converged features V = +-B, both trained diagonals equal to q, off-diagonals zero.
"""

import math

import numpy as np

from ..errors import require
from .overflow import exp


def attention_error(score: float) -> float:
    """epsilon^{2,2}: two other clauses beside two targets with this score q."""
    return 1 / (1 + exp(score))


def log_speed(score: float, size: int, ceiling: float, values: int, bend: float) -> float:
    """log of -d(Loss^{2,1}_5 + Loss^{2,2}_5)/dq. Every other clause that differs from its target takes 2B of its weight
    off the right preactivation; d - 1 classes stand against it with a logit of zero."""
    differs, rivals = 1 - 1 / values, size - 1
    first, second = 1 / (1 + 2 * exp(score)), attention_error(score)
    terms = [(differs, 2 * first, 2 * first * (1 - first))]  # one other clause: chance, B off, slope of B off
    for many, probability in ((1, 2 * differs / values), (2, differs**2)):  # two other clauses, half of the error each
        terms.append((probability, many * second, many * second * (1 - second)))
    found = []
    for probability, off, slope in terms:
        odds = math.log(rivals) + bend - (1 - off) * ceiling  # log odds against the right class
        found.append(math.log(probability * slope * ceiling) + odds - math.log1p(math.exp(odds)))
    return float(np.logaddexp.reduce(found))


def descent_time(error: float, size: int, variables: int, ceiling: float, values: int, bend: float) -> float:
    """eta T until epsilon^{2,2} is `error`, from Q = 0: each diagonal has half of the slope, and a variable is the
    query in one sentence of |X|."""
    require(0 < error < 1, f"error={error}: it is above 0 and below 1; use such a number")
    scores = np.linspace(0, math.log(1 / error - 1), 4001)
    slowness = np.exp([-log_speed(float(q), size, ceiling, values, bend) for q in scores])
    return 2 * variables * float(np.trapezoid(slowness, scores))


def limiting_time(error: float, size: int, variables: int, ceiling: float, values: int, bend: float) -> float:
    """The same where epsilon B is small: e^B |X| / (d epsilon B), d^{C_B + c*} / log d at epsilon = d^{-c*}."""
    require(error > 0, f"error={error}: it is above 0; use such a number")
    return variables * math.exp(ceiling - bend) / (1.5 * ceiling * (1 - 1 / values) * (size - 1) * error)


def reached_length(error: float, values: int) -> float:
    """The length at which a rollout fails, many other clauses: epsilon^{L,L} = N / (N + 2 / epsilon), N = 2L - 2, takes
    the right preactivation to zero, where a share 1/n_Y of other clauses agrees with its target by chance."""
    require(error > 0 and values > 2, f"error={error}, values={values}: an error above 0 and more than 2 values bound "
            "the length; use such numbers")  # fmt: skip
    return 1 + values / ((values - 2) * error)
