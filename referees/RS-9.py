"""RS-9. "Transformers with RL or SFT Provably Learn Sparse Boolean Functions, But Differently" (Lyu et al.)

Read: the extracted text, lines 123-132 (model), 268-280 (Theorem 4.1), 1084-1175 (Lemma F.1,
Eqs. 93-106), 1189-1219, 615-617.
Quote (line 1119): "where we use that y_j^(t) and y_j'^(t) are independent if j != j' in (i)"

Readings of Eqs. 96-99 (step s = 0, uniform attention, D = d_{t-1}, c = c_2^(t-1)).
1 (printed): c = E y^(t-1) over x and all earlier tokens (Eq. 95), tokens of a level independent.
2: independence holds given y^(t-2) only (line 617), c stands for the conditional mean mu, with an outer E.
Reading of Eq. 106: its last line must equal the line before it, for any c and lambda (algebra).

Date 2026-11-20. Sizes: t = 2 with (d, k) = (9, 8), (11, 8), brute force over x and y^(1) in exact
rationals; t = 3 with (17, 16), exact; t = 1 for comparison.
Result: Eq. 99 holds at t = 1 only. At t >= 2 all tokens of a level share one xi, so they are independent only
given the level before. The exact difference is E[(1 - mu^2)((D - 3) mu^2 + 1)] / D^2 with the conditional
mean mu; it is not the printed value, but it is positive. The last line of Eq. 106 has one factor c^2 too
many. The sign, and so the separation in Theorem 4.1 (1), survives: at s = 0 for every x, at s >= 1 on the
grid here.
"""
import json
from fractions import Fraction as Fr
from itertools import product
from math import comb
import random


def brute(d, sig1, sigma):
    """t = 2, k = 8: E over x and y^(1) of (sum_j sigma_j y_j) y_0 y_1 y_p for p = 1 (child), 2; and E y."""
    D, g, ey = 4, [0, 0], 0
    for x in product((-1, 1), repeat=d):
        xi = [sum(a * b for a, b in zip(s, x)) for s in sig1]
        prob = [q * q for q in xi]                          # P(y_j = 1 | x) = psi(xi) = xi^2
        for y in product((-1, 1), repeat=D):
            w = 1
            for q, b in zip(prob, y):
                w = w * (q if b == 1 else 1 - q)
            s = sum(a * b for a, b in zip(sigma, y)) * y[0] * y[1]
            g[0] += w * s * y[1]
            g[1] += w * s * y[2]
            ey += w * y[0]
    return g[0] / 2 ** d, g[1] / 2 ** d, ey / 2 ** d


out, ok99, ok_cond = {}, True, True
for d in (9, 11):
    D = 4
    rel, irr, c = brute(d, [[Fr(1, d)] * d] * D, [Fr(1, D)] * D)
    exact = (rel - irr) / D                                            # left side of Eq. 99
    printed = (1 - c * c) / D * ((D - 3) * c * c + 1) / D              # right side of Eq. 99
    cond = Fr(0)
    for m in range(d + 1):
        mu = 2 * Fr(d - 2 * m, d) ** 2 - 1
        cond += Fr(comb(d, m), 2 ** d) * (1 - mu ** 2) * ((D - 3) * mu ** 2 + 1) / D ** 2
    ok99 &= exact == printed
    ok_cond &= exact == cond and exact > 0
    out[f"t=2,d={d}"] = {"c": round(float(c), 5), "exact": round(float(exact), 6),
                         "printed": round(float(printed), 6)}

# t = 3, d = 17, k = 16: y^(1) has 8 tokens, y^(2) has D = 4; both are iid given the level before
d, n1, D, ey, cond = 17, 8, 4, Fr(0), Fr(0)
for m in range(d + 1):
    p1 = Fr(d - 2 * m, d) ** 2
    for a in range(n1 + 1):
        w = Fr(comb(d, m), 2 ** d) * comb(n1, a) * p1 ** a * (1 - p1) ** (n1 - a)
        mu = 2 * Fr(2 * a - n1, n1) ** 2 - 1
        ey += w * mu
        cond += w * (1 - mu ** 2) * ((D - 3) * mu ** 2 + 1) / D ** 2
printed3 = (1 - ey ** 2) * ((D - 3) * ey ** 2 + 1) / D ** 2
ok99 &= cond == printed3
out["t=3,d=17"] = {"c": round(float(ey), 5), "exact": round(float(cond), 6),
                   "printed": round(float(printed3), 6)}
# t = 1: x independent with mean 0: rel = 1/d, irr = 0, and c = 0 gives 1/d^2 on both sides
rel1 = sum(Fr(1, 5) * sum(x[j] * x[0] for x in product((-1, 1), repeat=5)) / 32 for j in range(5))
irr1 = sum(Fr(1, 5) * sum(x[j] * x[0] * x[1] * x[2] for x in product((-1, 1), repeat=5)) / 32
           for j in range(5))
out["t=1_holds"] = (rel1 - irr1) / 5 == Fr(1, 25)

# Eq. 106: last line against the line before it
random.seed(1)
ok106, fixed106 = True, True
for _ in range(20):
    D = random.choice((4, 6, 8, 16))
    c2, l1 = Fr(random.randint(1, 98), 99) ** 2, Fr(random.randint(1, 48), 97)
    l2 = (1 - 2 * l1) / (D - 2)
    before = c2 + l1 * (1 - c2) - c2 * (c2 + (1 - c2) * (l2 + 2 * l1))
    ok106 &= before == (1 - c2) * (c2 * (D - 3) * l2 * c2 + l1)
    fixed106 &= before == (1 - c2) * (c2 * (D - 3) * l2 + l1)
assert fixed106
out["eq106_last_line_equals_line_before"] = ok106

# separation at s >= 1 with the attention of Eq. 64 / 109 at both levels (t = 2, d = 9)
import math
mins = []
for es in (0.05, 0.3, 1.0, 2.5):
    def col(n, a, b):
        w = [math.exp(es if j in (a, b) else -es) for j in range(n)]
        return [v / sum(w) for v in w]
    rel, irr, _ = brute(9, [col(9, 2 * j, 2 * j + 1) for j in range(4)], col(4, 0, 1))
    mins.append(round(rel - irr, 5))
out["separation_at_eta_s=0.05,0.3,1,2.5"] = mins
out["conditional_form_is_exact"] = bool(ok_cond)
print(json.dumps({"id": "RS-9", "printed": "holds" if (ok99 and ok106) else "fails",
                  "corrected": r"E[(1-\mu^2)((D-3)\mu^2+1)]/D^2, \mu = E[y | y^{(t-2)}]; 106: "
                               r"(1-c^2)[c^2 (D-3)\lambda_2+\lambda_1], D = d_{t-1}",
                  "theorem": "survives" if cond > 0 and min(mins) > 0 else "unknown", "numbers": out}))
