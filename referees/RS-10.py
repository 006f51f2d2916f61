"""RS-10. "Transformers with RL or SFT Provably Learn Sparse Boolean Functions, But Differently" (Lyu et al.)

Read: the extracted text, lines 1084-1108 (Lemma F.1), 1189-1219 (its proof, Eqs. 110-113).
Quote (line 1217): "= 2 (c_2^(t-1))^2 + 2 [1 - (c_2^(t-1))^2] (c_1^(t-1))^2 - 1"

Readings. c_2^(t) = E y^(t) (Eq. 92) and c_1^(t) = sum_q sigma_q^2 for the column of level t (Eq. 91).
1 (printed): c_1 squared, index t - 1 or t.   2: c_1 to the first power, as in Eq. 112 for t = 1.
3: the statement of Lemma F.1 alone (equal E y within a level, |c_2| < 1), under (91) at every level.

Date 2026-11-20. Sizes: uniform attention, (d, k) = (9, 8), (11, 8) at t = 1, 2 and (17, 16) at t = 3, exact
rationals; reading 3 with d = 9 and finite, non-uniform W.
Result: The printed last line fails already at t = 1, where Eq. 112 of the same proof gives 2 c_1 - 1. With
c_1 to the first power it holds at t = 1 but not at t >= 2, because tokens of a level share their inputs and
are not independent. Also the statement needs more than (91): equal sums of squares allow unequal means. In
Theorem 4.1 the attention is symmetric, so equal means hold there, and no value of c_2 is needed.
"""
import json
from fractions import Fraction as Fr
from itertools import product
from math import comb, exp

out, ok_printed, ok_first = {}, True, True


def level_means(d, widths):
    """Exact E y^(t), t = 1, 2, ..., under uniform attention (tokens are iid given the level before)."""
    dist = {d - 2 * m: Fr(comb(d, m), 2 ** d) for m in range(d + 1)}     # law of the sum of the level
    n, means = d, []
    for w in widths:
        new, mean = {}, Fr(0)
        for s, pr in dist.items():
            p = Fr(s, n) ** 2
            mean += pr * (2 * p - 1)
            for a in range(w + 1):
                new[2 * a - w] = new.get(2 * a - w, 0) + pr * comb(w, a) * p ** a * (1 - p) ** (w - a)
        dist, n = new, w
        means.append(mean)
    return means


for d, widths in ((9, (4, 2)), (11, (4, 2)), (17, (8, 4, 2))):
    sizes, c2, rows = (d,) + widths, Fr(0), []
    means = level_means(d, widths)
    for t, ey in enumerate(means, 1):
        sq = [Fr(1, sizes[t - 1])] + ([Fr(1, sizes[t - 2])] if t > 1 else [])     # c_1^(t), c_1^(t-1)
        printed = [2 * c2 ** 2 + 2 * (1 - c2 ** 2) * s ** 2 - 1 for s in sq]
        first = 2 * c2 ** 2 + 2 * (1 - c2 ** 2) * sq[0] - 1
        ok_printed &= ey in printed
        ok_first &= ey == first
        rows.append([t, round(float(ey), 5), [round(float(v), 5) for v in printed], round(float(first), 5)])
        assert t > 1 or ey == first == Fr(2, d) - 1
        c2 = ey
    out[f"d={d}: t, exact, printed, c_1_to_first_power"] = rows

# brute-force check of level_means at t = 2, d = 9
tot = Fr(0)
for m in range(10):
    p = Fr(9 - 2 * m, 9) ** 2
    for y in product((-1, 1), repeat=4):
        w = Fr(comb(9, m), 512)
        for b in y:
            w *= p if b == 1 else 1 - p
        tot += w * (2 * Fr(sum(y), 4) ** 2 - 1)
assert tot == level_means(9, (4,  2))[1]

# reading 3: finite W, the multiset of scores is the same in every column of a level, so (91) holds
def column(n, a, b, u=2.0):
    w = [exp(u if j in (a, b) else -u) for j in range(n)]
    return [v / sum(w) for v in w]


sig1 = [column(9, 0, 1), column(9, 0, 1), column(9, 2, 3), column(9, 4, 5)]
sig2 = [column(4, 0, 1), column(4, 2, 3)]
ey = [0.0, 0.0]
for x in product((-1, 1), repeat=9):
    mu = [2 * sum(a * b for a, b in zip(s, x)) ** 2 - 1 for s in sig1]
    for l in (0, 1):
        s = sig2[l]                                   # E xi^2 = sum_p,q sigma_p sigma_q E[y_p y_q | x]
        ex = sum(s[p] * s[q] * (1 if p == q else mu[p] * mu[q]) for p in range(4) for q in range(4))
        ey[l] += (2 * ex - 1) / 512
c1 = [[sum(v * v for v in s) for s in lev] for lev in (sig1, sig2)]
assert all(max(c) - min(c) < 1e-12 for c in c1)
out["reading3_equal_c1_but_E_y(2)"] = [round(v, 4) for v in ey]
ok_statement = abs(ey[0] - ey[1]) < 1e-9
print(json.dumps({"id": "RS-10", "printed": "holds" if ok_printed or ok_first else "fails",
                  "corrected": r"E y_l^{(t)} = 2\sum_{p,q}\sigma_p\sigma_q E[y_p y_q]-1; "
                               r"for independent tokens 2c^2+2(1-c^2)c_1^{(t)}-1",
                  "theorem": "survives", 
                  "numbers": {**out, "lemma_statement_for_any_W_with_91": ok_statement}}))
