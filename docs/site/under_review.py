"""Claims and figures that an independent check contests, until the ledger is corrected.

Each id has one sentence: what is contested, and what will be done. The pages of the claims, the tables of the
papers, the results, the errata and docs/verdicts.md read it from here.
"""

from collections.abc import Iterable

CLAIMS = {
    "LI-13": "At the literal rate the first stage does put its weight on the children, as Lemma 7 says, so "
    "*teaches nothing* is too strong; the claim will say that their share of attention is too small for "
    "a right answer.",
    "LI-18": "Only a calibrated strength is tested; at the literal rate later stages do move trained weights, and "
    "this will be judged.",
    "LI-29": "The paper's alternative is the plain causal mask, not the absence of a mask; the causal mask will "
    "be judged.",
    "KS-17": "The exponents are straight lines through a curve, and success means the right sign here but a small "
    "error in Theorem 5; local slopes will be judged, with the same success on both sides.",
    "KS-23": "The range of eps0 depends on whether a level is tested before or after it is zeroed, and the proof "
    "tests it before; both readings will be judged.",
    "KS-24": "That other weights round to -1 is a measurement at finite d, and the paper speaks of sufficiently "
    "large d; this half will become a remark on finite size.",
    "RS-13": "The paper averages many trajectories per input and this claim samples one; several numbers of "
    "trajectories will be judged before the published figure is discussed.",
    "RS-24": "The proposition holds and is attained; only a line of its proof slips, and the claim will say so.",
    "RS-33": "A second computation finds the unfiltered learner stuck at more sizes, and at chance in the paper's "
    "own setting, as the authors say; the claim will be corrected.",
    "RS-37": "Rao-Blackwell's estimate is judged, which is not sampled RL; plain REINFORCE with several "
    "trajectories per input will be judged beside it.",
    "W14": "In a second computation the other scores were at most half of the target's, as printed; only the "
    "factor 1/i will stay an erratum.",
    "W22": "The position with the most attention is judged, and the paper shows how much it gets; longer training "
    "and the amount itself will be judged.",
    "W26": "The authors' code takes the minimum over answer tokens only, unlike Eq. 1 of the paper; both will be "
    "measured.",
    "L2": "Whether distractors of the symmetric group are substantial is judged by a bar of ours, and the paper "
    "compares growth rates; only *isomorphic to C_n* will stay an erratum.",
    "L12": "The predicate leads by more than Induction E.1(b) allows, and this is shown but not judged; it will "
    "get its own verdict.",
    "L16": "Both actions get equally many normalised steps, which is far less gradient-descent time for S5 than "
    "for C6; they will be compared at equal time and at equal loss.",
    "L17": "A part of Theorem 5.1 that is not met at this size is counted as if it held; its parts will be judged "
    "one by one.",
    "L21": "The printed rate is right in the regime of Assumption 5.1; the difference at finite n will become a "
    "remark on finite size.",
    "LI-20": "A second computation finds a loss spike at every transition, though padding alone causes none; the paper "
    "defines a stage by its padding, so its sentence is a fair report and this will become a remark.",
    "L25": "The next lines of the paper say L + 1 <= |X|; this is a slip of wording and will leave the errata.",
    "L14": "In a second computation the interval for epsilon is empty, but the part on c* is no contradiction; that "
    "part will be removed.",
    "W10": "In a second computation Lemma 12 is exact; it will leave the entry, which concerns Lemmas 14 and 17.",
    "W11": "In a second computation the bound on delta without the factor is true, and only its proof is loose; that "
    "half will be removed.",
}
NORM = (
    "All recorded runs train the decoder without a norm, and none reaches the paper's curve of C6; first runs "
    "with a norm do separate the two actions in several settings, and they will be recorded before the role "
    "of the group is discussed."
)
FIGURES = {
    "kim-suzuki/exponent": CLAIMS["KS-17"],
    "kim-suzuki/filter-range": CLAIMS["KS-23"],
    "rl-sft/finite-samples": "The rows of REINFORCE sample one trajectory per input, and the paper many; the "
    "number of trajectories will become an axis of the figure.",
    "rl-sft/label-noise": "The rows of REINFORCE sample one trajectory per input, and the paper many; both will "
    "be shown.",
    "wen/9": "With the chain the paper succeeds after far fewer sequences; one secret, one rate and bf16 products "
    "were run here, so four secrets and three rates will be run in float32 before the two are compared.",
    "lego/1a": NORM,
    "lego/epochs": NORM,
    "lego/separation": NORM,
    "lego/1b": "There is no control with as many extra steps at the first length; it will be run.",
}


def note(ids: Iterable[str]) -> str:
    """A box with the sentences of these claims and figures, each sentence once; empty if none is contested."""
    by_sentence: dict[str, list[str]] = {}
    for id in ids:
        if id in CLAIMS or id in FIGURES:
            by_sentence.setdefault((CLAIMS | FIGURES)[id], []).append(id)
    if not by_sentence:
        return ""
    lines = [f"{', '.join(found)}: {sentence}" for sentence, found in by_sentence.items()]
    return ":::{admonition} Under review\n:class: warning\n" + "\n\n".join(lines) + "\n:::"
