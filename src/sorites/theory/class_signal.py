"""What teacher forcing tells about the target at uniform attention, exactly, for any bits and sparsity.

Block mask, cosine link, every input equally likely. A thought m of level l attends to N = d_{l-1} positions;
g_p(x)_{jm} = (1/N)(phi(z) - x_m) phi'(z) (x_j - z). Which thoughts stand where does not depend on the target,
so only the entries at input positions differ between targets.
"""

import math

import numpy as np
from jaxtyping import Float

from .tree_law import keys_of_stage, places, start_gradient


def leaf_probabilities(bits: int, sparsity: int) -> Float[np.ndarray, "leaf input"]:
    """Pr(input j is the r-th smallest secret bit) over all k-subsets, = C(j, r) C(d-1-j, k-1-r) / C(d, k)."""
    total = math.comb(bits, sparsity)
    table = [
        [math.comb(j, r) * math.comb(bits - 1 - j, sparsity - 1 - r) / total for j in range(bits)]
        for r in range(sparsity)
    ]
    return np.array(table)


def chain_variance(bits: int, sparsity: int) -> float:
    """E_p ||grad L_p - E_p' grad L_p'||^2 of the teacher-forced loss (Eq. 2) at W = 0."""
    chances, total = leaf_probabilities(bits, sparsity), 0.0
    secret = chances.sum(axis=0)
    for level in range(1, sparsity.bit_length()):
        values = start_gradient(bits, sparsity, level)
        idle = values.get("idle input", 0.0)
        under = values["child" if level == 1 else "under, level 0"]
        beside = values.get("elsewhere, level 0", 0.0)
        for first in range(0, sparsity, 2**level):  # the leaves under one thought
            own = chances[first : first + 2**level].sum(axis=0)
            parts = ((own, under), (secret - own, beside), (1 - secret, idle))
            mean = np.sum([probability * value for probability, value in parts], axis=0)
            square = np.sum([probability * value**2 for probability, value in parts], axis=0)
            total += float((square - mean**2).sum())
    return total


def subtree_sums(height: int) -> tuple[np.ndarray, np.ndarray]:
    """For root +1 and root -1: the joint chance with the sum s of all nodes, index (s + size) / 2."""
    plus, minus = np.array([0.0, 0.5]), np.array([0.5, 0.0])
    for _ in range(height):
        even = np.convolve(plus, plus) + np.convolve(minus, minus)
        odd = 2 * np.convolve(plus, minus)
        plus, minus = np.concatenate([[0.0], even]), np.concatenate([odd, [0.0]])  # the new root adds its own sign
    return plus, minus


def chain_noise(bits: int, sparsity: int) -> float:
    """E_x ||g_p(x)||^2 - ||E_x g_p(x)||^2 of the same loss: n times the squared noise of an n-sample gradient."""
    total = 0.0
    for level in range(1, sparsity.bit_length()):
        keys, thoughts = keys_of_stage(bits, sparsity, level), sparsity // 2**level
        plus, minus = subtree_sums(level - 1)
        rest = np.array([1.0])
        for _ in range(2 * (thoughts - 1)):
            rest = np.convolve(rest, plus + minus)
        for _ in range(bits - sparsity):
            rest = np.convolve(rest, [0.5, 0.5])
        labelled = (
            (1, np.convolve(plus, plus) + np.convolve(minus, minus)),
            (-1, 2 * np.convolve(plus, minus)),
        )
        z = np.arange(-keys, keys + 1, 2) / keys
        for label, own in labelled:
            error, slope = -np.cos(np.pi * z) - label, np.pi * np.sin(np.pi * z)
            square = (error * slope) ** 2 * (1 - z**2) / keys  # sum_j (x_j - z)^2 = N (1 - z^2)
            total += thoughts * float(np.convolve(own, rest) @ square)
    return total - _gradient_square(bits, sparsity)


def _gradient_square(bits: int, sparsity: int) -> float:
    """||E_x g_p(x)||^2, the same for every target."""
    total = 0.0
    for level in range(1, sparsity.bit_length()):
        values = start_gradient(bits, sparsity, level)
        square = sum(place.count * values[place.name] ** 2 for place in places(bits, sparsity, level))
        total += sparsity // 2**level * square
    return total
