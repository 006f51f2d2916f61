"""Numbers that the README states, read from the records that it states them from."""

import json
import math
import re
from pathlib import Path

import numpy as np
import polars as pl

ROOT = Path(__file__).parents[1]
README = " ".join((ROOT / "README.md").read_text().split())
RUNS = json.loads((ROOT / "results" / "wen-whole-budget" / "summary.json").read_text())["runs"]


def solved(name, sparsity):
    members = [each for each in RUNS[name]["members"] if each["sparsity"] == sparsity]
    return sorted(each["samples"] for each in members if each["solved"]), members


WEN = json.loads((ROOT / "results" / "wen-whole-budget" / "members.json").read_text())
MEMBERS = WEN["members"]


def members(shape, chain, *sparsities):
    found = [m for m in MEMBERS if (m["shape"], m["chain"]) == (shape, chain) and m["sparsity"] in sparsities]
    return sorted(m["samples"] for m in found if m["solved"]), len(found)


def counted(shape, chain, *sparsities):
    times, count = members(shape, chain, *sparsities)
    return f"{len(times)} of {count}"


def test_whole_budgets_of_wen():
    every = (1, 2, 3, 4)
    for shape, words in {"4L4H": "four layers solve", "2L2H": "two layers", "1L1H": "one layer"}.items():
        assert f"{words} {counted(shape, True, *every)}" in README
    late = [time for time in members("1L1H", True, *every)[0] if time > 140_000]
    assert f"need up to {max(late):,}" in README
    assert f"learn k = 1, 2 and 3 in {counted('4L4H', False, 1, 2, 3)}" in README
    medians = [int(np.median(members("4L4H", False, k)[0])) for k in (1, 2, 3)]
    assert "after a median of {:,}, {:,} and {:,} sequences".format(*medians) in README
    times, _ = members("4L4H", False, 4)
    assert f"k = 4 in {counted('4L4H', False, 4)}: on one secret of four" in README
    assert {
        m["seed"] for m in MEMBERS if (m["shape"], m["chain"], m["sparsity"]) == ("4L4H", False, 4) and m["solved"]
    } == {0}
    assert f"at all three rates ({times[0]:,} to {times[-1]:,};" in README
    assert f"k = 1 to 3 in {counted('2L2H', False, 1, 2, 3)} and k = 4 in {counted('2L2H', False, 4)}" in README
    identity = ("shape", "chain", "sparsity", "seed", "rate")
    again = {tuple(member[name] for name in identity): member for member in WEN["repeated"]}
    [(alone, packed)] = [
        (member, other) for member in MEMBERS
        if (other := again.get(tuple(member[name] for name in identity))) and other["solved"] != member["solved"]
    ]  # fmt: skip
    ends = f"ends at {packed['last_accuracy']:.3f} in a pack of six"
    assert f"solved after {alone['samples']:,} sequences by itself {ends}" in README
    assert f"learns k = 2 in {counted('1L1H', False, 2)}, k = 3 and k = 4 in none" in README
    assert not members("1L1H", False, 3, 4)[0]
    assert all(m["samples"] >= 9_990_000 for m in MEMBERS if not m["solved"])


def test_growth_of_wen():
    from sorites.papers.wen.experiments import best
    from sorites.statistics import compare_growth

    for chain, verdict in ((True, "linear"), (False, "exponential")):
        rows = [
            {name: m[name] for name in ("sparsity", "seed", "rate", "samples", "solved")}
            for m in MEMBERS
            if (m["shape"], m["chain"]) == ("4L4H", chain)
        ]
        columns = [np.array([row[name] for row in best(rows)]) for name in ("sparsity", "samples", "solved")]
        found = compare_growth(*columns)
        assert found.verdict == verdict
        assert chain or f"by a factor {found.exponential.growth:.1f} a bit" in README


def test_many_passes_of_wen():
    times, members = solved("4L4H-n20-k6-size50000", 6)
    assert f"{len(times)} of {len(members)} members solve (after {times[0]:,} and {times[1]:,})" in README
    best = sorted(each["best_accuracy"] for each in members if not each["solved"])
    assert best[-1] == 0.9995
    assert best[0] < 0.52
    assert not any(each["solved"] for each in RUNS["4L4H-n20-k6-size1000000"]["members"])


