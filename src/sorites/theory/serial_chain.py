"""Serial chains at uniform attention (rl-sft, App. H), with its indices mended: y_j reads x and y_{j-1}, its label is
y_{j-1} x_{i_{j+1}}, and M = d + 1 keys from the second thought on."""

import math
from typing import NamedTuple

import numpy as np


class Pull(NamedTuple):
    """Ascent direction on the thought before, on the right input, and on every other input, times (k - 1) as in App.
    H."""

    thought: float  # G_y
    input: float  # G_x
    other: float  # G_n


def _sums(bits: int) -> tuple[np.ndarray, np.ndarray]:
    plus = np.arange(bits + 1)
    return 2.0 * plus - bits, np.array([math.comb(bits, int(n)) for n in plus]) / 2**bits


def reward_pull(bits: int, thought: int) -> Pull:
    """The policy gradient of y_j, j >= 2, parity: m_1 = 2 (S/d)^2 - 1, m_j = A + B m_{j-1} (Eqs. 178, 179)."""
    total, probability = _sums(bits)
    keys = bits + 1
    mean = 2 * (total / bits) ** 2 - 1
    for _ in range(thought - 2):
        mean = 2 * (total**2 + 1) / keys**2 - 1 + 4 * total / keys**2 * mean
    scale = 2 / (bits * keys**2)
    own = scale * probability @ ((bits - 1) * total**2 + total * (bits - total**2) * mean)
    right = scale * probability @ (bits * (bits + 1) - 2 * total**2 + total * (bits**2 + bits - 1 - total**2) * mean)
    return Pull(float(own), float(right), float(-(own + right) / (bits - 1)))


def first_pull(bits: int) -> tuple[float, float]:
    """The first thought, d keys: 2(d-2)/d^2 on its two inputs, -4/d^2 elsewhere."""
    return 2 * (bits - 2) / bits**2, -4 / bits**2


def reward_bound(bits: int) -> float:
    """G_x >= 2 (d-1)(d^2 - 2d + 5) / M^4."""
    return 2 * (bits - 1) * (bits**2 - 2 * bits + 5) / (bits + 1) ** 4


def filtered_pull(bits: int) -> tuple[float, float]:
    """SFT on a right prefix: 2(d-1)/(d+1)^2 on both parents, -4/(d+1)^2 elsewhere (Prop. H.2)."""
    return 2 * (bits - 1) / (bits + 1) ** 2, -4 / (bits + 1) ** 2
