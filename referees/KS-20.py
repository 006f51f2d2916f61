"""KS-20. "Transformers Provably Solve Parity Efficiently with Chain of Thought" (Kim and Suzuki)

Read: the extracted text, lines 63 (k = 2^v), 87-97 (Section 2.2, TF, causal mask, chain), 152
(Section 3.2) and 176, 186-189 (Section 3.3, level mask). The chain is in Section 2.2; there is no 2.3.
Quote (lines 93-95): "the entire chain stops updating after at most k-1 steps, yielding the output"
TF^{(v)}(x_1, ..., x_d, 0, ..., 0; W) = (x^_1, ..., x^_{d+k-1}), with v = log2 k.

Readings.
1 (printed, Section 2.2): mask j < m, any W: TF^{(v)} is the recursively computed chain.
2 (Section 3.2, line 152): mask j < m: TF^{(k-1)} is the chain.
3 (Section 3.3): level mask j <= d_{h[m]-1}: TF^{(v)} is the chain.
4: mask j < m, but attention exactly on the two children (a limit that no finite W reaches).

Date 2026-11-20. Sizes (d, k) = (5, 4) and (11, 8), and k = 2 for comparison; random W and W = 0.
Result: Reading 1 fails for k >= 4: after v steps the last tokens still change. Readings 2, 3 and 4 hold
exactly. The exponent v in Section 2.2 is a slip for k - 1: the sentence before it and Section 3.2 say k - 1.
The theorems use the recursion or TF^{(k-1)} and are not touched.
"""
import json
import numpy as np

phi = lambda z: -np.cos(np.pi * z)


def levels(d, k):
    v, dl = int(np.log2(k)), [d]
    for l in range(1, v + 1):
        dl.append(dl[-1] + k // 2 ** l)
    return v, dl


def attention(d, k, W, mask):
    v, dl = levels(d, k)
    A = np.zeros((d + k - 1, d + k - 1))
    for m in range(d, d + k - 1):
        h = next(l for l in range(1, v + 1) if m < dl[l])
        see = m if mask == "causal" else dl[h - 1]
        e = np.exp(W[:see, m])
        A[m, :see] = e / e.sum()
    return A


def TF(A, x, d):                     # Eq. (1): all tokens at once, from the old tokens
    new = x.copy()
    new[d:] = phi(A[d:] @ x)
    return new


def chain(A, x, d):                  # the recursion of line 97
    x = x.copy()
    for m in range(d, len(x)):
        x[m] = phi(A[m] @ x)
    return x


def power(A, x, d, s):
    for _ in range(s):
        x = TF(A, x, d)
    return x


gap = {1: [], 2: [], 3: [], 4: []}
small = []
for d, k in ((5, 4), (11, 8), (7, 2)):
    v, dl = levels(d, k)
    rng = np.random.default_rng(d)
    x = np.zeros((d + k - 1, 40))
    x[:d] = rng.choice([-1., 1.], (d, 40))
    for W in (np.zeros((d + k - 1,) * 2), rng.normal(size=(d + k - 1,) * 2)):
        A = attention(d, k, W, "causal")
        g1 = abs(power(A, x, d, v) - chain(A, x, d)).max()
        if k > 2:
            gap[1].append(float(g1))
            gap[2].append(float(abs(power(A, x, d, k - 1) - chain(A, x, d)).max()))
            A3 = attention(d, k, W, "level")
            gap[3].append(float(abs(power(A3, x, d, v) - chain(A3, x, d)).max()))
        else:
            small.append(float(g1))
    if k > 2:
        A4, prev, m = np.zeros_like(A), list(range(k)), d
        while len(prev) > 1:
            new = []
            for a, b in zip(prev[::2], prev[1::2]):
                A4[m, [a, b]] = .5
                new.append(m)
                m += 1
            prev = new
        gap[4].append(float(abs(power(A4, x, d, v) - chain(A4, x, d)).max()))
holds = max(gap[1]) < 1e-12
assert max(gap[2]) < 1e-12 and max(gap[3]) < 1e-12
print(json.dumps({"id": "KS-20", "printed": "holds" if holds else "fails",
                  "corrected": r"\mathrm{TF}^{(k-1)} under the mask j < m; \mathrm{TF}^{(v)} only under the "
                               r"level mask of Section 3.3",
                  "theorem": "untouched",
                  "numbers": {"gap_causal_v_steps": [round(g, 4) for g in gap[1]],
                              "gap_causal_k-1_steps": max(gap[2]), "gap_level_mask_v_steps": max(gap[3]),
                              "gap_exact_children_v_steps": max(gap[4]), "gap_k=2": max(small)}}))
