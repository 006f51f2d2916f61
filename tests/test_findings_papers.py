"""What the README says of each paper, read from the records that it says it from."""

import json
import re

import numpy as np
import polars as pl

from sorites.papers import registry
from sorites.report.figures import read_tables
from test_findings import README, ROOT, recorded

FIGURES = ROOT / "results" / "figures"


def table(name, part="data"):
    return pl.read_parquet(FIGURES / name / f"{part}.parquet")


def told(name):
    """The finding of a recorded figure at paper scale, in the figure's own words."""
    figure = registry.figures()[name]
    frames = read_tables(FIGURES / name)
    assert frames is not None
    return figure.find(frames, figure.sizes["paper"])


def listed(values, form="{:,}"):
    *most, last = [form.format(value) for value in values]
    return f"{', '.join(most)} and {last}"


def ends(name, *keys):
    return table(name).sort("stage", "step").group_by(*keys, maintain_order=True).last()


def test_loss_of_log_icot_over_a_thousand_seeds():
    last = ends("log-icot/2b", "ensemble", "seed")
    assert last.group_by("ensemble").len()["len"].to_list() == [1024, 1024]
    assert (last["accuracy"] == 1).all()
    law, data = table("log-icot/2b", "law"), table("log-icot/2b").filter(pl.col("ensemble") == "decayed")
    means = data.join(law.select("stage", "step"), on=["stage", "step"]).group_by("stage").agg(pl.col("loss").mean())
    pairs = zip(law["loss"], means.sort("stage")["loss"], strict=True)
    assert ", ".join(f"{exact:.3f} / {mean:.3f}" for exact, mean in pairs) in README


def test_algorithm_1_over_strengths_and_batches():
    data = table("log-icot/success-map").group_by("strength", "samples").agg((pl.col("accuracy") >= 1).sum())
    found = {row[:2]: row[2] for row in data.rows()}
    samples = sorted({size for _, size in found})
    enough = next(size for size in samples if max(found[k, size] for k, n in found if n == size) >= 36)
    assert f"reaches 9 of 10 seeds from B={enough:,} chains per stage (K=6: {found[6, enough]} of 40)" in README
    assert all(found[k, 300_000] == (40 if k >= 6 else 0) for k, n in found if n == 300_000)


def test_which_teaching_works():
    data = table("log-icot/variants").group_by("model", "curriculum").agg(
        (pl.col("one pass") >= 1).sum(), (pl.col("written out") >= 1).sum()
    )  # fmt: skip
    one, written = ({row[:2]: row[at] for row in data.rows()} for at in (2, 3))
    gated = [one["gated", name] for name in ("log-icot", "icot", "teacher-forcing", "direct")]
    words = "Log-ICoT {}, linear ICoT {}, teacher forcing {}, the answer alone {}."
    assert words.format(*gated) in README
    assert f"teacher forcing solves {one['reader', 'teacher-forcing']} in one forward pass" in README
    assert not any(count for (model, _), count in one.items() if model == "open-gates")
    assert f"writes the chain out in {written['open-gates', 'teacher-forcing']} of 64" in README


def test_hardness_and_four_ways_to_teach():
    hard = recorded("kim-suzuki")["KS-7"]
    assert hard["verdict"] == "holds"
    assert all(value == 0 for name, value in hard["measured"].items() if "weights differ in any bit" in name)
    lessons = {"direct": [], "free": [], "forced": [], "consistent": []}
    for k in (8, 16, 32):
        last = ends(f"kim-suzuki/exp-k{k}", "lesson", "seed").with_columns(right=pl.col("accuracy") >= 1)
        for lesson, counts in lessons.items():
            counts.append(last.filter(pl.col("lesson") == lesson)["right"].sum())
    assert lessons["direct"] == [0, 0, 0]
    words = "own chain {}; teacher forcing {}; self-consistency {}"
    assert words.format(*(listed(lessons[name]) for name in ("free", "forced", "consistent"))) in README


