"""L3: is the smoothed ReLU of Definition 3.4 continuously differentiable?

Paper: "Transformers Provably Learn Chain-of-Thought Reasoning with Length Generalization" (extracted
text; its abstract begins "The ability to
reason lies at the core of artificial intelligence"; LEGO state tracking). Lines read: 466-530 (Def. 3.4),
1950-1970 (Fact A.1), 3640-3680 (Assumption B.2), 8320-8400 (Fact D.1, Lemma D.1), 4350-4365 (use of the
smoothness), 8906-8935 (Lemma D.7).
Quote: "Define a continuously differentiable variant of the ReLU activation function".
Readings: (a) Def. 3.4 as printed, q even; (b) the same with q odd; (c) the activation of Assumption B.2;
(d) the usual smoothed ReLU (0 for x <= 0), which is not printed here but is what the words describe. The
Facts are checked in two regimes: no pre-activation at a kink, and one pre-activation at -rho.
Date: 2026-11-20. Sizes: q = 4, 6, 10 and 3, 5; rho = 1/7, 2/9; models with 3 variables and 2 and 3 values.
Result: The function as printed is continuous, but its slope jumps from 0 to -1 at x = -rho for every even
q, so it is not continuously differentiable. The gradient formulas of Facts A.1 and D.1 hold wherever no
pre-activation equals -rho, and at such a point the loss has two one-sided derivatives. The variant of
Assumption B.2 has a jump in value at -varpi. The Facts survive almost everywhere; the word does not.
"""
import itertools
import json
from fractions import Fraction as F

import numpy as np

# ---- 1. exact one-sided values and slopes of the printed branches ----


def def34(q, rho):
    """Branches of Def. 3.4 as (value, slope) functions, from left to right, with their joints."""
    left = (lambda x: rho / q, lambda x: F(0))
    mid = (lambda x: x**q / (rho ** (q - 1) * q), lambda x: x ** (q - 1) / rho ** (q - 1))
    right = (lambda x: x - rho * (1 - F(1, q)), lambda x: F(1))
    return [left, mid, right], [-rho, rho]


def b2(q, rho, w, B):
    """Branches of Assumption B.2 as printed (the fourth one is x^q/(rho^(q-1) q), as in Def. 3.4)."""
    br = [(lambda x: w * B, lambda x: F(0)), (lambda x: -w * x, lambda x: -w),
          (lambda x: x * x / 2, lambda x: x),
          (lambda x: x**q / (rho ** (q - 1) * q), lambda x: x ** (q - 1) / rho ** (q - 1)),
          (lambda x: x - rho * (1 - F(1, q)), lambda x: F(1)),
          (lambda x: B - rho * (1 - F(1, q)), lambda x: F(0))]
    return br, [-B, -w, F(0), rho, B]


def plain(q, rho):
    """The usual smoothed ReLU: 0, power, line."""
    br, _ = def34(q, rho)
    return [(lambda x: F(0), lambda x: F(0)), br[1], br[2]], [F(0), rho]


def jumps(branches, joints):
    return [(branches[i + 1][0](x) - branches[i][0](x), branches[i + 1][1](x) - branches[i][1](x))
            for i, x in enumerate(joints)]


slope_jump_even, c1 = [], {"a": True, "b": True, "c": True, "d": True}
value_jump_b2 = []
for rho in (F(1, 7), F(2, 9)):
    for q in (4, 6, 10):
        j = jumps(*def34(q, rho))
        slope_jump_even.append(j[0][1])
        c1["a"] &= all(v == 0 and s == 0 for v, s in j)
        assert all(v == 0 for v, _ in j) and j[1] == (0, 0)          # continuous, and smooth at +rho
        j = jumps(*b2(q, rho, F(1, 1000), F(5)))
        value_jump_b2.append(j[1][0])
        c1["c"] &= all(v == 0 and s == 0 for v, s in j)
        c1["d"] &= all(v == 0 and s == 0 for v, s in jumps(*plain(q, rho)))
    for q in (3, 5):
        c1["b"] &= all(v == 0 and s == 0 for v, s in jumps(*def34(q, rho)))


# ---- 2. Facts A.1 and D.1 against finite differences, token 5 only ----
def act(x, q, rho):
    return np.where(x <= -rho, rho / q, np.where(x <= rho, x**q / (rho ** (q - 1) * q),
                                                 x - rho * (1 - 1 / q)))


def slope(x, q, rho):
    return np.where(x <= -rho, 0.0, np.where(x <= rho, x ** (q - 1) / rho ** (q - 1), 1.0))


