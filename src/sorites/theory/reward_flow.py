"""Gradient flow of the process reward with true labels, parity (rl-sft, App. G)."""

import itertools
import math

import numpy as np
from jaxtyping import Float


def share(growth: float, keys: int) -> float:
    """Attention on a child when u = e^{W_child - W_other}: u / (d - 2 + 2u) (Eq. 160)."""
    return growth / (keys - 2 + 2 * growth)


def growth_at(child: float, keys: int) -> float:
    """The u at which each child has this share."""
    return child * (keys - 2) / (1 - 2 * child)


def time_at(growth: float, keys: int, tokens: int) -> float:
    """When u is reached from equal weights, d keys, `tokens` = k - 1 (Eq. 161)."""
    d, u = keys, growth
    return tokens * (
        (d - 2) ** 3 / (8 * d) * (1 - u**-2)
        + 3 * (d - 2) ** 2 / (2 * d) * (1 - 1 / u)
        + 3 * (d - 2) / d * math.log(u)
        + 2 / d * (u - 1)
    )


def escape_time(keys: int, tokens: int, child: float = 0.25) -> float:
    """When each child holds this share; (k-1) d^2 / 8 for child = 1/4 and many bits."""
    return 0.0 if keys == 2 else time_at(growth_at(child, keys), keys, tokens)  # two keys: half on each from the start


def late_shares(keys: int, tokens: int, time: float) -> tuple[float, float]:
    """Child and other share for late times: (1/2)(1 - (d-2)(k-1)/(d t)) and (k-1)/(d t) (Eq. 162)."""
    return 0.5 * (1 - (keys - 2) * tokens / (keys * time)), tokens / (keys * time)


def one_step_reward(attention: Float[np.ndarray, "thought bit"], pairs: np.ndarray, tokens: int) -> float:
    """(4/(k-1)) sum_l sigma_l^{i1} sigma_l^{i2} (Eq. 157)."""
    rows = np.arange(len(pairs))
    return float(4 / tokens * (attention[rows, pairs[:, 0]] * attention[rows, pairs[:, 1]]).sum())


def two_step_reward(
    first: Float[np.ndarray, "thought bit"], second: Float[np.ndarray, "top thought"], pairs: np.ndarray, tokens: int
) -> float:
    """The second level's expected reward, the sum over 24 permutations of its four bits (Eq. 167)."""
    total = 0.0
    for top in range(len(second)):
        bits = pairs[2 * top : 2 * top + 2].ravel()
        for left, right in itertools.permutations(range(len(first)), 2):
            products = [first[left, a] * first[left, b] * first[right, c] * first[right, e]
                        for a, b, c, e in itertools.permutations(bits)]  # fmt: skip
            total += second[top, left] * second[top, right] * sum(products)
    return 8 / tokens * total


def initial_ratio(bits: int, sparsity: int) -> float:
    """Second over first reward term at uniform attention: 24 (1 - 2/k) / d^2 (App. G.2)."""
    return 24 * (1 - 2 / sparsity) / bits**2