def test_range_of_the_filter():
    data = table("kim-suzuki/filter-range").with_columns(right=pl.col("accuracy") >= 1)
    inside, below = data.filter(pl.col("threshold") > 1), data.filter(pl.col("threshold") < 1)
    many, four = inside.filter(pl.col("strings") >= 8)["right"], inside.filter(pl.col("strings") == 4)["right"]
    words = f"{many.sum()} of {len(many)} runs are solved, {four.mean():.0%} with four, none with one"
    assert words.replace("%", " %") in README
    assert inside.filter(pl.col("strings") == 1)["right"].sum() == 0
    assert f"({below['right'].sum()} of {below.height} solved)" in README


def test_exponents_of_one_step():
    number = r"(\d\.\d\d)"
    said = told("kim-suzuki/exponent")
    fits = re.findall(rf"exponent {number} \(95 % {number} to {number}\)", said)
    (half, low, high), (four, least, most) = fits
    assert f"exponent {half} in d (95 % {low} to {high}, k = d/2" in README
    assert f"{four} ({least} to {most}, k = 4" in README
    (first, law), (second, other) = re.findall(rf"larger half of the sizes {number} and {number}", said)
    assert f"larger half of the sizes {first} and {second}, where the noise law has {law} and {other}" in README


def test_new_facts_of_rl_and_sft():
    serial = recorded("rl-sft")["RS-33"]["measured"]
    for d in (8, 9):
        assert serial[f"d={d}, k=4, unfiltered: exact within 40 updates"] == 0
        assert serial[f"d={d}, k=4, unfiltered: exact zeros in the gradient at the start"] > 0
    updates = [int(serial[f"d={d}, k=4, unfiltered: updates"]) for d in (6, 7)]
    assert f"exact after {updates[0]} and {updates[1]} updates at d=6 and 7" in README
    chains = recorded("rl-sft")["RS-37"]["measured"]
    for d, count in ((8, "1,000"), (12, "4,000")):
        assert chains[f"RL, d={d}, {count} chains (0.01 wrong signs expected): seeds exact ≥"] >= 39
    assert "from 1,000 chains at d=8 and 4,000 at d=12" in README
    record = json.loads((ROOT / "results" / "bench-rl-sft-h200.json").read_text())
    assert "exact for 1,000 of 1,000" in record["secrets"]
    flows = record["four steps of gradient flow, k=16: times to 0.4 against each step alone"]
    off = [abs(np.array(flow["measured"]) / np.cumsum(flow["alone"]) - 1).max() for flow in flows]
    assert f"within {np.ceil(100 * max(off)):.0f} % of the sum of the levels" in README
    exact = table("rl-sft/finite-samples").filter(pl.col("samples") == 50_000)
    ways = dict(exact.select("way", "success").rows())
    assert ways["RL, Rao-Blackwell"] == ways["SFT, own thoughts"] == 1
    assert exact["seeds"].unique().to_list() == [1000]


def test_small_gpts_and_what_the_released_code_adds():
    found = recorded("wen")["W21"]["measured"]
    medians = {name: value for name, value in found.items() if name.startswith("median samples")}

    def median(chain, k):
        return next(value for name, value in medians.items() if f"{chain} the chain, k={k}," in name)

    assert f"medians of {listed([int(median('with', k)) for k in (1, 2, 3, 4)])} sequences for k = 1 to 4" in README
    assert f"{listed([int(median('without', k)) for k in (1, 2)])} for k = 1 and 2, and 1 of 4 members" in README
    assert any("without the chain, k=3, solved 1/4" in name for name in medians)
    apart = next(value for name, value in found.items() if name.startswith("without: AIC of linear"))
    assert f"(AIC {apart:.1f} apart)" in README
    members = json.loads((ROOT / "results" / "bench-wen-h200.json").read_text())["first ablation"]["members"]
    names = ("paper text", "hidden 2880", "bf16 weights", "dropout 0.1", "released code")
    counts = [sum(m["solved"] for m in members if m["variant"] == name) for name in names]
    words = (
        "{} of 8 solve as the paper states it, {} with hidden 2880 instead of 3072, {} with bf16 weights, "
        "{} with dropout 0.1, {} with all"
    )
    assert words.format(*counts) in README
    assert max(m["samples"] for m in members if m["solved"]) < 75_000


