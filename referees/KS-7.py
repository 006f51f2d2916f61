"""KS-7. "Transformers Provably Solve Parity Efficiently with Chain of Thought" (Kim and Suzuki)

Read: the extracted text, lines 45-47 and 115-123 (eps-approximate oracle, Theorem 2) and 321-333
(App. A, the oracle). The displayed cases are machine-extracted; the two conditions read "> eps" and
"otherwise".
Quote (lines 327-331): "the oracle always defaults to the mean gradient and does not reveal any information
on the true parity p, with probability at least" 1 - T Var / eps^2

Readings.
1 (printed): the mean gradient is returned when the true gradient is further than eps from it.
2 (as in Shamir 2018, which the sentence names): the two cases are exchanged.
Two properties are needed: (a) the answer is within eps of the true gradient (the definition of the oracle),
(b) Pr_p(the answer is the mean gradient) >= 1 - Var / eps^2 (T = 1; both sides are computed).

Date 2026-11-20. Sizes (d, k, n) = (7, 3, 90) and (9, 4, 200); a one-layer tanh net, several eps.
Result: The printed cases have neither property: where the mean is returned its error exceeds eps, and it is
returned to the few atypical targets only. With the cases exchanged both properties hold exactly, so this is
an exchange of the two lines and Theorem 2 does not depend on it.
"""
import json
from itertools import combinations
import numpy as np


def check(d, k, n, seed):
    rng = np.random.default_rng(seed)
    X = rng.choice([-1., 1.], (n, d))
    P = list(combinations(range(d), k))
    Y = np.array([X[:, list(p)].prod(1) for p in P])                  # |P| x n
    A, u = rng.normal(size=(6, d)) / 2, rng.normal(size=6)
    h = np.tanh(X @ A.T)
    f = h @ u
    J = np.hstack([h, ((1 - h ** 2) * u)[:, :, None].repeat(d, 2).reshape(n, -1) * np.tile(X, (1, 6))])
    G = (f - Y) @ J / n                            # gradient of L_{n,p} = 1/2 ||p - f||_n^2
    eps0 = 1e-6                                    # check of one gradient entry by a finite difference
    A2 = A.copy()
    A2[2, 1] += eps0
    num = (((np.tanh(X @ A2.T) @ u - Y[0]) ** 2).mean() - ((f - Y[0]) ** 2).mean()) / 2 / eps0
    assert abs(num - G[0, 6 + 2 * d + 1]) < 1e-5
    mean = G.mean(0)
    dev = np.linalg.norm(G - mean, axis=1)
    var = (dev ** 2).mean()
    res = []
    for c in (1.1, 1.3, 2.0, 3.0):
        eps = c * np.sqrt(var)
        for name, mean_when in (("printed", dev > eps), ("exchanged", dev <= eps)):
            ans = np.where(mean_when[:, None], mean, G)
            err = np.linalg.norm(ans - G, axis=1).max()
            a = err <= eps
            hidden = mean_when.mean()
            b = hidden >= 1 - var / eps ** 2
            res.append(dict(oracle=name, eps_over_sd=c, a=bool(a),
                            max_error_over_eps=round(float(err / eps), 3),
                            fraction_hidden=round(float(hidden), 4), promised=round(1 - 1 / c ** 2, 4),
                            b=bool(b)))
    return res


rows = check(7, 3, 90, 3) + check(9, 4, 200, 5)
for r in rows:
    print(r)
ok = {o: all(r['a'] and r['b'] for r in rows if r['oracle'] == o) for o in ("printed", "exchanged")}
pr = [r for r in rows if r['oracle'] == 'printed']
print(json.dumps({"id": "KS-7", "printed": "holds" if ok["printed"] else "fails",
                  "corrected": r"mean gradient if \|\nabla L_{n,p} - E \nabla L_{n,p'}\| \le \varepsilon, "
                               r"\nabla L_{n,p} otherwise",
                  "theorem": "survives",
                  "numbers": {"exchanged_has_both_properties": ok["exchanged"],
                              "printed_max_error_over_eps": max(r['max_error_over_eps'] for r in pr),
                              "printed_fraction_hidden": [r['fraction_hidden'] for r in pr],
                              "promised_fraction_hidden": [r['promised'] for r in pr]}}))
