"""KS-3. "Transformers Provably Solve Parity Efficiently with Chain of Thought" (Kim and Suzuki)

Read: the extracted text, lines 127-135 (Proposition 3), 107-123 (loss of Theorem 2 with 1/2) and
277-333 (Appendix A).
Quote (lines 129-131): "for the loss F_h(theta) := E_x[(h(x) - f_theta(x))^2] where h is chosen uniformly at
random from H, the gradient variance is bounded as ... <= F(theta)^2/|H|"

Readings.
1: loss (h - f)^2, H bounded by 1 (parities; the use made of it in the paper).
2: loss (h - f)^2, H bounded by another constant M ("bounded real-valued functions").
3: loss (h - f)^2 / 2 and E h^2 <= 1 (not printed here; it is the loss of Theorem 2).

Date 2026-11-20. Sizes (d, k) = (5, 2) and (7, 3), exact rationals, all 2^d inputs.
Result: As printed the bound fails for parities: a linear model reaches 4 (1 - 1/|H|) times the right side.
The gradient of (h - f)^2 carries a factor 2, so the constant is 4, and functions bounded by M add M^2.
With the loss (h - f)^2 / 2 and E h^2 <= 1 the printed bound holds. Theorem 2 has its own proof, with the
loss 1/2 (h - f)^2, and uses no constant from here.
"""
import json
from fractions import Fraction as Fr
from itertools import combinations, product
from math import prod


def variance(d, k, scale, loss_factor):
    """Exact Var(theta; H), and F^2/|H|, for H = {scale * parity}, f_theta = sum_p theta_p p(x)."""
    X = list(product((-1, 1), repeat=d))
    P = list(combinations(range(d), k))
    val = [[prod(x[i] for i in p) for p in P] for x in X]           # grad_theta f(x)
    theta = [Fr(i % 5 - 2, 7) for i in range(len(P))]
    f = [sum(t * v for t, v in zip(theta, row)) for row in val]
    F2 = Fr(sum(v * v for row in val for v in row), len(X))         # E |grad f|^2, the tight F(theta)^2
    # class: pairwise orthogonal, bounded by scale
    for a, b in combinations(range(min(6, len(P))), 2):
        assert sum(row[a] * row[b] for row in val) == 0
    grads = []
    for h in range(len(P)):
        # grad of loss_factor * E (h - f)^2 = -2 loss_factor E[(h - f) grad f]
        r = [scale * row[h] - fx for row, fx in zip(val, f)]
        grads.append([-2 * loss_factor * sum(ri * row[j] for ri, row in zip(r, val)) / len(X)
                      for j in range(len(P))])
    mean = [sum(g[j] for g in grads) / len(P) for j in range(len(P))]
    var = sum(sum((g[j] - mean[j]) ** 2 for j in range(len(P))) for g in grads) / len(P)
    return var, F2 / len(P), len(P)


out, ok1, ok2, ok3 = {}, True, True, True
for d, k in ((5, 2), (7, 3)):
    v1, bound, size = variance(d, k, Fr(1), Fr(1))
    v2, _, _ = variance(d, k, Fr(3, 2), Fr(1))
    v3, _, _ = variance(d, k, Fr(1), Fr(1, 2))
    ok1 &= v1 <= bound
    ok2 &= v2 <= bound
    ok3 &= v3 <= bound
    assert v1 == 4 * (1 - Fr(1, size)) * bound and v1 <= 4 * bound      # the corrected form holds
    out[f"d{d}k{k}"] = {"H": size, "ratio_h_le_1": float(v1 / bound), "ratio_h_le_1.5": float(v2 / bound),
                        "ratio_half_loss": float(v3 / bound)}
printed = "holds" if (ok1 or ok2) else "fails"
out["half_loss_reading_holds"] = bool(ok3)
print(json.dumps({"id": "KS-3", "printed": printed,
                  "corrected": r"\mathrm{Var} \le 4 F(\theta)^2 \sup_h E h^2 / |H|, or the printed bound for "
                               r"\frac12 E (h-f)^2 with E h^2 \le 1",
                  "theorem": "survives", "numbers": out}))
