"""Parity as linear equations over two elements: who reads samples one by one needs about d (kim-suzuki, Sec. 3.1)."""

import math

import numpy as np
from jaxtyping import Bool, Int, UInt64


def solved_probability(bits: int, samples: int) -> float:
    """P(n uniform inputs determine every parity of d bits) = prod_{i<d} (1 - 2^{i-n}): they span the space."""
    return math.prod(1 - 2.0 ** (i - samples) for i in range(bits)) if samples >= bits else 0.0


def eliminate(
    inputs: Bool[np.ndarray, "sample bit"], labels: Bool[np.ndarray, " sample"]
) -> Int[np.ndarray, " sparsity"] | None:
    """The secret bits by Gaussian elimination over bits (true where the sign is -1); None where several fit."""
    fits, secrets = eliminate_each(inputs[None], labels[None])
    return np.flatnonzero(secrets[0]) if fits[0] else None


def eliminate_each(
    inputs: Bool[np.ndarray, "trial sample bit"], labels: Bool[np.ndarray, "trial sample"]
) -> tuple[Bool[np.ndarray, " trial"], Bool[np.ndarray, "trial bit"]]:
    """The same of several at once, 64 bits in a word: whether one secret fits, and its bits."""
    trials, samples, bits = inputs.shape
    if samples < bits:
        return np.zeros(trials, bool), np.zeros((trials, bits), bool)
    every, fits = np.arange(trials), np.ones(trials, bool)
    columns = np.zeros((trials, samples, -(-(bits + 1) // 64) * 64), bool)
    columns[..., :bits], columns[..., bits] = inputs, labels
    packed = np.packbits(columns, axis=2, bitorder="little").view("<u8")
    rows = np.ascontiguousarray(np.moveaxis(packed, 2, 0))  # [word, trial, sample]
    for column in range(bits):
        holds = _bit(rows, column)
        pivot = column + holds[:, column:].argmax(axis=1)
        fits &= holds[every, pivot]
        here, above = rows[:, every, pivot], rows[:, :, column].copy()
        holds[every, pivot] = holds[:, column]
        holds[:, column] = False
        rows[:, every, pivot], rows[:, :, column] = above, here
        rows ^= here[:, :, None] * holds[None]
    return fits, _bit(rows, bits)[:, :bits]


def _bit(rows: UInt64[np.ndarray, "word trial sample"], number: int) -> Bool[np.ndarray, "trial sample"]:
    return (rows[number // 64] >> np.uint64(number % 64)) & np.uint64(1) == 1