def test_the_table_of_cells_is_what_was_recorded():
    rows = json.loads((ROOT / "results" / "cells.json").read_text())["cells"]
    words = " ".join((ROOT / "docs" / "cells.md").read_text().split())
    learns = [row["learns"] for row in rows]
    found = re.search(r"in (\d+) cells at least one did, in (\d+) all of them", words)
    assert found is not None
    assert [int(each) for each in found.groups()] == [sum(n > 0 for n in learns), sum(n == 8 for n in learns)]


def recorded(slug):
    return {row["id"]: row for row in json.loads((ROOT / "docs" / "verdicts" / f"{slug}.json").read_text())}


def test_oracles_that_err():
    for slug, id, unit in (("log-icot", "LI-25", "n"), ("kim-suzuki", "KS-29", "d")):
        found = recorded(slug)[id]["measured"]
        radius = next(value for name, value in found.items() if name.startswith("radius at which siblings part"))
        assert f"{radius:.3f}/{unit}²" in README
        close = {name: value for name, value in found.items() if "adversarial: seeds" in name}
        assert next(value for name, value in close.items() if name.startswith("radius 0.5,")) == 10
        assert next(value for name, value in close.items() if name.startswith("radius 1.5,")) == 0


def test_printed_forms_that_fail():
    rows = recorded("rl-sft").values()
    fails = sum(row["erratum"] is not None and row["erratum"]["printed_verdict"] == "fails" for row in rows)
    assert f"{fails} printed forms fail with evidence" in README


def test_every_claim_was_judged_as_it_stands():
    from sorites.papers.registry import papers

    for slug, paper in papers().items():
        rows = recorded(slug)
        says = [(id, claim.says) for id, claim in paper.claims().items()]
        assert says == [(id, row["says"]) for id, row in rows.items()]
        assert all(row["verdict"] == row["expected"] for row in rows.values())


def test_what_reward_buys_lego():
    data = pl.read_parquet(ROOT / "results" / "figures" / "atlas" / "lego-rl" / "data.parquet")
    found = {name: data.filter(label1=name, label2="from scratch") for name in data["label1"].unique()}
    times = {name: rows["samples"].median() for name, rows in found.items()}  # unsolved: the whole budget
    reached = {name: int(rows["solved"].sum()) for name, rows in found.items()}
    assert all(rows.height == 64 for rows in found.values())
    forced, process = "teacher-forcing", "process-reward"
    assert (
        f"teacher forcing brings {reached[forced]} to the goal after a median of {times[forced]:,.0f} chains" in README
    )
    assert f"process reward {reached[process]} after {times[process]:,.0f}" in README
    assert reached["outcome-reward"] == reached["self-training"] == 0
    assert f"none in {times['outcome-reward']:,.0f}" in README
    none = pl.concat([found["outcome-reward"], found["self-training"]])
    assert none["rate"].unique().to_list() == [3e-4]
    assert "at 3e-4, the smallest of the three, which tuning takes where no rate is better" in README
    assert times["outcome-reward"] == times["self-training"]


def test_exponential_or_a_power():
    from sorites.papers.wen.law_figures import bend

    data = pl.read_parquet(ROOT / "results" / "figures" / "wen" / "law" / "data.parquet")
    found = bend({"data": data})
    assert found is not None
    power, factor = found.lines[0.0][1], math.exp(found.lines[1.0][1])
    assert found.verdict == "inconclusive"
    assert (
        f"k^{power:.1f} and a factor of {factor:.1f} a bit fit alike, the bend between them is {found.value:.1f}"
        in README
    )
    assert (
        f"(95 % interval {found.interval.low:.1f} to {found.interval.high:.1f}; 0 is a power, 1 an exponential)"
        in README
    )


def test_claims_at_sizes_drawn_anywhere():
    """None fails, at most a tenth is undecided, and the README has the counts."""
    seeds = json.loads((ROOT / "results" / "anywhere.json").read_text())["seeds"]
    for found in seeds.values():
        counts = found["verdicts"]
        assert "fails" not in counts
        assert found["share inconclusive"] <= 0.1
        said = f"of {sum(counts.values())} verdicts {counts['holds']} hold, none fails, {counts['inconclusive']} are"
        assert said in README