def test_attention_of_the_one_layer_gpt():
    outcome = table("wen/3b", "outcome").row(0, named=True)
    assert outcome["solved"]
    assert f"solved after {outcome['samples']:,} sequences" in README
    targets = table("wen/3b", "secret").select(query=pl.col("thought") + 40, source=pl.col("position"))
    top = table("wen/3b").sort("attention", descending=True).group_by("query").first()
    assert f"{top.join(targets, on=['query', 'source']).height} of 20 thoughts look most" in README


def test_initial_scale_of_small_gpts():
    rows = json.loads((ROOT / "results" / "wen-initial-scale.json").read_text())["members"]
    assert all(row["solved"] for row in rows)

    def median(spread, chain):
        return int(np.median([row["samples"] for row in rows if (row["spread"], row["chain"]) == (spread, chain)]))

    slow, quick = ([median(spread, chain) for chain in (True, False)] for spread in (0.02, 0.067))
    assert (
        f"medians of {slow[0]:,} sequences with the chain and {slow[1]:,} without, {quick[0]:,} and {quick[1]:,}"
        in README
    )
    assert [round(one / other) for one, other in zip(slow, quick, strict=True)] == [2, 4]  # as the departures say


def test_three_steps_of_wen():
    wen = recorded("wen")
    for id in ("W13", "W14", "W16"):
        for name, value in wen[id]["measured"].items():
            if "measured / law" in name and "of the others" not in name and "about 8" not in name:
                assert abs(value - 1) < (0.055 if id == "W14" and "i = n+1" in name else 0.02), (id, name)


def test_entropy_on_fresh_data():
    said = told("wen/1b")
    assert said.count("4 of 4 seeds pass 0.99") == 2
    (chain, low), (bare, least) = re.findall(r"after ([\d,]+) sequences .*? entropy at (\d\.\d\d)", said)
    words = (
        f"with the chain after {chain} sequences (median), without after {bare}, with the sharpest head's entropy at"
    )
    assert f"{words} {low} and {least} of 1" in README


def test_many_passes_at_paper_width():
    said = told("wen/10")
    learned = table("wen/10").filter(pl.col("accuracy") > 0.99).sort("samples")
    firsts = learned.group_by("layers", "heads", "size", maintain_order=True).first().sort("size")
    assert set(firsts["layers"]) == {2, 4}
    assert firsts.filter(pl.col("layers") == 2)["size"].to_list() == [5000]
    deep = firsts.filter(pl.col("layers") == 4)
    words = f"on {listed(deep['size'])} sequences, after {listed(deep['samples'])} presentations"
    assert f"four layers pass accuracy 0.99 {words}" in README
    budget = json.loads((FIGURES / "wen" / "10" / "about.json").read_text())["parameters"]["presentations"]
    last = table("wen/10").group_by("layers", "size").agg(pl.col("samples").max())["samples"]
    assert last.min() >= budget - 512
    assert "in 5 of the 5 that pass (median: after 14% of the time it takes) and in 8 of the 10 that do not" in said
    assert "in 5 of 5 that learn, after 14 % of the time they take (median), and in 8 of 10 that do not" in README
    last = table("wen/10").sort("samples").group_by("layers", "size").agg(pl.col("accuracy").last())
    short = sorted(last.join(firsts, on=["layers", "size"], how="anti")["accuracy"])
    assert len(short) == 10
    assert f"(one of these ends at {short[-1]:.3f}, the others below 0.64)" in README
    assert short[-2] < 0.64
    for name in ("5", "11"):  # members of 10
        rows = table(f"wen/{name}").drop("seed")
        assert rows.join(table("wen/10"), on=rows.columns, how="semi").height == rows.height


