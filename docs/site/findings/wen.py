"""Wen et al."""

import re
import statistics

import numpy as np
import polars as pl

from findings.finding import Finding, Table, count, frame, measured, recorded, require
from sorites.papers.wen.experiments import best
from sorites.papers.wen.law_figures import bend
from sorites.statistics import compare_growth

SHAPES = {"4L4H": "four layers", "2L2H": "two layers", "1L1H": "one layer"}
CHAIN = {True: "with", False: "without"}


def members(shape: str, chain: bool, sparsity: int) -> list[dict]:
    """At paper width, four secrets at each of three rates."""
    found = recorded("wen-whole-budget/members")["members"]
    return [m for m in found if (m["shape"], m["chain"], m["sparsity"]) == (shape, chain, sparsity)]


def whole_budget() -> Table:
    rows = []
    for chain in (True, False):
        for shape, words in SHAPES.items():
            for k in (1, 2, 3, 4):
                found = members(shape, chain, k)
                times = sorted(m["samples"] for m in found if m["solved"])
                spread = [count(np.median(times)), count(times[-1])] if times else ["", ""]  # pyright: ignore
                rows.append([CHAIN[chain], words, str(k), f"{len(times)} of {len(found)}", *spread])
    head = ["chain", "model", "k", "members solved", "median sequences of these", "most sequences of these"]
    return head, rows


def whole_budget_values() -> dict[str, str]:
    every = recorded("wen-whole-budget/members")["members"]
    require(all(m["samples"] >= 9_990_000 for m in every if not m["solved"]), "the rest ran its whole budget")
    late = {m["seed"] for m in members("4L4H", False, 4) if m["solved"]}
    require(len(late) == 1, "four layers learn the longest secret for one secret only")
    return {"members": count(len(every))}


def growth() -> Table:
    rows = []
    for chain in (True, False):
        columns = ("sparsity", "seed", "rate", "samples", "solved")
        found = [{name: m[name] for name in columns} for k in (1, 2, 3, 4) for m in members("4L4H", chain, k)]
        fit = compare_growth(
            *(np.array([row[name] for row in best(found)]) for name in ("sparsity", "samples", "solved"))
        )
        rows.append([CHAIN[chain], fit.verdict, f"{fit.exponential.growth:.1f}"])
    return ["chain", "a line or an exponential", "factor per secret bit, if exponential"], rows


def growth_values() -> dict[str, str]:
    found = bend({"data": frame("wen/law")})
    assert found is not None
    require(found.verdict == "inconclusive", "a power and an exponential fit alike")
    require([row[1] for row in growth()[1]] == ["linear", "exponential"], "a line with the chain, not without it")
    require(found.interval.low < 0 and found.interval.high > 1, "the interval contains both")
    return {"bend": f"{found.value:.1f}"}


def small_models() -> Table:
    rows = []
    for name, value in measured("W21").items():
        match = re.match(r"median samples (with|without) the chain, k=(\d), solved (\d)/(\d)", name)
        if match:
            chain, k, right, of = match.groups()
            rows.append([chain, k, f"{right} of {of}", count(value)])
    return ["chain", "k", "members solved", "median sequences"], sorted(rows)


def small_models_values() -> dict[str, str]:
    (apart,) = [value for name, value in measured("W21").items() if name.startswith("without: AIC of linear")]
    return {"apart": f"{apart:.1f}"}


def attention() -> Table:
    outcome = frame("wen/3b", "outcome").row(0, named=True)
    targets = frame("wen/3b", "secret").select(query=pl.col("thought") + 40, source=pl.col("position"))
    rows = frame("wen/3b").sort("attention", descending=True)
    found = rows.group_by("query", maintain_order=True).first().join(targets, on=["query", "source"])
    mass = rows.join(targets, on=["query", "source"])["attention"]
    require(outcome["solved"], "the member is solved")
    head = ["sequences until solved", "thoughts whose largest attention is on their bit", "mean attention on it"]
    return head, [[count(outcome["samples"]), f"{found.height} of {targets.height}", f"{mass.mean():.2f}"]]


