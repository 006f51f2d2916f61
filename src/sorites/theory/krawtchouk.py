"""The mean of all k-parities at one input is a Krawtchouk polynomial (kim-suzuki, Lemma 8 and its proof).

Integers and fractions throughout: these identities hold exactly or not at all.
"""

import math
from fractions import Fraction


def krawtchouk(bits: int, sparsity: int, minus: int) -> int:
    """K_k(m; d) = sum_j (-1)^j C(m, j) C(d-m, k-j): the sum of all k-parities at an input with m signs -1."""
    return sum(
        (-1) ** hit * math.comb(minus, hit) * math.comb(bits - minus, sparsity - hit) for hit in range(sparsity + 1)
    )


def mean_label(bits: int, sparsity: int, minus: int) -> Fraction:
    """E_p p(x) = K_k(m; d) / C(d, k)."""
    return Fraction(krawtchouk(bits, sparsity, minus), math.comb(bits, sparsity))


def positive_parities(bits: int, sparsity: int, minus: int) -> int:
    """|P_+| by its definition: choose an even number of the m signs -1."""
    evens = range(0, sparsity + 1, 2)
    return sum(math.comb(minus, even) * math.comb(bits - minus, sparsity - even) for even in evens)


def positive_parities_series(bits: int, sparsity: int, minus: int) -> Fraction:
    """|P_+| by the last line of the proof: C(d,k)/2 + (s^k/2) sum_j (-1)^j C(m', j) C(d-2m', k-2j)."""
    fewer, sign = min(minus, bits - minus), 1 if 2 * minus <= bits else -1
    series = sum(
        (-1) ** j * math.comb(fewer, j) * math.comb(bits - 2 * fewer, sparsity - 2 * j)
        for j in range(sparsity // 2 + 1)
    )
    return Fraction(math.comb(bits, sparsity) + sign**sparsity * series, 2)


def input_average(bits: int, values: "list[Fraction]") -> Fraction:
    """E_x of a quantity that depends on the number m of signs -1 alone; values[m] for m = 0..d."""
    total = sum((math.comb(bits, minus) * value for minus, value in enumerate(values)), Fraction(0))
    return total / 2**bits


def mean_label_square(bits: int, sparsity: int) -> Fraction:
    """E_x (E_p p(x))^2, which is 1/C(d, k) because parities are orthonormal."""
    return input_average(bits, [mean_label(bits, sparsity, minus) ** 2 for minus in range(bits + 1)])


def mean_label_size(bits: int, sparsity: int) -> float:
    """E_x |E_p p(x)|: what the printed loss floor loses."""
    return float(input_average(bits, [abs(mean_label(bits, sparsity, minus)) for minus in range(bits + 1)]))


def typical_inputs(bits: int, sparsity: int) -> range:
    """The m that Lemma 8 keeps: |m - d/2| <= delta d / 2 with delta = min(1/4, k/2d); needs 2k <= d."""
    width = min(Fraction(1, 4), Fraction(sparsity, 2 * bits))
    low = math.ceil(Fraction(bits, 2) * (1 - width))
    return range(low, bits - low + 1)


def lemma_8_bound(bits: int, sparsity: int) -> Fraction:
    """|E_p p(x)| <= (d/2) / C(floor(d/4), floor(k/4)): twice the proof's last line but one."""
    return Fraction(bits, 2 * math.comb(bits // 4, sparsity // 4))
