"""Kim and Suzuki."""

import math

import polars as pl

from findings.finding import Finding, Table, count, ends, frame, measured, require

SUPERVISIONS = {
    "direct": "the answer alone",
    "free": "its own chain",
    "forced": "teacher forcing",
    "consistent": "self-consistency",
}


def hardness() -> Table:
    found, rows = measured("KS-7"), []
    for learner in ("MLP, GD", "MLP, Adam", "transformer, GD", "transformer, Adam"):
        names = (
            "|Q|, run by run and along the mean path",
            "targets in Q whose weights differ in any bit at any step",
            "exact loss, floor Pr(Q) - 1/|P| ≥",
        )
        hidden, differ, loss = (found[f"{learner}: {name}"] for name in names)
        rows.append([learner, count(hidden), count(differ), f"{loss:.2f}"])
    return ["learner, optimizer", "targets hidden", "of these with other weights", "exact loss"], rows


def hardness_values() -> dict[str, str]:
    found = measured("KS-7")
    require(all(row[2] == "0" for row in hardness()[1]), "the weights are the same to the last bit")
    require(found["the same with a chain, same oracle, rule and queries: answers right ≥"] == 1, "a chain is learned")
    return {}


def four_ways() -> Table:
    rows = []
    for k in (8, 16, 32):
        last = ends(f"kim-suzuki/exp-k{k}", "lesson", "seed")
        counts = [last.filter((pl.col("lesson") == name) & (pl.col("accuracy") >= 1)).height for name in SUPERVISIONS]
        members = last.filter(lesson="free").height
        rows.append([str(k), *(f"{each} of {members}" for each in counts)])
    return ["k", *SUPERVISIONS.values()], rows


def filter_range() -> Table:
    data, rows = frame("kim-suzuki/filter-range"), []
    strings = sorted(data["strings"].unique())
    for eps in sorted(data["threshold"].unique()):
        cells = [data.filter((pl.col("threshold") == eps) & (pl.col("strings") == n))["accuracy"] for n in strings]
        rows.append([f"{eps:g}", *(f"{(cell >= 1).sum()} of {len(cell)}" for cell in cells)])
    return ["eps0", *(f"{n} strings" if n > 1 else "one string" for n in strings)], rows


def local_exponents() -> Table:
    """Between neighbouring sizes; one line through all of them hides the bend."""
    rows = []
    for (regime,), group in frame("kim-suzuki/exponent", "smallest").group_by("regime", maintain_order=True):
        before = None
        for _, bits, smallest, law in group.sort("bits").rows():
            now = (math.log(bits), math.log(smallest), math.log(law))
            slopes = ["", ""]
            if before:
                slopes = [f"{(now[i] - before[i]) / (now[0] - before[0]):.2f}" for i in (1, 2)]
            rows.append([str(regime), str(bits), count(smallest), slopes[0], slopes[1], f"{smallest / law:.2f}"])
            before = now
    head = ["sparsity", "d", "smallest n", "local exponent", "of the noise law", "smallest n / noise law"]
    return head, rows


def adversary() -> Table:
    rows: dict[str, dict[str, str]] = {}
    for name, value in measured("KS-29").items():
        if "seeds with every answer close" in name:
            radius, kind = name.split(":")[0].removeprefix("radius ").split(", ")
            rows.setdefault(radius, {})[kind] = count(value)
    head = ["error / radius", "seeds right of 10, random error", "seeds right of 10, adversary"]
    return head, [[radius, row["random"], row["adversarial"]] for radius, row in rows.items()]


FINDINGS = [
    Finding(
        "Hardness without a chain",
        "The oracle may err a little, and returns the average gradient over all parities whenever that is "
        "close enough to the true one. The weights are then the same to the last bit at every step for all "
        "targets that it hides. With a chain the same oracle, optimizer and number of queries teach every "
        "tested target.",
        hardness,
        ("KS-7",),
        hardness_values,
    ),
    Finding(
        "Four ways to teach, at the published size",
        "Each cell counts the secrets that are solved. The paper shows one run, in which the model's own "
        "chain solves the smallest sparsity; here it does so for some secrets only. The share of the "
        "prediction loss that the paper leaves open is taken as the loss of the whole unfiltered chain.",
        four_ways,
        ("kim-suzuki/exp-k8", "kim-suzuki/exp-k16", "kim-suzuki/exp-k32"),
        picture="kim-suzuki/exp-k32",
    ),
    Finding(
        "The range of the filter",
        "A level is tested here after it was zeroed. With this reading the filter works between one and two, "
        "and needs several strings.",
        filter_range,
        ("KS-23", "kim-suzuki/filter-range"),
        picture="kim-suzuki/filter-range",
    ),
    Finding(
        "How many samples one step needs",
        "The local exponents change along the curve, so no single exponent is given. For the fixed sparsity "
        "the smallest number of samples stays a nearly constant fraction of the noise law at the larger "
        "sizes.",
        local_exponents,
        ("KS-17", "kim-suzuki/exponent"),
        picture="kim-suzuki/exponent",
    ),
    Finding(
        "An adversary in the gradient",
        "The adversary of LI-25, against the filtered steps of Theorem 7.",
        adversary,
        ("KS-29",),
    ),
]