def test_the_map_and_the_gpt_of_the_atlas():
    from sorites.papers.atlas.findings import findings
    from sorites.papers.atlas.tables import summary
    from sorites.store.tables import read_tables

    folder = ROOT / "results" / "figures" / "atlas"
    counts = {row["labels"][0]: row["solved"] for row in summary(read_tables(folder / "gpt-icot"))}
    assert (
        f"no thoughts {counts['absent']}, padded thoughts {counts['padded']}, ICoT {counts['icot']}, Log-ICoT "
        f"{counts['log-icot']}, teacher forcing and then Log-ICoT {counts['forced, then log-icot']}:" in README
    )
    large = {row["labels"][1:]: row["solved"] for row in summary(read_tables(folder / "cells"))}
    assert all(row["members"] == 64 for row in summary(read_tables(folder / "cells")))
    models = ("gated", "gpt", "open-gates", "positional")
    taught = {name: [large[model, name] for model in models] for name in sorted({name for _, name in large})}
    assert taught == {
        "direct": [0, 0, 0, 0],
        "log-icot": [64, 20, 0, 0],
        "outcome-reward": [0, 0, 0, 0],
        "process-reward": [64, 0, 64, 64],
        "teacher-forcing": [64, 64, 64, 64],
    }
    assert (
        "64 gated members to the goal, 20 GPTs of three layers, and of open gates and positional transformers 0"
        in README
    )
    assert "process reward brings 64 of each but the GPT (0), outcome reward 0 of any, teacher forcing 64 of" in README
    said = findings({"cells-quick": read_tables(folder / "cells-quick")})[0]
    taught, control = said.split(";")
    assert f"{taught}; on shuffled labels {control.split('labels ')[1].split(' members')[0]}." in README


def test_faults_bits_and_inputs_that_were_tried():
    """What is recorded of the tortures: nothing is left unmended."""
    found = json.loads((ROOT / "results" / "torture.json").read_text())
    mutants, explained = found["mutants"], (ROOT / "torture" / "survivors.md").read_text()
    lived = mutants["explained in torture/survivors.md"]
    assert mutants["faults drawn"] == mutants["died with the tests that were then written"] + len(lived) == 80
    second = mutants["second draw"]
    left = second["explained in torture/survivors.md"]
    assert second["faults drawn"] == second["died with the tests that were then written"] + len(left)
    assert all(f"`{case}`" in explained for case in lived + left)
    assert found["audit"]["died"] == found["audit"]["faults that still stand"]
    for name in ("flips", "kills"):
        assert found[name]["after the mends"]["failures"] == []
    first, *later = found["kills"].values()
    assert first["failures"] == sum(len(each["cases"]) for each in first["found"])
    assert all(each["failures"] == [] and each["members compared"] == each["equal to the last bit"] for each in later)
    three = found["kills"]["after the mends"]
    assert three["kills"] >= 1000
    assert len(three["by writer"]) == 3
    words = (ROOT / "results" / "README.md").read_text()
    assert f"{first['kills']:,} kills of three writers" in words
    assert f"{three['kills']:,} of three" in words


def test_what_a_sweep_costs():
    found = json.loads((ROOT / "results" / "sweeps.json").read_text())
    words = (ROOT / "docs" / "sweeps.md").read_text()
    few, many, store = found["cpu"]["rows"]
    for name, position in (("cpu", 0), ("h200", 1)):
        rows = found[name]["rows"]
        for row, label in zip(rows, ("| 1,000 members", "| 10,000 members"), strict=False):
            cells = next(line for line in words.splitlines() if line.startswith(label)).split("|")[2:4]
            assert cells[position].strip() == f"{row['first sweep, compiling']:.1f} s"
        assert f"{rows[0]['of one sweep, inside train']:.2f} + {rows[0]['outside']:.2f} s" in words
    assert few["solved"] == found["h200"]["rows"][0]["solved"]
    assert many["solved"] == found["h200"]["rows"][1]["solved"]
    assert f"{few['outside'] / few['of one sweep, inside train']:.0%}".replace("%", " %") in words
    assert f"lists in {store['list']:.2f} s" in words
    assert f"evaluations in {store['query history']:.2f} s; `runs compact` takes {store['compacting']:.1f} s" in words
    assert f"it is {store['list, compact']:.2f} and {store['query history, compact']:.2f} s" in words
