"""W5: three lines in the proof of Theorem 1 (the parity network without CoT).

Paper: extracted text (From Sparse Dependence to Sparse Attention: Unveiling How
Chain-of-Thought Enhances Transformer Sample Efficiency). Lines read: 128-142 (Theorem 1), 400-511 (Lemmas
1-4 and the proof).
Quote: "Thus sgn(T(E(b))_[n+1]) = (-1)^{b[n+2]} for large enough n."
Also: "ReLU(a_r - b_r <U, A(E(b))_[n+1]>)" and "<U, e_{j,b}> = 1(j in S, b = 1)".
Elsewhere: Theorem 1 states (-1)^{b[n+2]+1}; the line before the first quote has (-1)^{b[n+2]+1} too; the
next display has a_r + 2 sum b[j]; Lemma 2 gives <U, e_{j,b}> only for j in S; W_{r,d+1:2d} = b_r U, so the
sign is +.
Readings: (i) the printed last line; (ii) minus and plus sign in the ReLU; (iii) <U, e> for every j, or j in
S. "sgn" is read as +1/-1, as Theorem 1 does; one sign cannot fit both lines.
Date: 2026-11-20. Sizes: the map s -> T exactly for k = 1..60; networks with (n, k, d) = (37, 5, 1500) and
(53, 9, 3000), hypercube embeddings, 300 random inputs each.
Result: The output is (-1)^{s+1} with the plus sign for every k, so Theorem 1's statement is the right one
and the last line of the proof has the opposite sign. With the minus sign the output does not alternate.
Outside S, <U, e_{j,b}> is not 0, but the softmax weight there is at most n^{-20}, so the theorem survives.
"""
import json

import numpy as np


def coefficients(k):
    """a_r and h_r of the proof, m = k + 1."""
    m = k + 1
    a = [-4 * ((r + 1) // 2) + 4 if r <= m else 1 if r == m + 1 else -4 * ((r - m) // 2) + 2
         for r in range(1, 2 * m + 1)]
    return np.array(a), np.array([1] * m + [-1] * m)


plus_ok, minus_ok, last_line_ok = True, True, True
for k in range(1, 61):
    a, h = coefficients(k)
    for s in range(k + 1):
        plus = int((h * np.maximum(a + 2 * s, 0)).sum())
        minus = int((h * np.maximum(a - 2 * s, 0)).sum())
        plus_ok &= plus == (-1) ** (s + 1)
        minus_ok &= np.sign(minus) == (-1) ** (s + 1)
        last_line_ok &= np.sign(plus) == (-1) ** s          # printed last line, b[n+2] = s mod 2
a, h = coefficients(6)
minus_values = [int((h * np.maximum(a - 2 * s, 0)).sum()) for s in range(7)]

# the full network
rng = np.random.default_rng(5)
stats = {}
thm, third, effect = True, True, 0.0
for n, k, d in ((37, 5, 1500), (53, 9, 3000)):
    e = rng.choice([-1, 1], size=(n + 1, 2, d)) / np.sqrt(d)
    S = np.sort(rng.choice(n, k, replace=False))
    M = e[S].reshape(2 * k, d)
    u = M.T @ np.linalg.inv(M @ M.T)                        # columns u_{S[i],b}, Lemma 2
    V, U = u.sum(1), u[:, 1::2].sum(1)
    out = np.setdiff1d(np.arange(n + 1), S)
    lem4 = np.abs(e[out] @ V).max()
    U_in = np.abs(e[S] @ U - np.array([0, 1])).max()
    U_out = np.abs(e[out] @ U).max()
    a, h = coefficients(k)
    ok = wrong = 0
    dev = 0.0
    for _ in range(300):
        b = np.r_[rng.integers(0, 2, n), 0]
        X = e[np.arange(n + 1), b].T
        z = 40 * np.log(n) * (X.T @ V) * (e[n, 0] @ X[:, n])   # column n+1 of X^T A X
        w = np.exp(z - z.max()); w /= w.sum()
        A = X @ w
        T = (h * np.maximum(a * (e[n, 0] @ X[:, n]) + 2 * k * (U @ A), 0)).sum()
        p = b[S].sum() % 2
        ok += np.sign(T) == (-1) ** (p + 1)
        wrong += np.sign(T) == (-1) ** p
        dev = max(dev, abs(T - (-1) ** (p + 1)))
        effect = max(effect, abs(w[out] @ (X[:, out].T @ U)))
    thm &= ok == 300
    third &= U_out < 1e-9
    stats[f"n={n},k={k},d={d}"] = {"theorem_form": f"{ok}/300", "last_line_form": f"{wrong}/300",
                                   "|T-(+-1)|": float(f"{dev:.1e}"), "max|<V,e>|_outside_S": round(lem4, 3),
                                   "error<U,e>_in_S": float(f"{U_in:.0e}"),
                                   "max|<U,e>|_outside_S": round(U_out, 3)}

fails = not last_line_ok and not minus_ok and not third
print(json.dumps({
    "id": "W5", "printed": "fails" if fails else "holds",
    "corrected": "last line (-1)^{b[n+2]+1}; ReLU(a_r+b_r<U,A>); <U,e_{j,b}>=1(b=1) for j in S only",
    "theorem": "survives" if plus_ok and thm else "unknown",
    "numbers": {"plus_sign_gives_(-1)^(s+1)_k<=60": bool(plus_ok), "last_line_sign_right": bool(last_line_ok),
                "minus_sign_right": bool(minus_ok), "minus_values_k=6": minus_values,
                "inner_product_zero_outside_S": bool(third),
                "effect_of_outside_S_on_<U,A>": float(f"{effect:.1e}"), "networks": stats}}))
