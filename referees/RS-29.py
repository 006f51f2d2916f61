"""RS-29. "Transformers with RL or SFT Provably Learn Sparse Boolean Functions, But Differently" (Lyu et al.)

Read: the extracted text, lines 86-90 (serial chain), 1516-1532 (Eqs. 170-173), 1542-1727 (Prop. H.1 and
proof, Eqs. 174-198), 1733-1741 (Section H.2: visible set of y_1), 1775 (Eq. 199).
Quote (line 1558): "the gradient always has positive value at relevant tokens (x_{i_j} and y_{j-1}) while
having negative values at irrelevant tokens (all other x_i's for i != i_j)"

Parts and readings.
(a) parent: for token y_j, j >= 2, the input parent is x_{i_j} (Prop. H.1; line 1594 says x_{i_j} for
    y_{j+1}). Eq. 170 and lines 86-90 say x_{i_{j+1}} for y_j, that is x_{i_{j+2}} for y_{j+1}.
(b) xi: Eq. 173 has xi_j = (S + y_j)/M, Eq. 171 gives (S + y_{j-1})/M. As the pre-activation of y_{j+1}
    (Eq. 176) the printed form is right, so (b) alone is a shift of a label. It is not counted.
(c) first column: "for every j >= 0" includes y_0. Line 1737 says that y_1 sees x_1..x_d only, with the
    parents x_{i_1} and x_{i_2}. Tested: the signs of the column of y_1 with the
    printed parents. With y_0 = 0 (its value before generation) the printed target y_0 x is 0 as well.
The verdict is on (a), for every column j >= 2. The order of the secret is not increasing, to
avoid accidents.

Date 2026-11-20. Sizes (d, k) = (6, 4), (9, 5), (11, 7); exact rationals over all x and all chains.
Result: (a) fails: for the chain of Eq. 170 the gradient of token y_j is positive at x_{i_{j+1}} and negative
at x_{i_j}. With the index corrected, Eqs. 185 and 187 are exact and all signs of Eq. 198 hold for j >= 1. The
first column has two input parents and no y_0; its signs are right as well. Prop. H.1 survives with the labels
corrected.
"""
import json
from fractions import Fraction as Fr
from itertools import product
from math import exp


def gradients(d, k, secret):
    """Exact E[2 xi ybar (z - xi)] for each token y_j and visible z; the means in Eqs. 185 and 187."""
    M = d + 1
    cols = {j: dict() for j in range(1, k)}
    form = {j: [Fr(0), Fr(0)] for j in range(2, k)}
    for x in product((-1, 1), repeat=d):
        S = sum(x)
        xi = Fr(S, d)
        bar = x[secret[0]] * x[secret[1]]
        for n in range(d):
            cols[1][n] = cols[1].get(n, 0) + 2 * xi * bar * (x[n] - xi)
        law = {1: xi ** 2, -1: 1 - xi ** 2}                     # y_1 sees the inputs only
        for j in range(2, k):
            new = {1: Fr(0), -1: Fr(0)}
            m = law[1] - law[-1]                                # m_{j-1}(S)
            form[j][0] += (d - 1) * S * S + S * (d - S * S) * m
            form[j][1] += d * (d + 1) - 2 * S * S + S * (d * d + d - 1 - S * S) * m
            for y, w in law.items():
                xi = Fr(S + y, M)
                bar = y * x[secret[j]]                          # secret[j] = i_{j+1}: Eq. 170
                for n in range(d):
                    cols[j][n] = cols[j].get(n, 0) + w * 2 * xi * bar * (x[n] - xi)
                cols[j]['y'] = cols[j].get('y', 0) + w * 2 * xi * bar * (y - xi)
                new[1] += w * xi ** 2
                new[-1] += w * (1 - xi ** 2)
            law = new
    return ({j: {z: v / 2 ** d for z, v in c.items()} for j, c in cols.items()},
            {j: [v / 2 ** d for v in f] for j, f in form.items()})


def pattern(col, parents):
    return all((v > 0) == (z in parents) and v != 0 for z, v in col.items())


out, ok_a, ok_fix, ok_first, ok_c, ok_form = {}, True, True, True, True, True
err = []
for d, k, secret in ((6, 4, [3, 0, 5, 1]), (9, 5, [7, 2, 4, 0, 8]), (11, 7, [5, 9, 0, 3, 10, 1, 6])):
    cols, form = gradients(d, k, secret)
    M = d + 1
    for j in range(2, k):
        ok_a &= pattern(cols[j], {secret[j - 1], 'y'})                  # printed: x_{i_j}, y_{j-1}
        ok_fix &= pattern(cols[j], {secret[j], 'y'})                    # Eq. 170: x_{i_{j+1}}, y_{j-1}
        c = Fr(2, d * M * M)
        ok_form &= cols[j]['y'] == c * form[j][0] and cols[j][secret[j]] == c * form[j][1]
        eta = 4.0
        w = {z: exp(eta if v > 0 else -eta) for z, v in cols[j].items()}
        tot = sum(w.values())
        for who in (secret[j], secret[j - 1]):
            gap = sum(abs(v / tot - (.5 if z in (who, 'y') else 0)) for z, v in w.items())
            err.append((who == secret[j], gap))
    ok_first &= pattern(cols[1], {secret[0], secret[1]})
    ok_c &= pattern(cols[1], {secret[0]})                               # printed parents of y_1: x_{i_1}, y_0
    out[f"d={d},k={k},token y_2"] = {"x_i2 (printed)": round(float(cols[2][secret[1]]), 5),
                                     "x_i3 (Eq. 170)": round(float(cols[2][secret[2]]), 5),
                                     "y_1": round(float(cols[2]['y']), 5)}
    out[f"d={d},k={k},token y_1"] = {"x_i1": round(float(cols[1][secret[0]]), 5),
                                     "x_i2": round(float(cols[1][secret[1]]), 5)}
out.update(a_printed_parents=ok_a, a_corrected_parents=ok_fix, formulas_185_187_exact=ok_form,
           c_printed_parents_of_y1=ok_c, first_column_signs_i1_i2=ok_first,
           softmax_error_corrected=round(max(e for f, e in err if f), 4),
           softmax_error_to_printed_parents=round(min(e for f, e in err if not f), 4))
print(json.dumps({"id": "RS-29", "printed": "holds" if ok_a else "fails",
                  "corrected": r"parents of y_{j+1}: y_j and x_{i_{j+2}} (j\ge1), \xi_{j+1}=(S+y_j)/M; y_1: "
                               r"x_{i_1}, x_{i_2}, \xi_1=S/d",
                  "theorem": "survives" if ok_fix and ok_first and ok_form else "unknown", "numbers": out}))
