"""RS-21. "Transformers with RL or SFT Provably Learn Sparse Boolean Functions, But Differently" (Lyu et al.)

Read: the extracted text, lines 167-172 (Eq. 7), 203-220 (SFT loss), 770-801 (Lemma E.1, Eqs. 50-55),
803-833 (Lemma E.2), 857-863 (use).
Quote (line 772): "if for all p in [d_{t-1}] the parameter has the form W_{N_{t-2}+p, N_{t-1}+l} = c for some
constant c, then" (Eq. 50, with gamma at the generated tokens y-hat)

Readings.
1 (printed): the weights of the column of token l are equal; the columns of lower levels are free. gamma is
  Eq. 7 at y-hat, so its label is phi_2(y-hat_{i1}, y-hat_{i2}).
2: all columns of all levels are equal (the initialization).
3: as 1, with y-hat^(t-1) = y-tilde^(t-1) added (condition (ii) of Lemma E.2, the only place of use).
4: as 1, with the label of gamma replaced by the true label y-tilde_l (not Eq. 7).

Date 2026-11-20. Sizes: t = 2, (d, k) = (9, 8) and (11, 8), all 2^d inputs; PARITY, AND, OR. The gradient of
the hinge loss is taken by central differences. Readings 1 and 4 use random lower columns, where part of the
generated tokens is wrong.
Result: Reading 1 fails, for single x and in expectation: the true gradient carries the true label, gamma
carries the label of the generated tokens, and they have opposite signs for some x. Eq. 54 loses the label in
its last line. Readings 2, 3 and 4 hold. Lemma E.2 and Theorem 3.3 use reading 3 (and 2 at the start), so they
survive.
"""
import json
import numpy as np

PSI = {"parity": (lambda z: z ** 2, lambda z: 2 * z),
       "and": (lambda z: np.maximum(z, 0), lambda z: 1. * (z > 0)),
       "or": (lambda z: np.minimum(z, 0) + 1, lambda z: 1. * (z < 0))}
PHI2 = {"parity": lambda a, b: a * b, "and": lambda a, b: (a * b + a + b - 1) / 2,
        "or": lambda a, b: (-a * b + a + b + 1) / 2}


def soft(w):
    e = np.exp(w - w.max(0))
    return e / e.sum(0)


def test(d, kind, lower, seed):
    """Largest gap between both sides of Eq. 50 over x, p, p', l; for gamma (Eq. 7) and for the true label."""
    rng = np.random.default_rng(seed)
    k1, D = 7, 4
    X = np.array([[1 - 2 * (i >> j & 1) for j in range(d)] for i in range(2 ** d)], float)
    psi, dpsi, f = *PSI[kind], PHI2[kind]
    y1 = f(X[:, 0:8:2], X[:, 1:8:2])                                # true level 1
    y2 = f(y1[:, 0::2], y1[:, 1::2])                                # true level 2 (labels)
    W1 = {"random": 2 * rng.normal(size=(d, D)), "uniform": np.ones((d, D)),
          "learned": np.where(np.arange(d)[:, None] // 2 == np.arange(D), 5., -5.)}[lower]
    yh = np.where(2 * psi(X @ soft(W1)) - 1 > 0, 1., -1.)           # generated level 1

    def L(w, l):                                                    # hinge loss of token l, every x
        q = 2 * psi(yh @ soft(w)) - 1
        return np.maximum(0, 1 - q * y2[:, l]) / k1

    gap = gap_true = mean_gap = 0.
    for l in (0, 1):
        w = np.full(D, .3)
        h, g = 1e-6, []
        for p in range(D):
            e = np.eye(D)[p] * h
            g.append(-(L(w + e, l) - L(w - e, l)) / 2 / h)
        g = np.array(g).T
        xi = yh.mean(1)
        use = abs(xi) > 1e-9                                        # away from the kink of psi at xi = 0
        lab = f(yh[:, 2 * l], yh[:, 2 * l + 1])
        gam = (2 / k1 * dpsi(xi) * lab)[:, None] * yh
        tru = (2 / k1 * dpsi(xi) * y2[:, l])[:, None] * yh
        for p in range(D):
            for r in range(D):
                a = g[:, p] - g[:, r]
                b = (gam[:, p] - gam[:, r]) / D
                c = (tru[:, p] - tru[:, r]) / D
                gap = max(gap, abs(a - b)[use].max())
                gap_true = max(gap_true, abs(a - c)[use].max())
                mean_gap = max(mean_gap, abs((a - b)[use].sum() / len(X)))
    return float(gap), float(gap_true), float(mean_gap), float((yh != y1).mean())


out, ok = {}, {1: True, 2: True, 3: True, 4: True}
for d in (9, 11):
    for kind in PSI:
        r = test(d, kind, "random", d)
        u = test(d, kind, "uniform", d)
        s = test(d, kind, "learned", d)
        assert s[3] == 0
        ok[1] &= r[0] < 1e-6
        ok[4] &= r[1] < 1e-6
        ok[2] &= u[0] < 1e-6
        ok[3] &= s[0] < 1e-6
        out[f"{kind},d={d}"] = {"gap_printed": round(r[0], 5), "gap_in_expectation": round(r[2], 5),
                                "wrong_tokens": round(r[3], 3), "gap_all_equal": float('%.1g' % u[0]),
                                "gap_correct_prefix": float('%.1g' % s[0]),
                                "gap_true_label": float('%.1g' % r[1])}
out["readings_1_to_4_hold"] = [ok[i] for i in (1, 2, 3, 4)]
print(json.dumps({"id": "RS-21", "printed": "holds" if ok[1] else "fails",
                  "corrected": r"add \hat y^{(t-1)}=\tilde y^{(t-1)}, or replace the label "
                               r"\phi_2(\hat y_{i_1},\hat y_{i_2}) in \gamma by \tilde y_l",
                  "theorem": "survives" if ok[2] and ok[3] else "unknown", "numbers": out}))
