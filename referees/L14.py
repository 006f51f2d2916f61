"""L14: is there an epsilon that satisfies the hypothesis of Lemma D.45?

Paper: "Transformers Provably Learn Chain-of-Thought Reasoning with Length Generalization" (extracted
text; its abstract begins "The ability to
reason lies at the core of artificial intelligence"; LEGO state tracking). Lines read: 700-708 (Assumption
3.3, sigma_0), 750-835 (Theorem 4.1), 1500-1530 ((19), (20)), 1600-1690 (Sec. 6.2.1), 14885-14905 (Induction
D.3), 17160-17215 and 17640-17730 (decreasing gap), 17731-17860 (Lemma D.45, Theorem D.1).
Quote: "if Omega~(sigma_0) << eps <= O(1/d^1.01)" and "sigma_0 = d^(-1/2)".
Readings: (a) the window of Lemma D.45 with sigma_0 = d^(-1/2), where Omega~ hides any log^p d and O(.) any
constant; (b) sigma_0 as a free parameter; (c) eps as an exponent only: does eps <= d^(-1.01) contradict c*
< 1?
Date: 2026-11-20. Sizes: log2 d = 12 .. 10^6, p = 0..60, constants 1 and 10^6.
Result: With sigma_0 = d^(-1/2) the window is empty for all large d, because sigma_0 / d^(-1.01) = d^0.51
exceeds every power of log d. c* < 1 is no contradiction: an error below d^(-1.01) implies one below
d^(-c*). Under reading (b) the window is non-empty if sigma_0 << d^(-1.01). The upper end is needed in the
proof, since the gap bound (d^1.01 eps)^(1/(q-1)) / log d is o(1) there but grows at eps = d^(-1/2). Theorem
4.1 cites only this lemma, so its proof is open as printed; whether the theorem holds is not decided here.
"""
import json
from math import log

EXP_UP = 1.01          # eps <= C d^(-1.01)
EXP_SIGMA = 0.5        # sigma_0 = d^(-1/2), Assumption 3.3


def gap_log(lnd, p, C, s=EXP_SIGMA):
    """log( lower end / upper end ) of the window; positive means an empty window."""
    return (-s * lnd - p * log(lnd)) - (log(C) - EXP_UP * lnd)


# (a) for every p and C there is a threshold from which the window stays empty
thresholds, empty_everywhere = {}, True
grid = [12.5 * 1.17**i for i in range(75)]                  # log2 d, up to about 1.4e6
for p in (0, 2, 10, 60):
    for C in (1.0, 1e6):
        vals = [gap_log(x * log(2), p, C) for x in grid]
        last_nonempty = max([i for i, v in enumerate(vals) if v <= 0], default=-1)
        # derivative of gap_log in ln d is 0.51 - p/ln d, so it increases once ln d > p/0.51
        ok = last_nonempty + 1 < len(grid) and grid[last_nonempty + 1] * log(2) > p / 0.51
        empty_everywhere &= ok
        thresholds[f"p={p},C={C:g}"] = round(grid[last_nonempty + 1], 1)

# (b) sigma_0 = d^(-s): limit exponent of (lower end)/(upper end)
limit_exponent = {s: round(EXP_UP - s, 3) for s in (0.5, 1.0, 1.01, 1.1)}

# (c) c* < 1 with eps = d^(-1.01)
c_star_consistent = all(1.01 >= c for c in (0.1, 0.5, 0.99))

# gap bound of D.45(a) with q = 6: exponent of d in (d^1.01 eps)^(1/(q-1))
gap_exp = {e: round((EXP_UP - e) / 5, 4) for e in (0.5, 0.99, 1.01, 1.1)}

print(json.dumps({
    "id": "L14", "printed": "fails" if empty_everywhere else "holds",
    "corrected": "needs \\sigma_0\\ll d^{-1.01} (Assumption 3.3 has d^{-1/2}), "
                 "or a gap step for larger \\epsilon",
    "theorem": "unknown",
    "numbers": {"part_that_fails": "hypothesis of Lemma D.45 with sigma_0=d^(-1/2) is empty",
                "log2_d_from_which_empty": thresholds,
                "exponent_of_lower/upper_for_sigma0=d^-s": limit_exponent,
                "c_star_below_1_consistent": c_star_consistent,
                "d_exponent_of_gap_bound_at_eps=d^-e_(q=6)": gap_exp}}))
