"""Log-ICoT."""

import polars as pl

from findings.finding import Finding, Table, count, ends, frame, measured, require


def stages() -> Table:
    law = frame("log-icot/2b", "law")
    starts = frame("log-icot/2b").join(law.select("stage", "step"), on=["stage", "step"])
    rows = []
    for stage, step, exact in law.rows():
        loss = starts.filter((pl.col("stage") == stage) & (pl.col("ensemble") == "decayed"))["loss"]
        spread = f"{loss.quantile(0.1):.3f} to {loss.quantile(0.9):.3f}"
        rows.append([str(stage), count(step), f"{exact:.3f}", f"{loss.mean():.3f}", spread])
    return ["stage", "first step", "loss, exact law", "loss, mean over seeds", "middle 80 % of seeds"], rows


def seeds() -> dict[str, str]:
    last = ends("log-icot/2b", "ensemble", "seed")
    require((last["accuracy"] == 1).all(), "every seed answers every held-out chain")
    return {"seeds": count(last.filter(ensemble="decayed").height)}


def solved() -> dict[tuple[float, int], tuple[int, int]]:
    """By strength and chains a stage: seeds with every answer right, and seeds."""
    data = frame("log-icot/success-map").group_by("strength", "samples")
    return {row[:2]: row[2:] for row in data.agg((pl.col("accuracy") >= 1).sum(), pl.len().alias("of")).rows()}


def strengths() -> Table:
    found = solved()
    columns = sorted({strength for strength, _ in found})
    head = ["chains per stage", *(f"K = {strength:g}" for strength in columns)]
    sizes = sorted({size for _, size in found})
    return head, [[count(size), *(str(found[strength, size][0]) for strength in columns)] for size in sizes]


def enough() -> dict[str, str]:
    found = solved()
    good = [size for (_, size), (right, members) in found.items() if right >= 0.9 * members]
    return {"enough": count(min(good)), "members": str(next(iter(found.values()))[1])}


def adversary() -> Table:
    found = measured("LI-25")
    words = (" seeds with every answer close", "radius ")
    rows: dict[str, dict[str, str]] = {}
    for name, value in found.items():
        if words[0] in name:
            radius, kind = name.split(":")[0].removeprefix(words[1]).split(", ")
            rows.setdefault(radius, {})[kind] = count(value)
    return ["error / radius", "seeds right of 10, random error", "seeds right of 10, adversary"], [
        [radius, row["random"], row["adversarial"]] for radius, row in rows.items()
    ]


def adversary_values() -> dict[str, str]:
    rows = {row[0]: row[2] for row in adversary()[1]}
    require(rows["0.5"] == "10", "half of the radius leaves every seed right")
    require(rows["1.5"] == "0", "one and a half times the radius leaves none")
    (radius,) = [value for name, value in measured("LI-25").items() if name.startswith("radius at which")]
    return {"radius": f"{radius:.3f}"}


def curricula() -> Table:
    data = frame("log-icot/variants")
    rows = []
    for (model, curriculum), group in data.group_by("model", "curriculum", maintain_order=True):
        one, written = ((group[name] >= 1).sum() for name in ("one pass", "written out"))
        median = group["chains to solve"].median() if one else None
        rows.append([str(model), str(curriculum), f"{one} of {group.height}", f"{written} of {group.height}"])
        rows[-1].append(count(median))  # pyright: ignore
    head = ["gates", "supervision", "right in one pass", "right when written out", "median chains until solved"]
    return head, rows


def curricula_values() -> dict[str, str]:
    found = {(row[0], row[1]): row for row in curricula()[1]}
    require(found["gated", "log-icot"][2] == "64 of 64", "Log-ICoT solves every seed")
    require(found["reader", "teacher-forcing"][2] == "64 of 64", "teacher forcing solves every seed of a reader")
    fast, slow = (int(found["gated", name][4].replace(",", "")) for name in ("teacher-forcing", "log-icot"))
    require(20 * fast < slow, "teacher forcing needs far fewer chains")
    require(all(row[2].startswith("0 ") for key, row in found.items() if key[0] == "open-gates"), "none in one pass")
    require(found["open-gates", "teacher-forcing"][3] == "64 of 64", "open gates write the chain out")
    return {}


FINDINGS = [
    Finding(
        "Figure 2b with its spread over seeds",
        "Each of {seeds} seeds answers every held-out chain in one pass, with weight decay and without. The "
        "loss at the start of a stage follows the exact law of the tree, in which nothing is fitted.",
        stages,
        ("LI-21", "LI-22", "log-icot/2b"),
        seeds,
        "log-icot/2b",
    ),
    Finding(
        "Algorithm 1: strength and number of chains",
        "Here the strength K is free and the rate is calibrated to the signal of each stage. From {enough} chains per "
        "stage on, some strength solves nine of ten seeds. The table counts the solved ones of {members} seeds. The "
        "strength that the theorem itself names is smaller at this size, and does not reach right answers (LI-13).",
        strengths,
        ("LI-14", "LI-13", "log-icot/success-map"),
        enough,
        "log-icot/success-map",
    ),
    Finding(
        "An adversary in the gradient",
        "An adversary knows the secret and adds an error to each entry of the gradient. Up to half of the "
        "radius at which two siblings can round apart every seed still succeeds, and at one and a half times "
        "the radius none does. At the one size measured the radius is {radius} / n², and an independent check "
        "finds other constants at other sizes.",
        adversary,
        ("LI-25",),
        adversary_values,
    ),
    Finding(
        "Which supervision works on which gates",
        "With the paper's gates Log-ICoT solves every seed. Teacher forcing solves most of them in one pass "
        "as well, and after far fewer chains: these gates never read a shown thought (LI-20). The stages of "
        "both curricula have a fixed length, which sets their number of chains. With gates that read shown "
        "thoughts teacher forcing solves every seed. Gates that start half open are never right in one pass, "
        "but teacher forcing then writes the chain out.",
        curricula,
        ("LI-20", "log-icot/variants"),
        curricula_values,
        "log-icot/variants",
    ),
]
