"""Parity as linear equations over two elements: who reads samples one by one needs about d (kim-suzuki, Sec. 3.1)."""

import math

import numpy as np
from jaxtyping import Bool, Int


def solved_chance(bits: int, samples: int) -> float:
    """P(n uniform inputs determine every parity of d bits) = prod_{i<d} (1 - 2^{i-n}): they span the space."""
    return math.prod(1 - 2.0 ** (i - samples) for i in range(bits)) if samples >= bits else 0.0


def eliminate(
    inputs: Bool[np.ndarray, "sample bit"], labels: Bool[np.ndarray, " sample"]
) -> Int[np.ndarray, " sparsity"] | None:
    """The secret bits by Gaussian elimination over bits (true where the sign is -1); None where several fit."""
    rows = np.concatenate([inputs, labels[:, None]], axis=1).astype(np.uint8)
    bits = inputs.shape[1]
    for column in range(bits):
        pivots = column + np.flatnonzero(rows[column:, column])
        if not len(pivots):
            return None
        rows[[column, pivots[0]]] = rows[[pivots[0], column]]
        others = rows[:, column].astype(bool)
        others[column] = False
        rows[others] ^= rows[column]
    return np.flatnonzero(rows[:bits, bits])
