"""Laws of the gated transformer: attention mass, forward error, sensitivity, the literal rate (log-icot)."""

import math

import numpy as np
from jaxtyping import Float

from .overflow import exp


def other_mass(keys: int, strength: float) -> float:
    """Attention off the children when they have weight K and all others 0: (N-2)/(2e^K + N-2) (Lemma 7)."""
    return (keys - 2) / (2 * exp(strength) + keys - 2)


def next_error(mass: float, error: float) -> float:
    """Largest |phi(z) - b| one level up: 1 - cos(pi min(1, 2 mass + error)), cosine link (Eq. 17).

    z misses (b_1 + b_2)/2 by at most mass on the others, 2 |1/2 - sigma_child| = mass on the children,
    and the children's own error.
    """
    return 1 - math.cos(math.pi * min(1.0, 2 * mass + error))


def rate(keys: int, strength: float, curvature: float, signal: float = 1.0) -> float:
    """eta_t = K n_t^2 / (2c) (Algorithm 1); divided by the finite-size signal s it puts the children at K."""
    return strength * keys**2 / (2 * curvature * signal)


def literal_strength(bits: int, epsilon: float) -> int:
    """K_n = ceil(n^{eps/16}) (Theorem 1)."""
    return math.ceil(bits ** (epsilon / 16) - 1e-12)


def log_size_for_concentration() -> float:
    """ln n from which n^{1/16} exceeds ln n for good: the larger root of x/16 = ln x."""
    low, high = 16.0, 1e4  # x/16 - ln x is increasing beyond 16
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if middle / 16 < math.log(middle) else (low, middle)
    return high


def sensitivity_bound(slope: float, layer: int, weight_layer: int, score: Float[np.ndarray, "*shape"]):
    """|dx^(l)/dw^(l')_{j,m}| <= 2 L_phi^{l-l'+1} sigma_j (Lemma 3)."""
    return 2 * slope ** (layer - weight_layer + 1) * score


def gradient_bound(slope: float, sparsity: int, stage: int) -> float:
    """Lemma 4 with its constant: ||grad f^(t)||^2 <= sum over outputs, layers and queries of 4 L^{2(t-l'+1)}.

    Only thoughts of levels l'..t move with layer l', and each query's squared scores sum to at most 1.
    """
    total = 0.0
    for layer in range(1, stage + 1):
        outputs = sum(sparsity // 2**level for level in range(layer, stage + 1))
        total += outputs * (sparsity // 2**layer) * 4 * slope ** (2 * (stage - layer + 1))
    return math.sqrt(total)


def collapse_bound(keys: int, positions: int, samples: int, failure: float, curvature: float) -> float:
    """max_i |phi(mean of m-1 signs) + 1| <= c (2/(m-1)) log(2TB/p) (Lemma 1, with m-1 for the printed m)."""
    return curvature * 2 / keys * math.log(2 * positions * samples / failure)
