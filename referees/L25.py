"""L25: Corollary 5.1 claims "any length L <= |X|"; does a sentence of length |X| exist?

Paper: "Transformers Provably Learn Chain-of-Thought Reasoning with Length Generalization" (extracted
text; its abstract begins "The ability to
reason lies at the core of artificial intelligence"; LEGO state tracking). Lines read: 300-330 (Def. 2.2),
420-445 (Assumption 3.2), 1030-1090 (Theorem 5.1, Corollary 5.1, the paragraph after it), 29566-29600
(Theorem F.1).
Quote: "for any length L <= |X|, the model F^(T_K) trained via Algorithm 2 achieves".
Readings: (a) literal, L = |X| included; (b) "length" means a length for which the task exists. The next
lines of the paper say so: "the longest feasible chain scales with the variable size: L+1 <= |X|".
Date: 2026-11-20. Sizes: |X| = 3, 4, 5, 6 by enumeration; |X| = 3..4000 by arithmetic.
Result: A length-L sentence uses L+1 distinct variables, so L = |X| has no sentence and the literal range is
one too long. Reading (b), which the paper states itself two lines later, leaves no empty case, so the entry
is one of wording. The same overshoot is larger in Theorem 5.1: for the last stage k, length 2^(k+1) can
exceed |X| - 1. This file does not test the accuracy claim itself.
"""
import itertools
import json
from math import perm

# Assumption 3.2, item 2: x_0..x_L drawn uniformly from X without replacement.
enumerated = {}
for nx in (3, 4, 5, 6):
    for L in range(1, nx + 1):
        c = sum(1 for _ in itertools.permutations(range(nx), L + 1))
        assert c == perm(nx, L + 1)
        enumerated[(nx, L)] = c

literal_ok = all(perm(nx, L + 1) > 0 for nx in range(3, 200) for L in range(1, nx + 1))
feasible_ok = all(perm(nx, L + 1) > 0 for nx in range(3, 200) for L in range(1, nx))

# Theorem 5.1: stages 1 <= k < log2|X|. Stage k trains on length 2^k, and F^(T_k) solves length 2^(k+1).
train_feasible, covers, overshoot, exact_end = True, True, 0, []
for nx in range(3, 4001):
    K = max(k for k in range(1, 13) if 2**k < nx)
    train_feasible &= 2**K + 1 <= nx              # enough variables to draw a length-2^K sentence
    covers &= 2 ** (K + 1) >= nx - 1              # the last stage reaches every feasible length
    if 2 ** (K + 1) > nx - 1:
        overshoot += 1                            # (11) is then stated for a length without a sentence
    else:
        exact_end.append(nx)

printed = "holds" if feasible_ok else "fails"
print(json.dumps({
    "id": "L25", "printed": printed, "corrected": "L \\le |\\mathcal X|-1",
    "theorem": "untouched",
    "numbers": {"reading_that_holds": "(b) feasible lengths, L+1 <= |X|, as said after the corollary",
                "literal_range_has_sentences": literal_ok,
                "sentences_at_L=|X|": {nx: enumerated[(nx, nx)] for nx in (3, 4, 5, 6)},
                "sentences_at_L=|X|-1": {nx: enumerated[(nx, nx - 1)] for nx in (3, 4, 5, 6)},
                "training_stages_feasible": train_feasible, "last_stage_covers_all_feasible": covers,
                "thm5.1_last_stage_length_infeasible_for": f"{overshoot} of 3998 sizes |X|",
                "sizes_where_it_is_feasible": exact_end[:8]}}))
