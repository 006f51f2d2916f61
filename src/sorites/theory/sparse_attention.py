"""Laws of the three-step training of the simplified block (wen, Section 3.3 and Appendix B.4).

The corrected forms follow from the exact gradients; where the paper prints another one, the claims say so.
"""

import math
from collections.abc import Callable

import numpy as np


def target_signal(rate: float, neurons: int, position: int, bits: int) -> float:
    """|Delta_{1,i,b,S[i],b1}| after step one: eta0/(32 m i), at n+1 eta0/(8 m (n+1)) (Lemma 18 with 1/4 and 1/2)."""
    return rate / ((8 if position == bits + 1 else 32) * neurons * position)


def leftover_signal(rate: float, neurons: int, bits: int) -> float:
    """|Delta_{1,i,b,S[n+1],b1}| for every other i: the constant token's mean does not cancel (Lemma 19 loses it)."""
    return rate / (16 * neurons * (bits + 1))


def attention_jump(rate: float, attention_rate: float, neurons: int, position: int, bits: int) -> float:
    """<e_{S[i],b1}, A e_{i,b2}> after step two; eight times as large at i = n+1 (Lemma 21, one more power of i)."""
    if position == bits + 1:
        return rate * attention_rate / (16 * neurons * position**2)
    return (1 - 1 / position) * rate * attention_rate / (128 * neurons * position**2)


def final_margin(last_rate: float, first_rates: float, neurons: int, position: int) -> float:
    """(-1)^{b[i+1]+1} T(b)[i] after step three, i >= n+2; `first_rates` is eta0 + eta1 (corrects Lemmas 25 and 26)."""
    return last_rate / (32 * neurons) + first_rates / (32 * neurons * position)


def near_orthogonality(bits: int, width: int, delta: float) -> float:
    """Largest |<e, e'>| with probability 1 - delta (Lemma 31)."""
    return math.sqrt(2 * math.log(8 * bits * width / delta) / width)


def combination_error(width: int, delta: float, square_sum: float) -> float:
    """|<e, v> - lambda_e| for v = sum lambda e with probability 1 - delta (Lemma 30)."""
    return math.sqrt(2 * math.log(2 / delta) / width * square_sum)


def table_bounds(bits: int, sparsity: int, neurons: int, samples: int, delta: float) -> dict[str, float]:
    """Lemma 7, with the sqrt 2 of its proof in the first line and without the factor 1(j = S[i]) in the second."""
    n, k, m, count = bits, sparsity, neurons, samples
    each, every = math.log(300 * n * count / delta), math.log(300 * m * n * count / delta)
    return {
        "delta": math.sqrt(2 * count * each),
        "alpha": math.sqrt(2 * count * each),
        "beta": math.sqrt(2 * count * k * each) / n,
        "psi": 2 * math.sqrt(count * k * every) / n,
        "gamma": math.sqrt(2 * m * math.log(200 * n / delta)) / n,
        "zeta": 4 * m * math.sqrt(k * count * every) / n,
    }


def literal_setting(log_size: float, delta: float = 0.1, epsilon: float = 1.0) -> dict[str, np.ndarray]:
    """Assumption 2 at n = e^log_size with the largest k, n / l^4: logarithms as pairs (a, r) for a log n + r, so that
    log n cancels exactly where it cancels."""
    size, scale = np.array([1.0, 0.0]), math.log(log_size - math.log(delta))  # log n; log l, l = log(n / delta)
    plus = np.array([0.0, 1.0])
    sparsity = size - 4 * scale * plus
    samples = size + (math.log(1.28e7 / epsilon**2) + 20 * scale) * plus
    neurons = sparsity + math.log(2) * plus
    first = neurons + samples / 2 + (math.log(epsilon / 100) - scale) * plus
    tail = samples + neurons + math.log(100 / delta) * plus  # log(100 B m / delta)
    return {
        "n": size,
        "log n": math.log(log_size) * plus,
        "k": sparsity,
        "d": sparsity + 1.1 * scale * plus,
        "wide d": sparsity + (math.log(16) + scale) * plus,  # 16 k log(n / delta), with which Theorem 1 works
        "m": neurons,
        "B": samples,
        "eta0": first,
        "eta2": sparsity + math.log(4 * epsilon / 3) * plus,
        "tail": (math.log(log_size) + math.log(tail[0] + tail[1] / log_size)) * plus,
        "one": plus,
    }


# log(left side) - log(right side) of each requirement: it holds where this is negative
REQUIREMENTS: dict[str, Callable[[dict[str, np.ndarray]], np.ndarray]] = {
    "k >= 2": lambda s: math.log(2) * s["one"] - s["k"],
    "eta0 + eta1 < 5 n eta2 (Lemma 5.8)": lambda s: math.log(2 / 5) * s["one"] + s["eta0"] - s["n"] - s["eta2"],
    "eta0 <= m n eps / 120 (Lemma 5.4)": lambda s: s["eta0"] - s["m"] - s["n"] + math.log(120) * s["one"],
    "B < n k (Lemma 5.1)": lambda s: s["B"] - s["n"] - s["k"],
    "d^2 < n k / log n, d = 16 k log(n/delta) (Theorem 1)": lambda s: 2 * s["wide d"] - s["n"] - s["k"] + s["log n"],
    "sqrt(4 k log(100 B m / delta) / d) < 1/100 (Lemma 10)": lambda s: (
        (math.log(4) * s["one"] + s["k"] - s["d"] + s["tail"]) / 2 - math.log(0.01) * s["one"]
    ),
}


def requirement_starts(delta: float = 0.1, epsilon: float = 1.0) -> dict[str, float]:
    """log10 of the natural logarithm of n from which each literal requirement holds for good."""
    found = {}
    for name, gap in REQUIREMENTS.items():
        low, high = math.log(2.0), 600.0  # of log(log n)
        for _ in range(100):
            middle = math.exp((low + high) / 2)
            held = float(gap(literal_setting(middle, delta, epsilon)) @ np.array([middle, 1.0])) < 0
            low, high = (low, math.log(middle)) if held else (math.log(middle), high)
        found[name] = high / math.log(10)
    return found