def ablation() -> Table:
    found = recorded("bench-wen-h200")["first ablation"]["members"]
    names = {
        "paper text": "as the paper states it",
        "hidden 2880": "hidden width 2,880 instead of 3,072",
        "bf16 weights": "bf16 weights",
        "dropout 0.1": "dropout 0.1",
        "released code": "all of the released code",
    }
    rows = []
    for name, words in names.items():
        own = [m for m in found if m["variant"] == name]
        times = sorted(m["samples"] for m in own if m["solved"])
        rows.append(
            [
                words,
                f"{len(times)} of {len(own)}",
                count(statistics.median(times)),
                count(max(m["samples"] for m in own)),
            ]
        )
    return ["variant", "members solved", "median sequences of these", "longest run"], rows


def fresh_entropy() -> Table:
    """Of the head with the lowest entropy, over all layers."""
    rows = []
    for chain in (True, False):
        data = frame("wen/1b").filter(chain=chain).sort("seed", "samples")
        sharpest = frame("wen/1b", "entropy").group_by("chain", "seed", "samples").agg(pl.col("entropy").min())
        joined = data.join(sharpest, on=["chain", "seed", "samples"], maintain_order="left")
        start = joined.group_by("seed", maintain_order=True).first()
        passed = joined.filter(pl.col("accuracy") > 0.99).group_by("seed", maintain_order=True).first()
        solved = f"{passed.height} of {start.height}"
        entropies = [f"{each['entropy'].median():.2f}" for each in (start, passed)]
        rows.append([CHAIN[chain], solved, count(passed["samples"].median()), *entropies])  # pyright: ignore
    head = ["chain", "secrets that pass 0.99", "median sequences", "entropy of the sharpest head, at the start"]
    return [*head, "and when accuracy passes 0.99"], rows


def passes(figure: str) -> Table:
    """First evaluation above 0.99, and the last accuracy, of each member."""
    rows = []
    keys = ("chain", "layers", "heads", "size", "seed")
    for (chain, layers, heads, size, _), group in (
        frame(figure).sort(*keys, "samples").group_by(keys, maintain_order=True)
    ):
        first = group.filter(pl.col("accuracy") > 0.99)["samples"]
        reached = count(first[0]) if len(first) else ""
        last = group.row(-1, named=True)
        rows.append(
            [
                CHAIN[bool(chain)],
                f"{layers} and {heads}",
                count(size),
                reached,
                f"{last['accuracy']:.3f}",
                count(last["samples"]),
            ]
        )  # pyright: ignore
        rows[-1].append(f"{last['training_loss']:.0e}")
    head = [
        "chain",
        "layers and heads",
        "set",
        "sequences until 0.99",
        "last accuracy",
        "last sequence",
        "training loss",
    ]
    return head, rows


def many_values() -> dict[str, str]:
    rows = passes("wen/10")[1]
    require(all(not row[3] for row in rows if row[2] == "1,000,000"), "the largest set is learned by none")
    require(any(row[3] for row in rows if row[2] == "5,000"), "the smallest set is learned")
    return {}


def long_chains() -> Table:
    rows = []
    for row in frame("wen/3a").sort("sparsity", "seed").iter_rows(named=True):
        rows.append([str(row["sparsity"]), str(row["seed"]), "yes" if row["solved"] else "no", count(row["samples"])])
    return ["k", "seed", "right in 99.5 %", "sequences"], rows


def initial_scale() -> Table:
    found = recorded("wen-initial-scale")["members"]
    require(all(m["solved"] for m in found), "all members solve")
    rows = []
    for spread in (0.02, 0.067):
        times = [
            [m["samples"] for m in found if (m["spread"], m["chain"]) == (spread, chain)] for chain in (True, False)
        ]
        rows.append([f"{spread:g}", *(count(statistics.median(each)) for each in times)])
    return ["initial scale", "with the chain, median sequences", "without"], rows


