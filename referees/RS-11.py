"""RS-11. "Transformers with RL or SFT Provably Learn Sparse Boolean Functions, But Differently" (Lyu et al.)

Read: the extracted text, lines 256-260 (Table 1), 292-294 (Claim 4.2), 1258-1343 (AND, Eqs. 119-135),
1345-1400 (OR, Eqs. 136-149).
Quote (line 1283): "i.e., the sum of tokens of y_A is larger than or equal to lambda"

Readings.
1 (printed): D_lambda = {sum >= lambda}, Dbar_lambda = {sum <= lambda}, psi' = I(xi > 0) (Eq. 119) and
  I(xi < 0) (Eq. 136). Tested: Eqs. 129, 130, 132, 133 (four expectations), 134, and the same for OR.
2: strict inequalities in D_lambda and Dbar_lambda.
3: the printed sets, with I(xi >= 0) and I(xi <= 0) instead of Eqs. 119 and 136.
Eq. 149 is tested with c (of AND, Eq. 126) and with c-bar (Eq. 142).

Date 2026-11-20. Sizes: D = d_{t-1} = 6 and 9 at t = 1, and D = 4 at t = 2 (d = 9, k = 8; RL tokens and
true tokens, as in SFT); exact rationals, uniform attention.
Result: With the printed "larger than or equal" the terms of Eqs. 129-133 are wrong for even D, since sum = -3
gives xi = 0, where I(xi > 0) = 0. For odd D they hold. With strict sets all of them, and the differences 8 b
and 8 c-bar, hold exactly (reading 3 is also consistent, but it changes Eqs. 119 and 136). Eq. 149 needs the
bar. The separation is positive, so Claim 4.2 survives.
"""
import json
from fractions import Fraction as Fr
from itertools import product
from math import comb


def prob_sum(n, p):
    """Law of the sum of n independent tokens with P(+1) = p."""
    return {2 * a - n: comb(n, a) * p ** a * (1 - p) ** (n - a) for a in range(n + 1)}


def four(D, p, kind, sets, strict_ind):
    """Left: the four expectations. Right: their values through a, b, c, d. Given p = p_+."""
    law, q = prob_sum(D - 3, p), 1 - p
    if sets == "strict":
        inside = (lambda s, lam: s > lam) if kind == "and" else (lambda s, lam: s < lam)
    else:
        inside = (lambda s, lam: s >= lam) if kind == "and" else (lambda s, lam: s <= lam)
    P = {lam: sum(w for s, w in law.items() if inside(s, lam)) for lam in (-3, -1, 1, 3)}
    a, b, c, d = p ** 3 * P[-3], p * p * q * P[-1], p * q * q * P[1], q ** 3 * P[3]
    right = [a + 3 * b + 3 * c + d, a + b - c - d, a - b - c + d, a - 3 * b + 3 * c - d]
    left = [0, 0, 0, 0]
    for A in product((-1, 1), repeat=3):
        w = 1
        for t in A:
            w = w * (p if t == 1 else q)
        for s, ws in law.items():
            tot = s + sum(A)
            on = tot > 0 if kind == "and" else tot < 0
            if not strict_ind:
                on = on or tot == 0
            if on:
                for i, v in enumerate((1, A[0], A[0] * A[1], A[0] * A[1] * A[2])):
                    left[i] += w * ws * v
    sg = (1, 1, -1, -1) if kind == "and" else (1, -1, -1, 1)
    return left, right, sum(s * v for s, v in zip(sg, left)), (a, b, c, d)


def cases():
    yield "t=1,D=6", 6, [(1, Fr(1, 2))]
    yield "t=1,D=9", 9, [(1, Fr(1, 2))]
    yield "t=2,D=4", 4, None
    yield "SFT t=2,D=4", 4, "truth"


out, ok = {}, {}
for name, D, mix in cases():
    for kind in ("and", "or"):
        if name.startswith("t=2"):      # p_+ = psi(xi_1), xi_1 = S/9, given x
            mix = []
            for m in range(10):
                xi = Fr(9 - 2 * m, 9)
                mix.append((Fr(comb(9, m), 512), max(xi, Fr(0)) if kind == "and" else min(xi, Fr(0)) + 1))
        elif mix == "truth" or name.startswith("SFT"):      # true tokens of level 1 are independent
            mix = [(1, Fr(1, 4) if kind == "and" else Fr(3, 4))]
        for reading, sets, strict_ind in ((1, "printed", True), (2, "strict", True), (3, "printed", False)):
            L, R, delta, abcd = [0] * 4, [0] * 4, 0, [0] * 4
            for w, p in mix:
                l, r, dl, q = four(D, p, kind, sets, strict_ind)
                L = [u + w * v for u, v in zip(L, l)]
                R = [u + w * v for u, v in zip(R, r)]
                delta += w * dl
                abcd = [u + w * v for u, v in zip(abcd, q)]
            eight = 8 * abcd[1] if kind == "and" else 8 * abcd[2]
            ok[name, kind, reading] = L == R and delta == eight and delta > 0
            out[f"{name},{kind},{reading}"] = [round(float(delta), 5), round(float(eight), 5), L == R]
            if kind == "or" and reading == 2:
                bar = abcd[2]
    # Eq. 149 for the OR problem: c of Eq. 126 evaluated on the same (OR) tokens, against c-bar
    c_on_or = sum(w * four(D, p, "and", "strict", True)[3][2] for w, p in mix)
    c_on_or_printed = sum(w * four(D, p, "and", "printed", True)[3][2] for w, p in mix)
    out[f"{name}: 8c (strict), 8c (printed set), 8c-bar"] = [round(float(8 * v), 5)
                                                           for v in (c_on_or, c_on_or_printed, bar)]
    ok[name, "149"] = bar in (c_on_or, c_on_or_printed)
printed = all(v for key, v in ok.items() if len(key) == 3 and key[2] == 1) and \
    all(v for key, v in ok.items() if key[1] == "149")
strict = all(v for key, v in ok.items() if len(key) == 3 and key[2] == 2)
out["all_hold_reading_1,2,3"] = [all(v for k_, v in ok.items() if len(k_) == 3 and k_[2] == r)
                                 for r in (1, 2, 3)]
out["149_without_bar_equals_with_bar"] = {k_[0]: v for k_, v in ok.items() if k_[1] == "149"}
print(json.dumps({"id": "RS-11", "printed": "holds" if printed else "fails",
                  "corrected": r"D_\lambda=\{\sum>\lambda\}, "
                               r"\bar D_\lambda=\{\sum<\lambda\}; Eq. 149: 8\bar c",
                  "theorem": "survives" if strict else "unknown", "numbers": out}))
