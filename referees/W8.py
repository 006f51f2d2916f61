"""W8: the index in Lemma 9 (attention output at zero attention weights), and Lemma 8.

Paper: extracted text (From Sparse Dependence to Sparse Attention: Unveiling How
Chain-of-Thought Enhances Transformer Sample Efficiency). Lines read: 76-120 (Definitions 1-6), 148-156
(Assumption 1), 752-763 (Lemmas 8, 9), 833-860 (Lemma 14 and its proof).
Quote: "A[A^(t)](E(b))[i] = (1/i) sum_{j=1}^i e_{i,b[i]}".
Readings: (a) literal, the summand does not depend on j, so the mean is e_{i,b[i]}; (b) e_{j,b[j]}, as
Definition 4 gives at A = 0 and as the proof of Lemma 14 uses. The mask is read as strictly lower
triangular.
Date: 2026-11-20. Sizes: (n, k, d) = (5, 3, 23), (6, 2, 41), hypercube embeddings; every input. Lemma 8:
finite differences in A at W of Assumption 1.
Result: The literal form equals the attention output only at i = 1. With e_{j,b[j]} it holds to rounding.
Lemma 8 holds: the gradient with respect to A is zero at initialization. Lemma 14 uses the corrected index,
so nothing downstream changes.
"""
import itertools
import json

import numpy as np


def attention(X, A):
    """Definition 4: X softmax(C + X^T A X), columns are queries, C = -inf where key > query."""
    T = X.shape[1]
    Z = X.T @ A @ X + np.where(np.tri(T, T, -1) > 0, -np.inf, 0.0)
    P = np.exp(Z - Z.max(0))
    return X @ (P / P.sum(0))


rng = np.random.default_rng(8)
worst_lit, least_lit, worst_fix, worst_grad, at_one = 0.0, np.inf, 0.0, 0.0, 0.0
for n, S, d in ((5, (4, 1, 3), 23), (6, (5, 2), 41)):
    k = len(S)
    T = n + k + 1
    e = rng.choice([-1, 1], size=(T, 2, d)) / np.sqrt(d)
    m, eps = 2 * k, 0.1
    nu = rng.choice([-eps, eps], size=(2 * m, k, 2))
    W1 = np.einsum("rib,ibd->rd", nu, e[n:n + k])
    W = np.hstack([W1, np.zeros((2 * m, d))])                       # Assumption 1
    h = np.r_[np.full(m, 1 / (2 * m)), np.full(m, -1 / (2 * m))]
    for x in itertools.product((0, 1), repeat=n):
        b = [*x, 0]
        for i in range(n, n + k):
            b.append(b[i] ^ b[S[i - n] - 1])
        X = e[np.arange(T), b].T
        out = attention(X, np.zeros((d, d)))
        for i in range(1, T + 1):
            lit = X[:, i - 1]
            fix = X[:, :i].mean(1)
            gap = np.abs(out[:, i - 1] - lit).max()
            worst_fix = max(worst_fix, np.abs(out[:, i - 1] - fix).max())
            if i == 1:
                at_one = max(at_one, gap)
            else:
                worst_lit = max(worst_lit, gap)
                least_lit = min(least_lit, gap)
    # Lemma 8: directional derivative of T(b)[i] in A at A = 0, last input
    dA = rng.normal(size=(d, d))

    def net(A):
        return h @ np.maximum(W @ np.vstack([X, attention(X, A)]), 0)
    worst_grad = max(worst_grad, np.abs((net(1e-4 * dA) - net(-1e-4 * dA)) / 2e-4)[n:].max())

print(json.dumps({
    "id": "W8", "printed": "fails" if least_lit > 1e-9 else "holds",
    "corrected": "\\frac1i\\sum_{j\\le i} e_{j,\\mathbf b[j]}",
    "theorem": "untouched" if worst_fix < 1e-12 and worst_grad < 1e-9 else "unknown",
    "numbers": {"literal_gap_at_i=1": float(at_one), "literal_gap_i>=2_smallest": round(float(least_lit), 4),
                "literal_gap_i>=2_largest": round(float(worst_lit), 4),
                "corrected_error": float(f"{worst_fix:.1e}"), "lemma8_gradient": float(worst_grad),
                "lemma8": "holds"}}))