def three_steps() -> Table:
    rows = []
    for id in ("W13", "W14", "W16"):
        for name, value in measured(id).items():
            if "measured / law" in name and "of the others" not in name and "about 8" not in name:
                rows.append([id, name.split(":")[0], f"{value:.3f}"])
    return ["claim", "quantity", "measured / law"], rows


FINDINGS = [
    Finding(
        "Samples with and without the chain, at paper width",
        "{members} members were trained: four secrets at each of three rates, each to its goal or to the "
        "whole budget of the paper. With few layers and long secrets the rate and the seed decide, so the "
        "count of solved members stands beside their median. Without the chain four layers learn the parity "
        "of most bits for one of the four secrets, at all rates, and for the others at none. One member that "
        "solves alone did not when it was trained again in a batch with others.",
        whole_budget,
        ("wen/1a", "wen/2a", "wen/2b", "wen/2c"),
        whole_budget_values,
        "wen/1a",
        record="wen-whole-budget/members.json",
    ),
    Finding(
        "Exponential, or a power?",
        "The best of three rates is taken for each secret, as in the paper, for four layers. A line and an "
        "exponential can be told apart with these sizes. A power of k and an exponential cannot: the bend "
        "between them is {bend}, and its interval contains zero, a power, and one, an exponential.",
        growth,
        ("wen/law",),
        growth_values,
    ),
    Finding(
        "The same with small models",
        "For small models on two cores, without the chain, the exponential fits better than a line by {apart} "
        "in AIC. This rests on three sizes, and most members of the largest are not solved within the "
        "budget.",
        small_models,
        ("W21",),
        small_models_values,
    ),
    Finding(
        "Attention of one layer with one head",
        "For most thoughts the largest attention is on the secret bit that they add. It is far from one "
        "there, because training stops at the first evaluation without an error.",
        attention,
        ("W22", "wen/3b"),
        picture="wen/3b",
    ),
    Finding(
        "Entropy on fresh data",
        "Attention becomes sparse as accuracy jumps, with the chain and without.",
        fresh_entropy,
        ("W23", "wen/1b"),
    ),
    Finding(
        "Many passes over a set, without the chain",
        "The smallest set is learned and the largest is not, as in the paper. Only one member was run in each "
        "cell. Sparse attention is not enough: most members that do not learn have a sparse head as well "
        "(W23).",
        lambda: passes("wen/10"),
        ("W23", "wen/10"),
        many_values,
    ),
    Finding(
        "Many passes over a small set",
        "Two members were run of each shape without the chain, and one of them becomes exact.",
        lambda: passes("wen/4"),
        ("wen/4",),
    ),
    Finding(
        "A harder parity",
        "Without the chain no model leaves chance on fresh inputs. With the chain one layer is right on the "
        "small set and not on the large one, which differs from the paper.",
        lambda: passes("wen/9"),
        ("wen/9",),
    ),
    Finding(
        "Longer chains",
        "Most members are right within the budget, and the number of sequences depends weakly on the length "
        "of the chain. With two seeds for each length the law of growth stays open.",
        long_chains,
        ("wen/3a",),
    ),
    Finding(
        "What the released code adds to the text",
        "Dropout, weights in half precision and the hidden width of the released code cannot be told apart "
        "from the paper's text with this number of seeds.",
        ablation,
        (),
        record="bench-wen-h200.json",
    ),
    Finding(
        "The initial scale at small width",
        "The initial scale of GPT-2 slows small models down; rescaled to the width it does not.",
        initial_scale,
        (),
        record="wen-initial-scale.json",
    ),
    Finding(
        "Three steps at finite size",
        "The corrected laws of the three steps are met at finite size. The rates of Assumption 2 only apply "
        "at sizes that cannot be run, so feasible rates are used.",
        three_steps,
        ("W13", "W14", "W16"),
    ),
]
