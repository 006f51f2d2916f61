"""Which margins of a loss tell children from other keys: rl-sft's Prop. E.4 for every nonincreasing loss at once.

D keys are independent signs, +1 with chance p; a thought reads them evenly, xi = S/D, and scores q = 2 psi(xi) - 1. A
loss phi(label * q) weighs an input by lambda = -phi'(margin) >= 0, and E[Gamma_child - Gamma_other] is the sum over
margins of lambda(margin) c(margin). If no c is negative, no nonincreasing loss can reverse the separation.
"""

import itertools
import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from .count_chain import Gate

Table = Float[np.ndarray, " margin"]


def separations(
    keys: int, plus: float, gate: Gate, score: Callable[[float], float], slope: Callable[[float], float]
) -> tuple[Table, Table]:
    """The margins that occur, increasing, and c(margin) = E[psi'(xi) phi_2(a, b) (a - e); margin], with a, b the
    children, e another key, and phi_2(a, b) = g0 + g1 (a + b) + g2 ab; score is q, slope is psi'."""
    found: dict[float, float] = {}
    rest = keys - 3
    for signs in itertools.product((1, -1), repeat=3):
        first, second, other = signs
        label = gate[0] + gate[1] * (first + second) + gate[2] * first * second
        own = math.prod(plus if sign > 0 else 1 - plus for sign in signs)
        for up in range(rest + 1):
            probability = own * math.comb(rest, up) * plus**up * (1 - plus) ** (rest - up)
            mean = (sum(signs) + 2 * up - rest) / keys
            margin = round(label * score(mean), 12)
            found[margin] = found.get(margin, 0.0) + probability * slope(mean) * label * (first - other)
    margins = sorted(found)
    return np.array(margins), np.array([found[margin] for margin in margins])