def test_small_sets_of_wen():
    data = table("wen/4").filter(pl.col("accuracy") >= 1).sort("samples")
    firsts = data.group_by("chain", "layers", "heads", "seed", maintain_order=True).first()
    bare = firsts.filter(~pl.col("chain"))
    assert {(layers, heads) for layers, heads in bare.select("layers", "heads").rows()} == {
        (1, 1),
        (1, 4),
        (2, 2),
        (4, 4),
    }
    assert bare.height == 4
    whole = table("wen/4").filter(~pl.col("chain")).sort("samples").group_by("layers", "heads", "seed").last()
    others = whole.filter(pl.col("accuracy") < 1).sort("layers", "heads")
    assert (others["samples"] == 9_999_872).all()  # nobody was stopped before
    assert f"the others end at {listed(others['accuracy'], '{:.3f}')}" in README
    passes = sorted(bare["samples"] / 10_000)
    assert f"exact after {passes[0]:.0f} to {passes[-1]:.0f} passes, the others" in README
    assert firsts.filter(pl.col("chain"))["samples"].max() // 10_000 == 4
    assert "with the chain one layer after 4." in README


def test_a_harder_parity():
    data = table("wen/9").sort("samples")
    assert (data.group_by("chain", "layers", "size").agg(pl.col("samples").max())["samples"] == 9_999_872).all()
    last = data.group_by("chain", "layers", "size").last()
    bare = last.filter(~pl.col("chain"))
    assert sorted(bare["layers"].unique()) == [1, 4, 8]
    assert bare.height == 6
    low, high = bare["accuracy"].min(), bare["accuracy"].max()
    assert f"one, four and eight layers end at {low:.3f} to {high:.3f} on 10,000 and on 1,000,000" in README
    by_heart = bare.filter(pl.col("training_loss") < 1e-5)
    assert sorted(by_heart.select("layers", "size").rows()) == [(1, 10_000), (8, 10_000)]
    chained = last.filter(pl.col("chain")).sort("size")
    small, large = chained["accuracy"]
    assert f"With the chain one layer ends at {small:.3f} on 10,000;" in README
    assert f"and ends at 1/12, accuracy {large:.3f}" in README
    thought = np.log(2) / 12  # one of twelve thoughts at chance
    waits = data.filter(pl.col("chain") & (pl.col("size") == 1_000_000) & (pl.col("samples") > 1_000_000))
    np.testing.assert_allclose(waits.filter(pl.col("samples") < 9_000_000)["loss"], 2 * thought, rtol=0.02)
    np.testing.assert_allclose(waits["loss"][-1], thought, rtol=0.02)


def test_long_chains_of_wen():
    data = table("wen/3a").sort("samples")
    solved, open_ = data.filter(pl.col("solved")), data.filter(~pl.col("solved"))
    assert (open_["samples"] == 999_936).all()
    assert sorted(open_["sparsity"]) == [40, 60]
    assert f"{solved.height} of {data.height} members are 99.5 % right after" in README
    assert f"after {solved['samples'][0]:,} to {solved['samples'][-1]:,} sequences; one of k = 40" in README


def test_what_separates_the_actions():
    data = table("lego/separation").filter(pl.col("step") == pl.col("step").max().over("way"))
    means = data.filter(pl.col("length") == 80).group_by("way", "action", maintain_order=True)
    found = {(way, action): part["right"].mean() for (way, action), part in means}
    ways = data["way"].unique(maintain_order=True).to_list()
    gaps = [found[way, "C6"] - found[way, "S5"] for way in ways]
    assert f"({len(data['action'].unique())} actions, 3 seeds, {len(ways)} ways of training, 32,000 steps)" in README
    assert f"C6 minus S5 at L=80 is {listed(gaps, '{:+.2f}')}" in README
    fixed, fresh = ([value for (way, _), value in found.items() if way == name] for name in ("fixed", "fresh"))
    assert (
        f"from below {np.ceil(max(fixed) * 20) / 20:.2f} to {np.floor(min(fresh) * 100) / 100:.2f} and more" in README
    )


