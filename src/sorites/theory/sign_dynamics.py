"""Sign updates on the one-layer transformer: attention after s steps, what it generates, what its gradient is
(rl-sft)."""

import math

import numpy as np
from jaxtyping import Float

from ..errors import require
from .overflow import exp

EXACT, MOST_SIGNS = 1_000, 10_000_000  # signs whose binomials are floats, and signs that fit into memory


def child_share(keys: int, rate: float, steps: int) -> float:
    """Attention on each child after s sign steps, D keys: (1/2) / (1 + (D-2)/2 e^{-2 eta s}) (Thm 4.1(2))."""
    return 0.5 / (1 + (keys - 2) / 2 * exp(-2 * rate * steps))


def other_share(keys: int, rate: float, steps: int) -> float:
    """Attention on each other key after s sign steps: 1 / (D - 2 + 2 e^{2 eta s}) (Thm 4.1(2))."""
    return 1 / (keys - 2 + 2 * exp(2 * rate * steps))


def column_error(keys: int, rate: float, steps: int = 1) -> float:
    """L1 distance of a column to (1/2, 1/2, 0, ...): 1 / (1/2 + e^{2 eta s} / (D-2)) (proof of Thm 3.1)."""
    return 0.0 if keys == 2 else 1 / (0.5 + exp(2 * rate * steps) / (keys - 2))


def rate_for_error(keys: int, error: float) -> float:
    """eta from which one step leaves at most this error: (1/2) ln((d-2)(2-eps)/(2 eps)) (Thm 3.1)."""
    if keys == 2:  # there is no other key: no error at any rate
        return 0.0
    require(
        0 < error < 2, f"error={error}: with {keys} keys a rate leaves an error above 0 and below 2; use such a number"
    )
    return 0.5 * math.log((keys - 2) * (2 - error) / (2 * error))


def generation_threshold(gate: str, keys: int) -> float:
    """eta beyond which a level is generated right for every input after one sign step.

    Parity: e^{2 eta} > (D-2)(3 + 2 sqrt 2)/2, from xi^2 > 1/2 at the worst input; AND and OR: e^{2 eta} > 3(D-2)/2.
    """
    worst = (3 + 2 * math.sqrt(2)) / 2 if gate in ("parity", "xor") else 1.5
    return 0.5 * math.log(max((keys - 2) * worst, 1e-300)) if keys > 2 else -math.inf


def parity_separation(keys: int, tokens: int, squares: Float[np.ndarray, " state"], chances) -> float:
    """G_rel - G_irr at uniform attention: (4/((k-1) D^2)) E[(1-q^2)(1 + (D-3) q^2)], q the mean of a token below
    given the level under it (Eq. 99 with conditional, not unconditional independence); `tokens` = k - 1."""
    squares = np.asarray(squares)
    return float(4 / (tokens * keys**2) * np.sum(chances * (1 - squares) * (1 + (keys - 3) * squares)))


def parity_mean(keys: int, square: float) -> float:
    """E[y^(t)] = 2 (1/D + (1 - 1/D) E q^2) - 1 at uniform attention (Lemma F.1, corrected)."""
    return 2 * (1 / keys + (1 - 1 / keys) * square) - 1


def strict_tail(count: int, probability: float, strict: bool = True) -> float:
    """P(sum of `count` independent signs > -1), or >= -1 where not strict: the set D_lambda of App. F.3."""
    require(count <= MOST_SIGNS, f"count={count}: at most {MOST_SIGNS:,} signs are summed; use fewer")
    if count > EXACT:
        return _long_tail(count, probability, strict) if 0 < probability < 1 else float(probability)
    total = 0.0
    for plus in range(count + 1):
        value = 2 * plus - count
        if value > -1 or (not strict and value == -1):
            total += math.comb(count, plus) * probability**plus * (1 - probability) ** (count - plus)
    return total


def _long_tail(count: int, probability: float, strict: bool) -> float:
    """The same from the ratios of neighbouring probabilities, where binomials exceed every float."""
    plus = np.arange(count)
    logs = np.cumsum(np.log((count - plus) / (plus + 1)) + math.log(probability) - math.log1p(-probability))
    logs = np.concatenate([[0.0], logs])
    weights, values = np.exp(logs - logs.max()), 2 * np.arange(count + 1) - count
    return float(weights[values > -1 if strict else values >= -1].sum() / weights.sum())


def forced_separation(keys: int, tokens: int) -> tuple[float, float]:
    """Descent direction of the hinge loss at uniform attention over a right prefix, parity, on children and on others:
    (4/((k-1) D)) (1/D - 2/D^2) and -(4/((k-1) D)) 2/D^2; `tokens` = k - 1 (Claim 4.1)."""
    scale = 4 / (tokens * keys)
    return scale * (1 / keys - 2 / keys**2), -scale * 2 / keys**2
