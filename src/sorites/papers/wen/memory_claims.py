"""W7: what data allow when memory does not matter."""

import dataclasses
import math

import numpy as np

from ...errors import require
from ...ledger import Between, Claim, Comparison, Domain, Evidence, at_most, equal, shown
from .learners import eliminated, paired, searched
from .representation_claims import width_for
from .setting import PAPER, by_chance, counted, secret_fits


@dataclasses.dataclass(frozen=True)
class Learners:
    bits: int = 20
    sparsity: int = 3
    samples: int = 4000  # of the pairwise learner
    trials: int = 40

    def __post_init__(self):
        counted(self)
        secret_fits(self.bits, self.sparsity, least=2)
        many = math.comb(self.bits, self.sparsity)
        require(many <= 10**6, f"the search keeps all C(n, k) secrets: {many:,} of them; use at most 10^6")


def _memory(size: Learners) -> Evidence:
    bits, sparsity, trials = size.bits, size.sparsity, size.trials
    solved = [eliminated(bits, sparsity, bits + 10, seed) for seed in range(trials)]
    search = [searched(bits, sparsity, seed) for seed in range(trials)]
    bare = float(np.mean([paired(bits, sparsity, size.samples, False, seed) for seed in range(trials)]))
    chained = float(np.mean([paired(bits, sparsity, size.samples, True, seed) for seed in range(trials)]))
    d, m = width_for(bits, sparsity, 16), sparsity + 1
    candidates = math.comb(bits, sparsity)
    return Evidence(
        (
            Comparison("samples needed with o(nk) memory: 2^Omega(k)", None, None, None, None),
            at_most("elimination from n + 10 samples, share not solved, 2^-10 by the rank's law", 1 - float(np.mean(solved)), 2**-10,
                    by_chance(2**-10, trials)),
            at_most("search over all secrets: median samples, log2 C(n,k) + 5", float(np.median(search)), math.log2(candidates) + 5),
            at_most("pairwise statistics without the chain, share solved, a guess has 1/C(n,k)", bare, 1 / candidates,
                    by_chance(1 / candidates, trials)),
            equal("pairwise statistics with the chain, share solved", 1, chained, 0),
            shown("memory of elimination in bits, n(n+1)", None, bits * (bits + 1)),
            shown("bits of the block's weights at 16 per weight", None, 16.0 * (d * d + 4 * m * d)),
            shown("n k, the memory that the theorem speaks of", None, bits * sparsity),
            shown("weights of the paper's 4-layer GPT", None, 25e6),
        ),
        seeds=trials,
        departures=(
            "A lower bound over all algorithms cannot be confirmed by running some. Its proof is a citation (Lyu et al. 2023, "
            "Theorem 6). The growth of the GPT's sample complexity without a chain is W21's.",
            "The paper's experiments do not satisfy the premise: millions of weights against nk = 120, so Figures 1 and 2 "
            "illustrate the theorem and do not test it.",
            "A wrong secret survives t samples with chance 2^-t, so that half of ten searches or more take over log2 C(n,k) + 5 in "
            "less than 1 of 100,000 cases. Before an audit the bars were 0.95, 3 log2 C(n,k), 0.1 and 0.95.",
        ),
    )  # fmt: skip


CLAIMS = (
    Claim(
        "W7", PAPER, "Theorem 2", "uncheckable",
        "With o(nk) memory, constantly many passes need 2^Omega(k) samples without a chain. Elimination needs n + O(1) samples "
        "and n^2 bits, search k log n samples and C(n,k) time, pairwise statistics fail without the chain and succeed with it.",
        {"tiny": Learners(12, 3, 2000, 10), "quick": Learners()}, _memory, expected="inconclusive",
        domain=Domain(
            {"bits": Between(8, 24), "sparsity": Between(2, 4), "samples": Between(1000, 8000), "trials": Between(10, 60)},
            because="the search keeps all C(n, k) secrets, which ends k",
        ), revised=True,
    ),
)  # fmt: skip
