"""KS-5, KS-8 and KS-9: parities alone, no learner: their correlations, the theorem's exponents, their mean at an input."""

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np

from ...errors import require
from ...ledger import Among, Between, Claim, Comparison, Domain, Erratum, Evidence, Real, at_most, equal, shown, worst
from ...theory import krawtchouk
from ...theory import parity_class as pc
from ..tree_checks import frequency
from .hardness_learners import PAPER


@dataclasses.dataclass(frozen=True)
class Pairs:
    bits: int = 8  # d
    sparsity: int = 4  # k
    samples: tuple[int, ...] = (64, 256, 1024)  # n
    trials: int = 4000

    def __post_init__(self):
        require(
            0 < self.sparsity < self.bits <= 14,
            f"pairs of parities on at most 14 bits: sparsity={self.sparsity} of bits={self.bits}; use fewer",
        )
        require(self.trials >= 2, f"a frequency needs trials: trials={self.trials}; use 2 or more")
        require(
            min(self.samples) > 4 * self.bits,
            f"sqrt(4d/n) bounds a correlation only below 1: samples={self.samples}; use more than {4 * self.bits}",
        )


def _pairs(size: Pairs) -> Evidence:
    different = pc.differences(size.bits, size.sparsity)
    count, printed = math.comb(size.bits, size.sparsity), pc.correlation_failure(size.bits)
    half = math.log(count * (count - 1) / 0.5)  # the union bound of Hoeffding is 1/2 at delta = sqrt(2 half / n)
    compared: list[Comparison] = []
    for samples in size.samples:
        generator = np.random.default_rng(samples)
        apart = []
        for _ in range(-(-size.trials // 500)):
            codes = generator.integers(0, 2**size.bits, (500, samples))
            counts = np.stack([np.bincount(row, minlength=2**size.bits) for row in codes], axis=1)
            apart.append(np.abs(pc.walsh(counts.astype(float))[different] / samples).max(axis=0))
        largest = np.concatenate(apart)[: size.trials]
        for name, delta, bound in (
            ("sqrt(4d/n)", pc.separation(size.bits, samples), printed),
            ("where the union bound is 1/2", math.sqrt(2 * half / samples), 0.5),
        ):
            compared.append(
                frequency(f"n={samples}: share beyond {name}", int((largest >= delta).sum()), size.trials, bound)
            )
        moved = float(np.median(largest)) / pc.separation(size.bits, samples)
        compared.append(shown(f"n={samples}: largest correlation / sqrt(4d/n), median", None, moved))
    compared += [
        shown(f"d={bits}, k=d/2: where the union bound is 1/2, / sqrt(4d/n)", None, _union_share(bits))
        for bits in (8, 16, 64, 1024)
    ]
    return Evidence(tuple(compared), seeds=size.trials)


def _union_share(bits: int) -> float:
    """sqrt(2 half / n) over sqrt(4d/n): what the union bound over the class itself needs of the printed separation."""
    count = math.comb(bits, bits // 2)
    return math.sqrt(2 * math.log(2 * count * (count - 1)) / (4 * bits))


@dataclasses.dataclass(frozen=True)
class Exponents:
    excess: float = 1.0  # eps of Thm 5: n = d^{11+eps}, oracle error d^{-2-eps/8}
    bits: int = 32  # d at which lambda_max is computed
    sparsity: int = 16
    samples: int = 512

    def __post_init__(self):
        require(self.excess > 0, f"the theorem has eps > 0: excess={self.excess}; use a positive number")
        require(
            0 < self.sparsity < self.bits,
            f"a class needs two parities or more: sparsity={self.sparsity} of bits={self.bits}; use 1 to {self.bits - 1}",
        )
        require(
            4 * self.bits < self.samples <= 4096,
            f"a Gram matrix of samples: samples={self.samples}; use {4 * self.bits + 1} to 4096",
        )


def _log_bound(log_bits: float, slope: float, error: float, queries: float, samples: float) -> float:
    """log of (4T/eps^2) sqrt(4d/n) sup|grad f|^2, with T, 1/eps, n and sup|grad f| powers of d (Eq. 5)."""
    return math.log(8) + log_bits * (queries + 2 * error + (1 - samples) / 2 + 2 * slope)


def _exponents(size: Exponents) -> Evidence:
    worst_gap = 0.0
    for nu1, nu2, nu3, nu4 in itertools.product((0.5, 2.0), (1.0, 2.125), (0.25, 3.0), (0.125, 1.0)):
        nu = 4 * nu1 + 4 * nu2 + 2 * nu3 + 2 * nu4 + 1
        low, high = (_log_bound(log_bits, nu1, nu2, nu3, nu) for log_bits in (100.0, 200.0))
        worst_gap = worst(worst_gap, abs((high - low) / 100 + nu4))
    excess = Fraction(size.excess)
    error = 2 + excess / 8  # nu_2; nu_1 = 1/2 by Lemma 4
    left = (11 + excess - 4 * Fraction(1, 2) - 4 * error - 1) / 2  # nu_3 + nu_4
    inequality = [2 - 1 / (1 - t) - (1 - 2 * t) for t in np.linspace(0, 0.5, 101)]
    top, bound = _dual(size)
    sharper = 2 * Fraction(1, 2) + 2 * error + excess / 4
    return Evidence(
        (
            equal("log of the loss's gap against log d: slope + nu4, worst of 16", 0, worst_gap, 1e-9),
            equal("nu3 + nu4 at n = d^(11+eps)", float(excess / 4), float(left), 0),
            at_most("1 - 2t over 2 - 1/(1-t) on [0, 1/2]", worst(*(-gap for gap in inequality)), 0, 1e-12),
            shown("log10 of the d where one query's gap 8 d^(-eps/4) falls to 1/2", None, 4 * math.log10(16) / size.excess),
            at_most("n lambda_max/|P|, against its n x n bound", top, bound, 1e-9),
            shown("n lambda_max/|P|, printed bound and measured", 2 * size.samples * pc.separation(size.bits, size.samples), top),
            shown("log_d n for the same gap: printed, and by the n x n bound", 11 + size.excess, float(sharper)),
        ),
        departures=(
            "App. A prints the exponent of T Var_n as that of Var_n.",
            "The exponents are arithmetic and hold by construction; what is measured is lambda_max against its n x n bound.",
            "Sharper than printed: with n polynomial in d, lambda_max(G_P)/|P| is (1 + n e^{-Omega(d)})/n instead of sqrt(4d/n), "
            "because it is also the eigenvalue of the n x n matrix E_p p(x_i x_j)/n, to which Lemma 8 applies. "
            "nu = 2 nu1 + 2 nu2 + nu3 + nu4 then suffices: n = d^{5+eps/2} in place of d^{11+eps}.",
        ),
    )  # fmt: skip


def _dual(size: Exponents) -> tuple[float, float]:
    """n lambda_max(G_P)/|P| on a random sample, exactly, and Gershgorin's bound on the n x n side."""
    codes = np.random.default_rng(0).integers(0, 2, (size.samples, size.bits)).astype(float)
    apart = codes @ (1 - codes).T
    table = np.array([float(krawtchouk.mean_label(size.bits, size.sparsity, m)) for m in range(size.bits + 1)])
    means = table[np.rint(apart + apart.T).astype(int)]  # x_i x_j has as many signs -1 as the two differ in
    return float(np.linalg.eigvalsh(means)[-1]), size.samples * pc.dual_bound(means)


DECAY = -0.25  # log2 of E_x|E_p p| per bit: what is called exponential


@dataclasses.dataclass(frozen=True)
class Means:
    bits: int = 12  # d, enumerated for every k
    sizes: tuple[int, ...] = (8, 16, 24, 32, 40)  # d of the decay, k = d/2

    def __post_init__(self):
        require(2 <= self.bits <= 16, f"every input is enumerated: bits={self.bits}; use 2 to 16")
        good = len(self.sizes) >= 3 and all(n >= 4 and n % 2 == 0 for n in self.sizes)
        require(
            good and list(self.sizes) == sorted(set(self.sizes)),
            f"a decay needs three or more growing even sizes from 4 on: sizes={self.sizes}; use 8,16,24",
        )


def _means(size: Means) -> Evidence:
    bits, every = size.bits, np.arange(2**size.bits)
    minus = np.bitwise_count(every)
    sums, counts, squares, mirrored = 0, 0, 0, 0
    for sparsity in range(1, bits + 1):
        chosen = (np.bitwise_count(every) == sparsity).astype(float)
        total = np.rint(pc.walsh(chosen)).astype(int)  # sum over the class of p(x), at every x
        law = np.array([krawtchouk.krawtchouk(bits, sparsity, m) for m in range(bits + 1)])
        sums += int((total != law[minus]).sum())
        squares += krawtchouk.mean_label_square(bits, sparsity) != Fraction(1, math.comb(bits, sparsity))
        mirrored += any(abs(krawtchouk.krawtchouk(bits, bits - sparsity, m)) != abs(law[m]) for m in range(bits + 1))
        for m in range(bits + 1):
            by_choice = krawtchouk.positive_parities(bits, sparsity, m)
            positive = (math.comb(bits, sparsity) + int(total[2**m - 1])) // 2  # an input with m signs -1
            counts += positive != by_choice
            counts += by_choice != krawtchouk.positive_parities_series(bits, sparsity, m)
    table = pc.labels(pc.masks(bits, bits // 2), every[: 2 ** min(bits, 10)])
    law = np.array([krawtchouk.krawtchouk(bits, bits // 2, m) for m in range(bits + 1)])
    sums += int((table.sum(axis=0, dtype=int) != law[minus[: table.shape[1]]]).sum())
    large = krawtchouk.mean_label_square(40, 20) * math.comb(40, 20)
    sizes = np.array(size.sizes, float)
    decay = np.array([krawtchouk.mean_label_size(d, d // 2) for d in size.sizes])
    rates = np.diff(np.log2(decay)) / np.diff(sizes)
    nearly = [krawtchouk.mean_label_size(d, d - 1) * math.sqrt(d) for d in size.sizes]
    quarter = [(d, d // 4) for d in size.sizes if d >= 8]
    lemma = [
        max(abs(krawtchouk.mean_label(d, k, m)) for m in krawtchouk.typical_inputs(d, k))
        / krawtchouk.lemma_8_bound(d, k)
        for d, k in [*quarter, *((d, d // 2) for d in size.sizes)]
    ]
    alone = float(min(abs(krawtchouk.mean_label(d, d, m)) for d in (bits, *size.sizes) for m in range(d + 1)))
    whole = np.log2([krawtchouk.mean_label_size(d, d) for d in size.sizes])  # k = d is Theta(d) too
    printed = "fails" if (np.diff(whole) / np.diff(sizes)).max() > DECAY else "holds"
    return Evidence(
        (
            equal("inputs where the class's sum is not K_k(m; d), all k", 0, sums, 0),
            equal("|P_+| by enumeration, by choice and by the proof's series: mismatches", 0, counts, 0),
            equal("k where E_x(E_p p)² is not 1/C(d,k)", 0, squares, 0),
            equal("C(40,20) E_x(E_p p)² at d=40, k=20", 1, float(large), 0),
            equal("k where |E_p p| differs from that of d-k", 0, mirrored, 0),
            at_most("Lemma 8's last bound, k = d/4 and d/2: |E_p p| / bound", float(max(lemma)), 1),
            at_most("k = d/2: log2 of E_x|E_p p| per bit, slowest", float(rates.max()), DECAY),
            equal("k = d: |E_p p(x)|, smallest over x and d", 1, alone, 0),
            equal("k = d-1: sqrt(d) E_x|E_p p| at the largest d", math.sqrt(2 / math.pi), nearly[-1], 0.1),
        ),
        erratum=Erratum(
            "If k = Theta(d), then |E_p p(x)| <= e^{-Omega(d)} with probability 1 - e^{-Omega(d)} (Lemma 8; so Theorem 2).",
            "k and d-k must both be Theta(d): at k = d the class is one parity and |E_p p(x)| = 1 at every x, at k = d-1 its "
            "mean falls only as sqrt(2/(pi d)).",
            printed,
        ),
    )  # fmt: skip


CLAIMS = (
    Claim(
        "KS-5", PAPER, "App. A", "inequality",
        "The chance that two parities correlate by sqrt(4d/n) or more on n samples is at most (2/e)^{2d}.",
        {"tiny": Pairs(8, 4, (64, 256), 1000), "quick": Pairs(), "paper": Pairs(10, 5, (64, 256, 1024, 4096), 20_000)}, _pairs,
        domain=Domain(
            {
                "bits": Between(5, 11),
                "sparsity": Between(1, 10),
                "samples": Among((64, 256, 1024), (48, 192, 768), (512,)),
                "trials": Between(4000, 8000),
            },
            lambda size: size.sparsity < size.bits,
            "the class has two parities; from 12 bits on (2/e)^{2d} is too rare to be counted in thousands of trials",
        ),
    ),
    Claim(
        "KS-8", PAPER, "Thm 2(2) and Sec. 3.2", "identity",
        "The loss's gap to 1 is d^{-nu4} when nu = 4 nu1 + 4 nu2 + 2 nu3 + 2 nu4 + 1; with Lemma 4's nu1 = 1/2, oracle error "
        "d^{-2-eps/8} and n = d^{11+eps}, nu3 + nu4 = eps/4.",
        {"tiny": Exponents(bits=16, sparsity=8, samples=128), "quick": Exponents(), "paper": Exponents(bits=64, sparsity=32, samples=4096)},
        _exponents,
        domain=Domain(
            {
                "excess": Real(0.05, 8, log=True),
                "bits": Between(4, 64),
                "sparsity": Between(1, 63),
                "samples": Between(257, 1024),
            },
            lambda size: size.sparsity < size.bits,
            "the class has two parities",
        ),
    ),
    Claim(
        "KS-9", PAPER, "Lemma 8", "identity",
        "E_p p(x) = K_k(m; d)/C(d,k) for an input with m signs -1, |P_+| is the proof's series, E_x(E_p p)² = 1/C(d,k); "
        "at k = d/2 the mean decays exponentially in d, at k = d it is 1.",
        {"tiny": Means(8, (8, 16, 24)), "quick": Means(), "paper": Means(14, (8, 16, 32, 48, 64))}, _means,
        domain=Domain(
            {
                "bits": Between(2, 14),
                "sizes": Among((8, 16, 24, 32, 40), (8, 16, 24), (10, 20, 30), (12, 14, 16, 18), (16, 32, 64, 128)),
            },
        ),
    ),
)  # fmt: skip
