"""How often a sampled sign is right: the first update on level 1 of the PARITY tree, from each estimator's exact variance.

A chain adds to the entry of thought l at bit p: REINFORCE y_l q'/(1 + y_l q) (x_p - xi)/d R with R = sum_j y_j phi_j / (k-1), over the
thought itself (token) or over the k/2 thoughts of level 1 (step); Rao-Blackwell its mean q' phi_l (x_p - xi)/d / (k-1). All are functions
of S = d xi and of products of up to five bits, whose means given S are e_1(S) to e_5(S).
"""

import math

import numpy as np
from scipy import stats

from ...theory import sign_dynamics

KINDS = ("child", "secret", "idle")  # of the bit p, for a thought of level 1


def products(bits: int) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    """xi by the number of +1, the means of products of 0 to 5 distinct bits given it, and its chances."""
    plus = np.arange(bits + 1)
    means = []
    for many in range(6):
        signed = [
            sum((-1) ** (many - up) * math.comb(n, up) * math.comb(bits - n, many - up) for up in range(many + 1))
            for n in plus.tolist()
        ]
        means.append(np.array(signed) / max(math.comb(bits, many), 1))
    chances = np.array([math.comb(bits, n) for n in plus.tolist()]) / 2.0**bits
    return 2 * plus / bits - 1, means, chances


def second_moment(bits: int, sparsity: int, estimator: str, kind: str) -> float:
    """E g^2 of one chain's entry."""
    xi, e, chances = products(bits)
    q, slope = 2 * xi**2 - 1, 4 * xi
    if estimator == "Rao-Blackwell":
        return float(chances @ (slope**2 * (1 - xi**2))) / (bits * (sparsity - 1)) ** 2
    m = sparsity // 2 if estimator == "REINFORCE, step" else 1
    pairs = (m - 1) * (m - 2)  # ordered, of thoughts besides l
    touching = {  # E[phi_l phi_j x_p], E[phi_i phi_j x_p], summed over thoughts besides l: a shared bit leaves three, else five
        "child": ((m - 1) * e[3], pairs * e[5]),
        "secret": (e[3] + (m - 2) * e[5], 2 * (m - 2) * e[3] + (m - 2) * (m - 3) * e[5]),
        "idle": ((m - 1) * e[5], pairs * e[5]),
    }
    crossed, squared = touching[kind] if m > 1 else (0.0, 0.0)
    level = m * (1 - xi**2)  # E[(x_p - xi)^2] for each thought's own square
    own = (1 + xi**2) * (m - 1) * e[4] - 2 * xi * crossed
    rest = (1 + xi**2) * pairs * e[4] - 2 * xi * squared
    total = np.zeros_like(xi)
    for y in (-1, 1):
        chance = 1 + y * q  # twice that of y; a token of chance zero is never drawn
        drawn = chance > 1e-12
        part = slope**2 / 2 * (level + 2 * y * q * own + q**2 * rest)
        total += np.where(drawn, part / np.where(drawn, chance, 1), 0)
    return float(chances @ total) / (bits * (sparsity - 1)) ** 2


def right_signs(bits: int, sparsity: int, samples: int, estimator: str) -> float:
    """The share of level 1's entries whose sign a mean over `samples` chains has right, that mean taken as normal."""
    child, other = sign_dynamics.forced_separation(bits, sparsity - 1)
    many = dict(zip(KINDS, (2, sparsity - 2, bits - sparsity), strict=True))
    total = 0.0
    for kind in KINDS:
        if many[kind]:
            mean = child if kind == "child" else other
            spread = math.sqrt(second_moment(bits, sparsity, estimator, kind) - mean**2)
            total += many[kind] * float(stats.norm.cdf(abs(mean) * math.sqrt(samples) / spread))
    return total / bits
