"""The atlas: what belongs to no paper."""

import re

from findings.finding import FIGURES, Finding, Table, count, recorded, require
from sorites.papers.atlas.findings import findings as stated
from sorites.papers.atlas.tables import summary
from sorites.store.tables import read_tables


def arms(figure: str) -> list[dict]:
    """Per arm: labels, members, how many reach the goal, interval and median."""
    frames = read_tables(FIGURES / "atlas" / figure)
    assert frames is not None
    return [row for row in summary(frames) if row["members"]]


def map_of_cells() -> Table:
    rows: dict[str, dict[str, str]] = {}
    models = []
    for row in arms("cells"):
        _, model, supervision = row["labels"]
        models += [model] if model not in models else []
        rows.setdefault(supervision, {})[model] = f"{row['solved']} of {row['members']}"
    return ["supervision", *models], [[name, *(cells[each] for each in models)] for name, cells in rows.items()]


def quick_map() -> dict[str, str]:
    frames = read_tables(FIGURES / "atlas" / "cells-quick")
    assert frames is not None
    found = re.match(r"(\d+ of \d+) cells .*; on shuffled labels (\d+ of \d+)", stated({"cells-quick": frames})[0])
    assert found is not None
    return {"most": found[1], "control": found[2]}


def one_pass() -> Table:
    rows = [
        [row["labels"][0], f"{row['solved']} of {row['members']}", f"{row['low']:.2f} to {row['high']:.2f}"]
        for row in arms("gpt-icot")
    ]
    return ["thoughts", "right in one pass", "95 % interval"], rows


def lego() -> Table:
    rows = []
    for row in arms("lego-rl"):
        way, start = row["labels"]
        median = count(row["median"].value) if row["solved"] > row["members"] / 2 else ""
        rows.append([start, way, f"{row['solved']} of {row['members']}", median, f"{row['rate']:g}"])
    return ["start", "supervision", "at the goal", "median chains", "learning rate"], rows


def lego_values() -> dict[str, str]:
    found = {row[1]: row[2] for row in lego()[1] if row[0] == "from scratch"}
    require(found["outcome-reward"] == found["self-training"] == "0 of 64", "neither reaches the goal")
    return {}


def drawn_sizes() -> Table:
    rows = []
    for seed, found in recorded("anywhere")["seeds"].items():
        counts = found["verdicts"]
        rows.append(
            [
                seed,
                count(sum(counts.values())),
                *(count(counts.get(name, 0)) for name in ("holds", "inconclusive", "fails")),
            ]
        )
    return ["seed", "verdicts", "holds", "inconclusive", "fails"], rows


FINDINGS = [
    Finding(
        "What a curriculum and a reward for every step buy",
        "The task is the parity of half of the bits. Log-ICoT needs the gates or enough layers, process "
        "reward works for all models but the GPT, and outcome reward for none. Rates are tuned on few "
        "members, so a cell is what this protocol finds and not the best that it can do.",
        map_of_cells,
        ("atlas/cells",),
    ),
    Finding(
        "Does a GPT internalise a chain?",
        "A GPT with three layers is taught in five ways and judged in one pass. Most members do not "
        "internalise the chain within the budget.",
        one_pass,
        ("atlas/gpt-icot",),
    ),
    Finding(
        "What reward buys LEGO's decoder",
        "From scratch, process reward needs many more chains than teacher forcing. Outcome reward and "
        "self-training never reach the goal, at a rate that was tuned on three members each.",
        lego,
        ("atlas/lego-rl",),
        lego_values,
    ),
    Finding(
        "Every claim at sizes drawn from its domain",
        "Each claim was judged at five drawn sizes, with three seeds. Three claims had failed with the first "
        "seed; they were revised and judged again at the same sizes.",
        drawn_sizes,
        (),
        record="anywhere.json",
    ),
    Finding(
        "The quick map of cells",
        "{most} cells bring most of their members to the goal. On shuffled labels {control} members reach it.",
        lambda: ([], []),
        (),
        quick_map,
        record="figures/atlas/cells-quick",
    ),
]