def sentences(nx, ny):
    """All length-1 and length-2 contexts of the cyclic task on nx = 3 variables: (clauses, target)."""
    d = nx + 2 * ny

    def emb(*idx):
        z = np.zeros((5, d))
        for slot, i in idx:
            z[slot, i] = 1
        return z.ravel()
    out = []
    for perm in itertools.permutations(range(nx), 3):
        for g1, g2, y0 in itertools.product(range(ny), repeat=3):
            p1 = emb((0, perm[1]), (1, nx + g1), (2, perm[0]))
            p2 = emb((0, perm[2]), (1, nx + g2), (2, perm[1]))
            y1 = (y0 + g1) % ny
            y2 = (y1 + g2) % ny
            a0 = emb((3, perm[0]), (4, nx + ny + y0))
            a1 = emb((3, perm[1]), (4, nx + ny + y1))
            out.append((np.array([p1, p2, a0]), nx + ny + y1))
            out.append((np.array([p1, p2, a0, a1]), nx + ny + y2))
    return d, out


def loss(W, b, Q, data, q, rho, grads=False):
    """Mean cross-entropy of token 5 and, if asked, the two printed gradient formulas (signs: -grad)."""
    tot, gW, gQ = 0.0, np.zeros_like(W), np.zeros_like(Q)
    for Z, y in data:
        s = Z[-1] @ Q @ Z.T
        a = np.exp(s - s.max()); a /= a.sum()
        lam = W @ (a @ Z) + b                                       # (13)
        Fv = act(lam, q, rho).sum(1)
        p = np.exp(Fv - Fv.max()); p /= p.sum()
        tot -= np.log(p[y])
        if grads:
            E = -p; E[y] += 1
            es = E[:, None] * slope(lam, q, rho)
            gW += es[:, :, None] * (a @ Z)                          # Fact A.1
            xi = np.einsum("jr,jrc,kc->k", es, W, Z)                # (41)
            gQ += np.outer(Z[-1], (a * (xi - a @ xi)) @ Z)          # Fact D.1
    n = len(data)
    return (tot / n, gW / n, gQ / n) if grads else tot / n


rng = np.random.default_rng(3)
err_generic, kink = 0.0, []
for ny, q, rho in ((2, 4, 0.3), (3, 6, 0.25)):
    d, data = sentences(3, ny)
    m, h = 2, 1e-6
    W = rng.normal(size=(d, m, 5 * d)) * 0.6
    b = rng.normal(size=(d, m)) * 0.2
    Q = rng.normal(size=(5 * d, 5 * d)) * 0.3
    _, gW, gQ = loss(W, b, Q, data, q, rho, True)
    for _ in range(5):
        dW, dQ = rng.normal(size=W.shape), rng.normal(size=Q.shape)
        fd = (loss(W + h * dW, b, Q, data, q, rho) - loss(W - h * dW, b, Q, data, q, rho)) / (2 * h)
        fq = (loss(W, b, Q + h * dQ, data, q, rho) - loss(W, b, Q - h * dQ, data, q, rho)) / (2 * h)
        err_generic = max(err_generic, abs(fd + (gW * dW).sum()), abs(fq + (gQ * dQ).sum()))
    # one sentence, one neuron moved to Lambda = -rho: one-sided derivatives along its bias
    Z, y = data[5]
    s = Z[-1] @ Q @ Z.T
    a = np.exp(s - s.max()); a /= a.sum()
    bb = b.copy()
    bb[y, 0] = -rho - W[y, 0] @ (a @ Z)
    e = np.zeros_like(b); e[y, 0] = h
    one = [(Z, y)]
    base = loss(W, bb, Q, one, q, rho)
    right = (loss(W, bb + e, Q, one, q, rho) - base) / h
    left = (base - loss(W, bb - e, Q, one, q, rho)) / h
    kink.append(right - left)

fails = not c1["a"] and not c1["b"]
print(json.dumps({
    "id": "L3", "printed": "fails" if fails else "holds",
    "corrected": "continuous, and C^1 except at x=-\\varrho (slope 0 to -1); or use 0 for x\\le 0",
    "theorem": "survives" if err_generic < 1e-6 else "unknown",
    "numbers": {"slope_jump_at_minus_rho": [str(x) for x in sorted(set(slope_jump_even))],
                "C1_def34_even_q": c1["a"], "C1_def34_odd_q": c1["b"], "C1_assumption_B2": c1["c"],
                "C1_usual_smoothed_relu": c1["d"],
                "B2_value_jump_at_minus_varpi(varpi=1/1000)": str(value_jump_b2[0]),
                "fact_A1_D1_error_generic": float(f"{err_generic:.2e}"),
                "one_sided_derivative_gap_at_kink": [round(float(x), 4) for x in kink]}}))
