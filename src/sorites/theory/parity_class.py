"""The class of all k-parities, enumerated: labels, correlations, and how much a gradient tells about the target.

An input is a code whose bit j is set where x_j = -1, a parity is the mask of its bits: p(x) = (-1)^popcount(p & x).
The loss is (1/2) ||p - f||^2, so grad L_p = <f, grad f> - <p, grad f> and only the second term knows the target.
"""

import itertools
import math

import numpy as np
from jaxtyping import Float, Int

from ..errors import require

LARGEST = 2**27  # labels that are tabulated at once

Labels = Int[np.ndarray, "parity sample"]
Jacobian = Float[np.ndarray, "sample weight"]  # d f(x_i) / d theta_j


def subsets(bits: int, sparsity: int) -> Int[np.ndarray, "parity sparsity"]:
    """P: every k-subset of the bits, in increasing order."""
    require(1 <= sparsity <= bits, f"a parity reads 1 to {bits} bits: sparsity={sparsity}; use one of these")
    count = math.comb(bits, sparsity)
    require(count <= 2**20, f"a class that is enumerated has at most 2^20 parities: {count:,}; use fewer bits")
    return np.array(list(itertools.combinations(range(bits), sparsity)), np.int32)


def masks(bits: int, sparsity: int) -> Int[np.ndarray, " parity"]:
    """The same subsets as bit masks."""
    return (1 << subsets(bits, sparsity).astype(np.int64)).sum(axis=1)


def labels(parities: Int[np.ndarray, " parity"], codes: Int[np.ndarray, " sample"]) -> Labels:
    """p(x_i) for every parity and every input."""
    size = len(parities) * len(codes)
    require(size <= LARGEST, f"a table of labels has at most {LARGEST:,} entries: {size:,}; use fewer samples or bits")
    return (1 - 2 * (np.bitwise_count(parities[:, None] & codes[None, :]) & 1)).astype(np.int8)


def signs(bits: int, codes: Int[np.ndarray, " sample"]) -> Int[np.ndarray, "bit sample"]:
    """The inputs themselves."""
    return (1 - 2 * (codes[None, :] >> np.arange(bits)[:, None] & 1)).astype(np.int8)


def walsh(values: Float[np.ndarray, " input *rest"]) -> Float[np.ndarray, " input *rest"]:
    """sum_x values(x) p(x) for every parity p; axis 0 runs over all 2^d codes.

    A parity of d bits is one of the high bits times one of the low bits: two small matrix products do it.
    """
    bits = len(values).bit_length() - 1
    low, high = (np.arange(2**half) for half in (bits // 2, bits - bits // 2))
    square = np.asarray(values, float).reshape(len(high), len(low), *values.shape[1:])
    square = np.tensordot(labels(low, low).astype(float), square, axes=(1, 1))  # [low, high, ...]
    return np.tensordot(labels(high, high).astype(float), square, axes=(1, 1)).reshape(values.shape)


def correlations(bits: int, codes: Int[np.ndarray, " sample"]) -> Float[np.ndarray, " mask"]:
    """The sample mean of every parity on d bits: <p, p'>_n is the entry of p XOR p'."""
    return walsh(np.bincount(codes, minlength=2**bits).astype(float)) / len(codes)


def differences(bits: int, sparsity: int) -> Int[np.ndarray, " mask"]:
    """Every p XOR p' with p != p': the sets of 2, 4, ..., 2 min(k, d-k) bits."""
    every = np.arange(1, 2**bits)
    size = np.bitwise_count(every)
    return every[(size % 2 == 0) & (size <= 2 * min(sparsity, bits - sparsity))]


def gram(table: Labels) -> Float[np.ndarray, "parity parity"]:
    """G_P = (<p, p'>_n)."""
    wide = table.astype(float)
    return wide @ wide.T / table.shape[1]


def largest_eigenvalue(table: Labels) -> float:
    """lambda_max(G_P), from whichever of the two Gram matrices is smaller."""
    wide = table.astype(float)
    small = wide @ wide.T if len(table) <= table.shape[1] else wide.T @ wide
    return float(np.linalg.eigvalsh(small)[-1]) / table.shape[1]


def pulls(table: Labels, jacobian: Jacobian) -> Float[np.ndarray, "parity weight"]:
    """<d_j f, p>_n for every parity."""
    return table.astype(float) @ jacobian / len(jacobian)


def variance(gradients: Float[np.ndarray, "parity weight"]) -> float:
    """Var(theta; P) = E_p ||g_p - E g||^2."""
    return float(((gradients - gradients.mean(axis=0)) ** 2).sum() / len(gradients))


def population_variance(bits: int, sparsity: int, jacobian: Jacobian) -> float:
    """Var(theta; P) over all 2^d inputs: the class's Walsh coefficients of the gradient, spread over |P|."""
    alive = jacobian[:, np.any(jacobian != 0, axis=0)]
    chosen, blocks = masks(bits, sparsity), max(1, alive.shape[1] // 64)  # some weights at a time: memory stays flat
    return sum(variance(walsh(block)[chosen] / 2**bits) for block in np.array_split(alive, blocks, axis=1))


def square_norm(jacobian: Jacobian) -> float:
    """sum_j ||d_j f||_n^2."""
    return float((jacobian**2).sum() / len(jacobian))


def sampling_noise(jacobian: Jacobian, mean_labels: Float[np.ndarray, " input"]) -> float:
    """E_x[(1 - m(x)^2) ||grad f(x)||^2] with m(x) = E_p p(x): n times what n samples add to the variance."""
    return float(((1 - mean_labels**2) * (jacobian**2).sum(axis=1)).mean())


def expected_variance(population: float, noise: float, samples: int) -> float:
    """E over samples of Var_n(theta; P) = (1 - 1/n) Var + noise/n, exactly, at fixed theta."""
    return (1 - 1 / samples) * population + noise / samples


def separation(bits: int, samples: int) -> float:
    """delta = sqrt(4d/n): what empirical correlations of two parities stay below, with high probability."""
    return math.sqrt(4 * bits / samples)


def correlation_failure(bits: int) -> float:
    """(2/e)^{2d}: the printed chance that some pair exceeds delta."""
    return (2 / math.e) ** (2 * bits)


def variance_bound(parities: int, bits: int, samples: int, largest: float) -> float:
    """2 (1/|P| v sqrt(4d/n)) sup ||grad f||^2 (App. A), where no pair exceeds delta."""
    return 2 * max(1 / parities, separation(bits, samples)) * largest


def dual_bound(mean_labels: Float[np.ndarray, "sample sample"]) -> float:
    """lambda_max(G_P)/|P| <= (1/n) max_i sum_j |m(x_i x_j)|: Gershgorin on the n x n side, where m = E_p p is tiny."""
    return float(np.abs(mean_labels).sum(axis=1).max()) / len(mean_labels)


def printed_floor(ignorant: float, size: float) -> float:
    """E (p - f)^2 >= 2 - 1/Pr(Q) - 2 E_x|E_p p(x)| (App. A)."""
    return 2 - 1 / ignorant - 2 * size if ignorant > 0 else -math.inf


def exact_floor(ignorant: float, parities: int) -> float:
    """E (p - f)^2 >= Pr(Q) - 1/|P|: one f serves all of Q, and by orthonormality the best f is their mean."""
    return ignorant - 1 / parities
