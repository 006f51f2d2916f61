"""L6: the sign of V(g') in (18b), symmetric-group case.

Paper: "Transformers Provably Learn Chain-of-Thought Reasoning with Length Generalization" (extracted
text; its abstract begins "The ability to
reason lies at the core of artificial intelligence"; LEGO state tracking). Lines read: 1395-1450 ((17), Def.
6.3, (18a)-(18c)), 6363-6660 (App. C.1, Theorem C.1), 18125-18240 (feature shape used in App. E, Lemma E.3,
(89)-(92)).
Quote (machine-extracted): "V_{j,r_{j,y}}(g') ~ 2B/n_y, V_{j,r_{j,y}}(y') ~ -2B; (18b)".
Elsewhere: (18c) V(g') + V(y) <= o(1); (91) |V(g') + V(y)| <= O(delta) and V(g') < 0 for g' outside the
fiber; Theorem C.1 A and C: V(g) + V(y) = 2B and V(g) = C_alpha V(y).
Readings: (a) "~" up to a smaller order than the printed value 2B/n_y; (b) "~" up to o(B). Under (b) both
values with 2B/n_y, also the one of (18a), say no more than o(B); this reading does not use the sign at all.
Even then (18c) excludes the printed value, because 4B/n_y grows: B is of order log d, n_y of order log log
d / log log log d.
Date: 2026-11-20. Sizes: S_3 and S_4, gradient descent on the exact one-step loss, m = n_y neurons a class;
growth of 4B/n_y for d = 10^3 to 10^300.
Result: With the printed sign, V(g') + V(y) = 4B/n_y, against the <= o(1) of (18c) and against V(g') < 0 in
(91). Gradient descent gives a negative V(g') with V(g') close to -V(y) on every neuron. The corrected form
is V(g') = -2B/n_y; (18a), (18c), Theorem C.1 and App. E use only that form, so they are not affected.
"""
import itertools
import json
from fractions import Fraction as F
from math import log

import numpy as np

# ---- 1. exact algebra: Theorem C.1 (A, B, C) fixes the four numbers, in units of B ----
algebra = {}
for n in (3, 4, 5, 7):
    nG = 1
    for i in range(2, n + 1):
        nG *= i
    Ca = (1 + F(nG * (n - 1), n)) / ((n - 1) + F(nG, n))          # constant of Theorem C.1 C
    Vy = 2 / (1 + Ca)                                             # V(g) = Ca V(y), V(g) + V(y) = 2B
    Vg = Ca * Vy
    Vg_other, Vy_other = -Vy, -Vg                                 # Theorem C.1 B: both mixed sums vanish
    algebra[n] = {"C_alpha": round(float(Ca), 3), "V(g)/B": round(float(Vg), 3),
                  "V(y)/B": round(float(Vy), 3),
                  "V(g')/B": round(float(Vg_other), 3), "printed V(g')/B": round(2 / n, 3)}

# (18c), second sum, with the printed signs: V(g') + V(y) = 2B/n + 2B/n, B = log d, n = loglog/logloglog
printed_sum = [round(4 * L / (log(L) / log(log(L))), 1) for L in (log(10) * k for k in (3, 30, 300))]
violates_18c = all(b > a for a, b in zip(printed_sum, printed_sum[1:]))


# ---- 2. gradient descent on one step of S_n ----
def train(n, steps, lr, q=4, rho=0.3, Bc=6.0, seed=0):
    rng = np.random.default_rng(seed)
    G = np.array(list(itertools.permutations(range(n))))          # G[g, y] = g(y)
    nG = len(G)
    m = n
    Vg = rng.normal(size=(n, m, nG)) * 0.02 + 0.10                # bias folded into the start
    Vy = rng.normal(size=(n, m, n)) * 0.02 + 0.10
    for j, y in itertools.product(range(n), range(n)):            # neuron y of class j wins fiber (j, y)
        Vg[j, y, G[:, y] == j] += 0.1
        Vy[j, y, y] += 0.1
    onehot = (G[None] == np.arange(n)[:, None, None]).astype(float)   # [j, g, y]
    for _ in range(steps):
        lam = 0.5 * (Vg[:, :, :, None] + Vy[:, :, None, :])       # [j, r, g, y]
        x = np.clip(lam, 0, None)
        act = np.where(x <= rho, x**q / (rho ** (q - 1) * q), x - rho * (1 - 1 / q))
        sl = np.where(x <= rho, x ** (q - 1) / rho ** (q - 1), 1.0)
        Fj = act.sum(1)
        open_ = (Fj < Bc).astype(float)                           # logit clipping, Assumption 3.4
        Fc = np.minimum(Fj, Bc)
        p = np.exp(Fc - Fc.max(0)); p /= p.sum(0)
        e = (onehot - p) * open_
        gl = 0.5 * e[:, None] * sl / (nG * n)
        Vg += lr * gl.sum(3)
        Vy += lr * gl.sum(2)
    acc = (Fc.argmax(0) == G).mean()
    a, b, c, d = [], [], [], []
    for j, y in itertools.product(range(n), range(n)):
        infib = G[:, y] == j
        a.append(Vg[j, y, infib].mean()); b.append(Vy[j, y, y])
        c.append(Vg[j, y, ~infib]); d.append(np.delete(Vy[j, y], y))
    c = np.array(c)
    return {"accuracy": float(acc), "V(g)": round(float(np.mean(a)), 3), "V(y)": round(float(np.mean(b)), 3),
            "V(g')": round(float(c.mean()), 3), "largest V(g')": round(float(c.max()), 3),
            "V(y')": round(float(np.mean(d)), 3),
            "mean V(g')+V(y)": round(float((c.mean(1) + np.array(b)).mean()), 3)}


runs = {"S_3": train(3, 20000, 2.0), "S_4": train(4, 15000, 8.0)}
negative = all(r["V(g')"] < 0 and r["largest V(g')"] < 0 and r["accuracy"] == 1.0 for r in runs.values())
alg_neg = all(v["V(g')/B"] < 0 for v in algebra.values())
fails = violates_18c and alg_neg and negative
print(json.dumps({
    "id": "L6", "printed": "fails" if fails else ("holds" if not alg_neg else "undecided"),
    "corrected": "V_{j,r_{j,y}}(g')\\approx -2B/n_y", "theorem": "untouched",
    "numbers": {"part_that_fails": "sign of the first value of (18b)",
                "printed_V(g')+V(y)_for_B=log d,d=1e3,1e30,1e300": printed_sum,
                "theorem_C1_in_units_of_B": algebra, "training": runs}}))