def test_the_rate_that_reaches_every_length():
    data = table("lego/separation").filter(pl.col("step") == pl.col("step").max().over("way"))
    longest = data.filter(pl.col("length") == 160)
    fast = longest.filter(pl.col("way") == "fast-decay")["right"].min()
    assert f"right at L=160** in {np.floor(fast * 100) / 100:.2f} of" in README  # pyright: ignore
    least = longest.filter(pl.col("way") != "fast-decay").group_by("way", "action").agg(pl.col("right").mean())
    worst = least.group_by("way").agg(pl.col("right").min())["right"]
    assert f"leave some actions at {worst.min():.2f} to {worst.max():.2f}" in README


def test_300_epochs_of_lego():
    data = table("lego/epochs").filter((pl.col("step") == pl.col("step").max()) & (pl.col("length") >= 40))
    means = data.group_by("way", "action", "length", maintain_order=True).agg(pl.col("right").mean())
    found = {key: list(part["right"]) for key, part in means.group_by("way", "action", maintain_order=True)}
    pool = json.loads((FIGURES / "lego" / "epochs" / "about.json").read_text())["parameters"]["pool"]
    text = " ".join(README.split())
    assert f"({data['seed'].n_unique()} seeds each), and which action is ahead turns with them" in text
    assert f"Over a fixed set of {pool:,} sentences at L=40, 80 and 160" in text
    for way, words in (("fixed", "right in {} of the sentences, S5 in {};"), ("fresh", "C6 in {}, S5 in {}.")):
        assert words.format(*(listed(found[way, action], "{:.2f}") for action in ("C6", "S5"))) in text
    fixed, fresh = ({action: np.array(found[way, action]) for action in ("C6", "S5")} for way in ("fixed", "fresh"))
    apart = max(abs(each["C6"] - each["S5"]).max() for each in (fixed, fresh))
    assert min((fresh[action] - fixed[action])[1:].min() for action in fixed) > 2 * apart  # at L = 80 and 160
    assert (fixed["C6"] >= fixed["S5"]).all()
    assert (fresh["C6"] <= fresh["S5"]).all()


def test_self_training_of_lego():
    stages = table("lego/1b").filter((pl.col("model") == "decoder") & (pl.col("length") == 160) & (pl.col("stage") > 5))
    means = stages.group_by("stage", maintain_order=True).agg(pl.col("right").mean())["right"]
    assert f"bring S5 at L=160 to {', '.join(f'{each:.2f}' for each in means[:-1])} and {means[-1]:.2f}" in README
    theory = recorded("lego")["L16"]["measured"]
    assert theory["C6: L=160"] == theory["S5: L=40"] == 1
    assert theory["S5: L=160"] == 0
    assert recorded("lego")["L17"]["measured"]["L=16: all values right at 160"] == 1


def test_where_the_decoder_looks():
    number = r"(-?\d\.\d+)"
    pairs = re.findall(rf"(?:C6|S5) {number} \([^)]*\) and {number}", told("lego/2"))
    assert "C6 {} and {}, S5 {} and {}".format(*(each for pair in pairs for each in pair)) in README
    fallen = []
    for name in ("lego/6", "lego/7"):
        means = re.findall(rf"{number} \([^)]*\) at L=10 and {number}", told(name))
        fallen.append([f"{float(short) - float(long):.3f}" for short, long in means])
    assert "predicate falls by {} and {}, on the query by {} and {}".format(*fallen[0], *fallen[1]) in README
