"""KS-9. "Transformers Provably Solve Parity Efficiently with Chain of Thought" (Kim and Suzuki)

Read: the extracted text, lines 45 (d >= k >= 2), 115-133 (Theorem 2), 281 and 347-392 (Lemma 8).
Quote (line 368): "If k = Theta(d), it holds with probability at least 1 - e^{-Omega(d)} over random sampling
that |E_{p in P}[p(x)]| <= e^{-Omega(d)}."

Readings.
1 (literal): every k with c d <= k <= d is allowed; Section 2.1 allows d >= k >= 2, so k = d and k = d - 1
  are.
2 (silent extra assumption): also d - k = Theta(d). The remark that |P| = e^{Theta(d)} (lines 133, 281) is
  printed as a consequence of k = Theta(d), and the proof treats 2k > d by passing to the complement, so
  this is a correction and not something printed.

E_p p(x) depends on the number m of -1s: K_k(m) / C(d, k) with the Krawtchouk number K_k.
Asymptotic check for reading 1: k = d gives 1 for every d; k = d - 1 gives |d - 2m| / d >= 1/d for every
odd d and every x. These are formulas for all d, not values at small size.

Date 2026-11-20. Sizes: d odd from 5 to 203, exact integers; reading 2 with k near d/4, d/2 and 3d/4.
Result: Literally the lemma fails at k = d (value 1) and at k = d - 1 (at least 1/d for odd d), because the
complement in the proof then has d - k = O(1) elements. With d - k = Theta(d) as well, the exact numbers
decay exponentially, as stated. Theorem 2 as printed fails at k = d in the same way (one target, so a
constant model has loss 0); with the extra assumption this obstacle is gone.
"""
import json
from fractions import Fraction as Fr
from math import comb, log


def mean_parity(d, k, m):
    js = range(max(0, k - d + m), min(m, k) + 1)
    return Fr(sum((-1) ** j * comb(m, j) * comb(d - m, k - j) for j in js), comb(d, k))


out = {}
# brute force of the formula at a small size
from itertools import combinations
from math import prod
x = (-1, 1, 1, -1, -1, 1, 1)
for k in range(2, 8):
    total = sum(prod(x[i] for i in p) for p in combinations(range(7), k))
    assert mean_parity(7, k, 3) == Fr(total, comb(7, k))

# reading 1: the smallest value over ALL inputs x, so it is exceeded with probability 1
literal_ok = True
for d in (5, 11, 51, 203):
    m1 = min(abs(mean_parity(d, d - 1, m)) for m in range(d + 1))
    m0 = min(abs(mean_parity(d, d, m)) for m in range(d + 1))
    assert all(abs(mean_parity(d, d - 1, m)) == Fr(abs(d - 2 * m), d) for m in range(d + 1))    # formula
    literal_ok &= not (m0 == 1 and m1 == Fr(1, d))
    out[f"min_x_at_k=d-1,d={d}"] = float(m1)
out["min_x_at_k=d"] = float(m0)

# reading 2: quantile of |E_p p(x)| over x: outside |m - d/2| <= delta d / 2 lies probability e^{-Omega(d)}
rates = {}
for frac in (Fr(1, 4), Fr(1, 2), Fr(3, 4)):
    for d in (51, 101, 203):
        k = int(frac * d)
        delta = min(Fr(1, 4), Fr(min(k, d - k), 2 * d))
        ms = [m for m in range(d + 1) if abs(m - Fr(d, 2)) <= delta * d / 2]
        worst = max(abs(mean_parity(d, k, m)) for m in ms)
        pout = Fr(sum(comb(d, m) for m in range(d + 1) if m not in ms), 2 ** d)
        rates[f"k/d={frac},d={d}"] = [round(-log(worst) / d, 4), round(-log(pout) / d, 4)]
out["reading2_rate_of_value_and_of_probability"] = rates
reading2_ok = all(r[0] > 0.02 and r[1] > 0.004 for r in rates.values())
out["reading2_decays"] = reading2_ok

# Theorem 2 at k = d: P = {p}; the constant model f = p has loss 0. At k = d - 1: f = E_p p has loss 1 - 1/d.
thm = {d: float(1 - sum(Fr(comb(d, m), 2 ** d) * mean_parity(d, d - 1, m) ** 2 for m in range(d + 1)))
       for d in (11, 51)}
assert all(abs(v - (1 - 1 / d)) < 1e-12 for d, v in thm.items())
out["thm2_loss_of_mean_predictor_k=d-1"] = thm
out["thm2_loss_of_constant_model_k=d"] = 0      # by construction: f = p
print(json.dumps({"id": "KS-9", "printed": "holds" if literal_ok else "fails",
                  "corrected": r"assume k = \Theta(d) and d - k = \Theta(d) (in Lemma 8 and in Theorem 2)",
                  "theorem": "falls", "numbers": out}))
