"""LEGO."""

import re

import polars as pl

from findings.finding import Finding, Table, frame, measured, parameters, sentence


def four_numbers() -> Table:
    lengths = (5, 10, 20, 40, 80, 160)
    found = measured("L16")
    rows = [[f"{action}", *(f"{found[f'{action}: L={n}']:.2f}" for n in lengths)] for action in ("C6", "S5")]
    return ["action", *(f"L = {n}" for n in lengths)], rows


def right(data: pl.DataFrame, *keys: str) -> Table:
    """The share of test sentences with all values right, mean over seeds, by length."""
    data = data.filter(pl.col("step") == pl.col("step").max().over("way")) if "step" in data.columns else data
    lengths, rows = sorted(data["length"].unique()), []
    for key, group in data.group_by(*keys, maintain_order=True):
        means = dict(group.group_by("length").agg(pl.col("right").mean()).rows())
        rows.append([*map(str, key), str(group["seed"].n_unique()), *(f"{means[n]:.2f}" for n in lengths)])
    return [*keys, "seeds", *(f"L = {n}" for n in lengths)], rows


def epochs_values() -> dict[str, str]:
    return {"pool": f"{parameters('lego/epochs')['pool']:,}"}


def attention() -> Table:
    """Taken from what the figures state; least and most over the seeds in brackets."""
    number = r"(\d\.\d+) \(([^)]*)\)"
    rows = []
    for name, target in (("lego/6", "the right predicate"), ("lego/7", "the query itself")):
        found = re.findall(rf"(C6|S5) {number} at L=10 and {number} at L=20", sentence(name))
        for action, short, short_range, long, long_range in found:
            rows.append([target, action, f"{short} ({short_range})", f"{long} ({long_range})"])
    return ["attention on", "action", "L = 10", "L = 20"], rows


FINDINGS = [
    Finding(
        "The theory's attention, as four numbers",
        "The table gives the share of sentences with all values right after the same number of normalised steps.",
        four_numbers,
        ("L16", "L17"),
    ),
    Finding(
        "The trained decoder in the paper's protocol",
        "Each member trains for the paper's number of epochs over {pool} fixed sentences, or over as many "
        "fresh ones. The paper does not state the size of its set. Its curve of C6 stays near one up to the "
        "longest length, and these runs do not reach it.",
        lambda: right(frame("lego/epochs"), "way", "action"),
        ("lego/1a", "lego/epochs"),
        epochs_values,
        "lego/1a",
    ),
    Finding(
        "Nine actions and six ways of training",
        "The table gives all of them at every length, at the last step. Lengths and ways order the actions "
        "differently.",
        lambda: right(frame("lego/separation"), "way", "action"),
        ("lego/separation",),
    ),
    Finding(
        "Self-training on S5",
        "The first row of each model is the one before self-training.",
        lambda: right(frame("lego/1b"), "model", "stage"),
        ("lego/1b",),
        picture="lego/1b",
    ),
    Finding(
        "Where the trained decoder looks beyond its training length",
        "Brackets give the least and the most over the seeds. Attention on the query itself falls more than "
        "attention on the predicate.",
        attention,
        ("lego/6", "lego/7"),
    ),
]
