"""W1: which loss of Section 3.1 belongs to which setup?

Paper: extracted text (From Sparse Dependence to Sparse Attention: how chain-of-thought
enhances transformer sample efficiency). Lines read: 60-62 (data), 76-90 (Definitions 1, 2), 122-126 (loss),
390-398 (B.1.1), 676-682 (equation (2)).
Quote: "L(w) = l(T(b)[n+1], b[n+2]) and L(w) = sum ... for with and without CoT setup respectively".
Readings: (a) literal order (single term with CoT, sum without); (b) the order reversed.
Date: 2026-11-20. Sizes: (n, k) = (5, 3), (6, 2), (7, 4), all inputs, secret sets permuted once; and k = 1.
Result: Literally, the sum refers to b[n+k+1], but a sequence without CoT has n+2 entries, so the loss
without CoT is undefined for k >= 2; and with CoT the single term asks only for the first step b[S[n+1]],
which is not the parity. With the order reversed both losses are defined, and B.1.1 uses the sum for CoT.
The two forms coincide for k = 1. This is a swap of two words; no proof uses the printed order.
"""
import itertools
import json


def sequences(n, S, cot):
    """Definition 1 (cot=False) and Definition 2 (cot=True); b[1..] is stored from index 1."""
    for x in itertools.product((0, 1), repeat=n):
        b = [None, *x, 0]
        if cot:
            for i in range(n + 1, n + len(S) + 1):
                b.append(b[i] ^ b[S[i - n - 1]])
        else:
            p = 0
            for j in S:
                p ^= b[j]
            b.append(p)
        yield b


def single(n, k):
    return [(n + 1, n + 2)]


def summed(n, k):
    return [(i, i + 1) for i in range(n + 1, n + k + 1)]


def defined(terms, b):
    return all(t < len(b) and i < len(b) for i, t in terms)


rows, literal_ok, swapped_ok = {}, True, True
for n, S in ((5, (4, 1, 3)), (6, (5, 2)), (7, (6, 2, 7, 1))):
    k = len(S)
    cot, no = list(sequences(n, S, True)), list(sequences(n, S, False))
    par = [sum(b[j] for j in S) % 2 for b in no]
    sum_no_cot = all(defined(summed(n, k), b) for b in no)
    lit_target = sum(b[single(n, k)[-1][1]] == p for b, p in zip(cot, par)) / len(par)
    sum_target = sum(b[summed(n, k)[-1][1]] == p for b, p in zip(cot, par)) / len(par)
    swap_no = all(defined(single(n, k), b) and b[n + 2] == p for b, p in zip(no, par))
    # a one-step rule b[S[n+1]] is perfect for the literal CoT loss
    one_step = all(b[n + 2] == b[S[0]] for b in cot)
    literal_ok &= sum_no_cot and lit_target == 1
    swapped_ok &= swap_no and sum_target == 1 and all(defined(summed(n, k), b) for b in cot)
    rows[f"n={n},k={k}"] = {"sum_defined_without_CoT": sum_no_cot, "len_no_CoT": n + 2, "needs": n + k + 1,
                            "single_CoT_target=parity": lit_target, "single_CoT_target=b[S[n+1]]": one_step,
                            "last_sum_target_CoT=parity": sum_target}
k1_same = single(5, 1) == summed(5, 1)
print(json.dumps({
    "id": "W1", "printed": "holds" if literal_ok else "fails",
    "corrected": "the single term is the loss without CoT, the sum over i=n+1..n+k the loss with CoT",
    "theorem": "untouched" if swapped_ok else "unknown",
    "numbers": {"rows": rows, "reversed_order_consistent": swapped_ok, "same_for_k=1": k1_same}}))
