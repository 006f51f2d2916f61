"""What the README and docs/bench.md say of speed, read from the records that they say it from."""

import importlib
import json
import re
import statistics

import jax.numpy as jnp
import numpy as np
import pytest

from test_findings import ROOT

LOSSES = "held-out loss of 8 seeds every 8,192 sequences"


def record(name):
    return json.loads((ROOT / "results" / f"{name}.json").read_text())


DEEP, BESIDE = record("profile-wen-h200"), record("bench-wen-h200")
SAME = record("compilation-cpu")["the same work"]
OTHER_MACHINE = "the day of commit 84a9395 on another machine, commit 951f108"
NOW = BESIDE["sequences per second, width 720"]
ON_G, ON_R = (
    {name: row for name, row in BESIDE[f"the run before, commit {each}"].items() if isinstance(row, dict)}
    for each in ("709ccf7", "6619bc6")
)
TOLD = " ".join((ROOT / "docs" / "bench.md").read_text().split())


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    return importlib.import_module("page")


def test_what_limits_each_row(page):
    """What the table says is reached is what the records say."""
    table = (ROOT / "docs" / "bench.md").read_text().split("## What limits each row")[1].split("## Where the time")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")
    ]
    now = {row[0]: row[2] for row in rows[2:]}
    beside = {name: page.compared(ours, theirs, unit) for name, ours, theirs, unit in page.rows() if theirs}
    firsts = [(row["what"].removesuffix(", again"), row["first result, s"]) for row in DEEP["first segment"]["rows"]]

    def span(what):
        found = [seconds for told, seconds in firsts if told == what]
        return f"{min(found)} to {max(found)}" if len(found) > 1 else str(found[0])

    deep, four, eight = "four layers, bf16", "four layers, bf16, 4 members", "one layer, TF32, 8 members"
    middle = statistics.median(seconds for told, seconds in firsts if told in (deep, f"{deep}, pace"))
    paces = [f"{NOW[f'4L4H, {kind}']['sorites']:,.0f}" for kind in ("bf16", "TF32")]
    verify, whole = record("compilation-cpu")["verify, two processes"], "reproduce, two processes, "
    cold, again = verify["Enough, nothing there"], verify["Enough, the same store again"]
    reproduce = record("compilation-cpu")[f"{whole}Enough"]
    lego = record("bench-lego-h200")
    ratio = page.compared(lego["sorites"]["training"]["seconds"], lego["torch"]["training"], "s")[2]
    there, processor = SAME["on another machine"], "seconds of processor"
    before, after = (there[f"verify, {commit}"]["seconds"] for commit in ("e293822", "be4be09"))
    then, made = (there[f"reproduce, {commit}"] for commit in ("e293822", "f813c66"))
    assert list(now.values())[:11] == [
        "; ".join(paces),
        f"{span(eight)}; {span(deep)}, median {middle}; {span(four)}, by the machine",
        "; ".join(span(f"{what}, programs on disk") for what in (eight, deep, four)),
        beside["log-icot: 1 seed, a process from start to end (empty cache)"][0],
        beside["rl-sft: REINFORCE, step"][2],
        beside["kim-suzuki: full-batch epoch, forced"][2],
        f"{beside['lego: training step'][2]}; {ratio}",
        f"{cold['seconds']:.0f}; {again['seconds']:.0f}",
        f"{after:.0f} of {before:.0f} s: {after / before:.2f}",
        f"{reproduce['seconds of processor'] / 60:.1f}",
        f"{made[processor] / 60:.1f} of {then[processor] / 60:.1f}: {made[processor] / then[processor]:.2f}",
    ]
    assert f"20 of 49 minutes: {20 / 49:.2f}" in table
    for row, processes in ((cold, "the two processes"), (reproduce, "the two processes"), (made, "the processes")):
        worked, compiled = row[f"seconds that {processes} worked"], row["of which compilation"]
        assert f"compilation, {compiled:.0f} of {worked:.0f} s of two processes" in table


def test_speed_beside_pytorch(page):
    """Every CPU row of the README's table that has a comparison is one of the recorded ones."""
    recorded = [page.compared(ours, theirs, unit) for _, ours, theirs, unit in page.rows() if theirs]
    table = (ROOT / "README.md").read_text().split("## Speed")[1].split("## The house")[0]
    told = [[cell.strip() for cell in line.split("|")[2:7]] for line in table.splitlines() if line.startswith("| ")][1:]
    bare = [[cell.removesuffix(" s") for cell in row] for row in told]
    for row in recorded:
        assert row in bare, row


def test_speed_beside_pytorch_on_the_h200(page):
    """The rows with a record of both sides in one run."""
    lego = record("bench-lego-h200")
    rows = [page.compared(row["sorites"], row, "sequences/s") for row in NOW.values() if "torch" in row]
    assert len(rows) == 4
    rows.append(page.compared(lego["sorites"]["training"]["seconds"], lego["torch"]["training"], "s"))
    table = (ROOT / "README.md").read_text().replace(" s |", " |")
    for row in rows:
        assert " | ".join(row) in table, row
    for row in NOW.values():
        found = [f"{row['sorites']:,.0f}", f"{row['first result, s']:.1f} s"]
        found += [f"{row[side]:,.0f}" if side in row else "" for side in ("torch", "torch.compile")]
        assert " ".join(f"| {' | '.join(found)} |".split()) in TOLD


def test_pytorch_in_seven_sessions():
    sides = DEEP["one kernel"]["beside PyTorch, one run"]
    eager, compiled = sides["torch, bf16 autocast"], sides["torch.compile, bf16 autocast, fused Adam"]
    assert f"PyTorch in the same session: {eager:,.0f} with bf16 autocast, {compiled:,.0f} under" in TOLD
    earlier = BESIDE["an earlier run"]["sequences per second, width 720, one member"]["4L4H with the chain"]
    first, last = earlier["torch, bf16 autocast"], NOW["4L4H, bf16"]["torch"]
    runs = (
        "a run before, commit e3a22e9",
        *(f"the run before, commit {each}" for each in ("84a9395", "709ccf7", "6619bc6")),
    )
    between = [BESIDE[run]["4L4H, bf16"]["torch"] for run in runs]
    *sessions, last = [f"{pace:,.0f}" for pace in (first, eager, *between, last)]
    assert f"{', '.join(sessions)} and {last} in seven sessions" in TOLD


def test_other_runs_on_the_h200():
    same_day = BESIDE[OTHER_MACHINE]
    for run in (BESIDE["a run before, commit e3a22e9"], BESIDE["the run before, commit 84a9395"], ON_G, ON_R):
        *paces, pace = [f"{row['sorites']:,.0f}" for row in run.values()]
        *firsts, first = [f"{row['first result, s']:.1f}" for row in run.values()]
        assert f"made {', '.join(paces)} and {pace}, its first results after {', '.join(firsts)} and {first} s" in TOLD
    *paces, last = [f"{row['sorites']:,.0f}" for row in same_day.values()]
    assert f"(C) it was {', '.join(paces)} (norms behind barriers, which alone there are no more) and {last}." in TOLD


def test_where_products_come_from():
    found = BESIDE["products of one layer without the chain, one run after it"]
    library, search = found["from a library, as now"], found["with the compiler's own search"]
    assert f"{100 * (search / library - 1):.0f} % ({library:,} instead of {search:,} a second;" in TOLD


def losses(when, *keys):
    found = DEEP[when][LOSSES]
    return np.array(found[keys[0]] if keys else found)


def test_losses_of_eight_seeds():
    """Before and after each change; the gap of the means beside the spread of the seeds at that moment."""
    before, after = (losses("one kernel", when) for when in ("before", "after"))
    assert before.shape == after.shape == (8, 17)
    apart, spread = np.abs(before.mean(axis=0) - after.mean(axis=0)).max(), np.ptp(before, axis=0).max()
    assert f"mean by at most {np.ceil(1e4 * apart) / 1e4:.4f}, where the seeds lie up to {spread:.2f} apart" in TOLD
    ways = {
        "beginnings": "means within {:.4f}",
        "lean": "lie within {:.4f} in their means of those before",
        "tree": 'lie within {:.4f} in their means of those in "lean"',
    }
    for name, words in ways.items():
        before, after = after, losses(name)
        apart = np.abs(after.mean(axis=0) - before.mean(axis=0))
        spread = np.ptp(before, axis=0)[apart.argmax()]
        assert f"{words.format(apart.max())}, where at that moment seeds lie {spread:.2f} apart" in TOLD


def test_timings_of_the_deep_gpt():
    sharing = importlib.import_module("sorites.models.beginnings")
    for batch in (512, 2048):  # 30 bits and three thoughts: 33 places
        shared = sharing.beginnings(jnp.zeros((batch, 33)), 30)
        whole = {512: 6, 2048: 7}[batch]  # bits, when every beginning had rows of its own
        rows = shared.tree + batch * shared.rest, whole * 2**whole + batch * (33 - whole)
        assert "{:,} instead of {:,}".format(*rows) in TOLD.replace("rows ", "")
    for row in DEEP["beginnings"]["rows"]:
        first, second = row["sequences per second, twice"]
        assert f"| {first:,} and {second:,} ({row['first result, s']} s)" in TOLD.replace("first result ", "")
    for row in DEEP["lean"]["rows"]:
        first, second = row["sequences per second, twice"]
        assert f"| {first:,} and {second:,} | {row['first result, s']} s |" in TOLD


def test_kernels_of_a_step():
    """Where the time went before fewer passes over memory."""
    before, now = DEEP["lean"]["kernels of a step"].values()
    taken = {name: us for us, _, name in before["[us a step, times, name]"]}

    def spent(words):
        return round(sum(us for name, us in taken.items() if re.fullmatch(words, name)))

    norms, bends = (
        spent(r"fusion_4(74|62)|input_reduce_fusion(_[12])?"),
        spent("input_add_reduce_fusion_2|loop_convert_m.*"),
    )
    assert f"five norms {norms} us of a step of {before['us a step, all']:,}, GELU and its slope {bends}" in TOLD
    assert f"attention {spent('_push|_pull')}, padded" in TOLD
    assert f"few queries, {spent('.*(pad|transpose|concatenate)_.*')}, Adam {spent('loop_add_.*')}" in TOLD
    outside = "us a step, outside of it"
    assert f"{before[outside]} us a step there, {now[outside]} in one of 256 steps" in TOLD


@pytest.mark.parametrize("name", ["attention kernel by itself", "few queries by themselves"])
def test_kernels_by_themselves(name):
    [alone] = [value for key, value in DEEP["lean"].items() if key.startswith(name)]
    for kind, plain in alone["plain"].items():
        shown = re.search(rf"\| {plain} \| ([^|]*)\|", TOLD)
        assert shown is not None
        taken = {(strip, warps): us for strip, warps, us in alone[f"{kind}, [strip, warps, us]"]}
        pairs = re.findall(r"([\d,]+) \((\d+)(?: numbers)?, (\d+)(?: warps)?\)", shown.group(1))
        for us, strip, warps in pairs:
            assert taken[int(strip), int(warps)] == int(us.replace(",", ""))
        assert f"{min(taken.values())} (" in shown.group(1)


@pytest.mark.parametrize("when", ["side by side", "tree"])
def test_first_results_are_told(when):
    for row in DEEP[when]["rows"]:
        made, paces = row.get("of which the training program compiles, s"), row.get("sequences per second, twice", [])
        cells = [row["machine"], row["what"], f"{row['first result, s']} s", "" if made is None else f"{made:.1f} s"]
        cells.append(" and ".join(f"{pace:,}" for pace in paces))
        assert "| " + " ".join(f"{cell} |" if cell else "|" for cell in cells) in TOLD


def test_a_tree_of_beginnings():
    paces = {(row["machine"], row["what"]): row.get("sequences per second, twice", []) for row in DEEP["tree"]["rows"]}

    def on_f(way):
        return np.array([sum(paces["F", f"four layers, {kind}, {way}"]) for kind in ("TF32", "bf16")])

    gains = 100 * (on_f("a tree of 256 rows") / on_f("whole beginnings") - 1)
    assert "{:.1f} % in TF32 and {:.1f} % in bf16 (F)".format(*gains) in TOLD
    kept = [("F", "four layers, TF32, a tree of 256 rows"), ("G", "four layers, TF32, commit 709ccf7")]
    held = [pace for row in kept for pace in paces[row]] + [ON_G["4L4H, TF32"]["sorites"]]
    assert f"48,000: {min(held):,.0f} to {max(held):,.0f} in five runs on two machines" in TOLD
    assert len(held) == 5
    slow = [paces["H", f"four layers, TF32, commit 6367cf0{more}"] for more in ("", ", again")]
    (first, later), (other, last) = slow
    assert f"in two processes, {first:,} and {other:,}, the second was not, {later:,} and {last:,}:" in TOLD
    deeper, here = (
        paces["H", f"four layers, bf16, {which}"] for which in ("eight bits in the tree", "commit 6367cf0, again")
    )
    assert f"An eighth bit in the tree gives {100 * (sum(deeper) / sum(here) - 1):.1f} % in bf16" in TOLD
    assert BESIDE["the run before, commit 709ccf7"]["machine"].startswith("G,")
    assert min(held) > 48_000
    first = {row["what"]: row["first result, s"] for row in DEEP["tree"]["rows"] if row["machine"] == "G"}
    deep = "four layers, bf16, commit 709ccf7"
    alone, disk, four = first[deep], first[f"{deep}, programs on disk"], first[f"{deep}, 4 members"]
    beside = [ON_G[f"4L4H, {kind}"]["first result, s"] for kind in ("bf16", "TF32")]
    told = f"{alone} s on G, {four} of four members, {disk} from disk, {beside[0]:.1f} and {beside[1]:.1f} beside"
    assert told in TOLD
    cores = DEEP["tree"]["two CPU cores"]
    before, after = (", ".join("{:,} and {:,}".format(*pair) for pair in cores[key]) for key in ("84dab24", "709ccf7"))
    assert f"make {after} sequences a second instead of {before} (24 bits" in TOLD


def test_first_results_side_by_side():
    rows = DEEP["side by side"]["rows"]

    def first(machine, what):
        [row] = [row for row in rows if (row["machine"], row["what"]) == (machine, what)]
        return row["first result, s"]

    eight, four, many = "one layer, TF32, 8 members", "four layers, bf16", "four layers, bf16, 4 members"
    disk = ", programs on disk"
    c, d = ([first(machine, what) for what in (eight, four, many, four + disk, eight + disk)] for machine in "CD")
    assert f"On C all of them are met ({c[0]}, {c[1]}, {c[2]}, {c[3]} and {c[4]})" in TOLD
    assert f"({d[0]} s, {d[4]} from disk) and four layers do not ({d[1]}, {d[2]}, {d[3]} from disk;" in TOLD
    other = BESIDE[OTHER_MACHINE]["4L4H, bf16"]["first result, s"]
    assert f"four layers in bf16, took {other:.1f} s;" in TOLD
    runs = (OTHER_MACHINE, "the run before, commit 84a9395")
    beside = [BESIDE[run] for run in runs]
    assert f"from disk; {beside[1]['4L4H, bf16']['first result, s']:.1f} in the run beside PyTorch)" in TOLD
    deep = [row["sequences per second, twice"] for row in rows if row["what"].startswith("four layers, TF32")]
    paces = [pace for pair in deep for pace in pair] + [each["4L4H, TF32"]["sorites"] for each in beside]
    assert f"touched: {min(paces):,.0f} to {max(paces):,.0f} in six runs on four machines" in TOLD


def test_programs_that_run_once():
    """What compiles in the claims, and how long each way takes."""
    found = record("compilation-cpu")
    one = found["157 claims in one process on one core (31a27d2)"]
    kinds = one["programs and seconds of compilation"]
    names = ("trainings", "others", "less than 0.1 s each", "new members")
    trained, others, small, new = (kinds[kind] for kind in names)
    whole = sum(seconds for _, seconds in kinds.values())
    assert f"took {one['seconds of processor']:,.0f} s of processor at commit 31a27d2, {whole:.0f} of them" in TOLD
    assert f"{trained[1]:.0f} s for {trained[0]} trainings, {others[1]:.0f} for {others[0]} other programs" in TOLD
    assert f"{small[1]:.0f} for {small[0]:,} small ones, {new[1]:.0f} for new members." in TOLD
    ways = found["14 claims on one core, whole processes with other XLA_FLAGS"]
    assert len(ways["claims"]) == 14
    for way in list(ways.values())[1:]:
        whole, compiled = way["seconds of processor"], way["of which compilation"]
        assert f"| {whole:.0f} | {compiled:.0f} | {whole - compiled:.0f} |" in TOLD
    [looked] = [value for name, value in found.items() if name.startswith("claims whose trainings are looked at")]
    well, soon = (sum(pair[way] for pair in looked.values()) for way in (0, 1))
    assert f"{', '.join(looked)} from cold {well:.0f} s of processor well and {soon:.0f} soon." in TOLD


def test_descents_that_are_no_run():
    found = record("compilation-cpu")
    [descents] = [value for name, value in found.items() if name.startswith("descents that are no Run")]
    claims = descents["claims"]

    def both(names):
        return [sum(claims[name][way] for name in names) for way in (0, 1)]

    lego = [name for name in claims if name.startswith("L")]
    well, soon = both(lego)
    assert f"{len(lego)} claims of that paper from cold take {soon:.0f} s of processor instead of {well:.0f}" in TOLD
    told = [claims[name][way] for name in ("L25", "L24", "L23") for way in (1, 0)]
    assert "(L25 {} instead of {}, L24 {} and {}, L23 {} and {})".format(*told) in TOLD
    well, soon = both(["W13", "W15", "W19", "W20"])
    assert f"(W13, W15, W19 and W20: {soon:.1f} instead of {well:.1f})" in TOLD
    well, soon = both(["KS-7", "KS-17", "KS-32", "KS-33", "KS-12"])
    assert f"KS-12: {soon:.1f} and {well:.1f}; KS-33 {claims['KS-33'][1]} and {claims['KS-33'][0]})" in TOLD
    [steps] = [value for name, value in found.items() if name.startswith("three steps")]
    for size, times in steps.items():
        (cold, warm), (cold_before, warm_before) = times["709ccf7"], times["84dab24"]
        told = f"{size} {warm} instead of {warm_before} s ({cold} instead of {cold_before:.1f}"
        assert told in TOLD


def test_processes_side_by_side():
    found = record("compilation-cpu")
    one = found["one thread each"]
    for way, words in {
        "a thread for every core": "with a thread for every core",
        "each process held to a core of its own": "with each process held to a core of its own",
        "NPROC=1": "with one thread each",
    }.items():
        sums = [f"{sum(each):.1f}" for each in one[f"seconds of processor of each figure, {way}"]]
        assert f"{' and '.join(sums)} {'s of processor ' if way.startswith('a ') else ''}{words}" in TOLD
    alone = one["alone, seconds"]
    two, single = (", ".join(map(str, alone[way])) for way in ("two threads", "one core"))
    assert f"{', '.join(alone['figures'])} alone took {two} s with two threads and {single} with one core" in TOLD
    ways = ("one thread each", "a thread for every core", "loops as they stand", "loops as they stand, before")
    minutes = [found[f"reproduce, two processes, {way}"]["seconds"] / 60 for way in ways]
    assert f"a process for every core, {minutes[2]:.0f} minutes on two." in (ROOT / "README.md").read_text()
    for now, before in (minutes[:2], minutes[2:]):
        told = f"from cold {now:.1f} minutes on two cores instead of {before:.1f}"
        assert told in (ROOT / "CHANGELOG.md").read_text()
    pairs = ", ".join(f"{after} instead of {before}" for before, after in found["garbage looked for rarely"]["pairs"])
    assert f"with their programs on disk {pairs} s of processor" in TOLD


def test_loops_as_they_stand():
    found = record("compilation-cpu")["loops as they stand"]
    before, after = found["unrolled"], found["as they stand"]
    assert "compile in " + ", ".join(f"{after[k][0]:.1f} instead of {before[k][0]:.1f}" for k in before) in TOLD
    assert "and train in " + ", ".join(f"{after[k][1]:.2f} and {before[k][1]:.2f}" for k in before) in TOLD
    [figures] = [value for name, value in found.items() if name.startswith("figures with programs on disk")]
    for name, ((one, two), (third, fourth)) in figures.items():
        assert f"{name} {third} and {fourth} instead of {one} and {two}" in TOLD
    [claims] = [value for name, value in found.items() if name.startswith("sixteen claims")]
    assert sum(len(re.split(", | and ", names)) for names in claims) == 16
    pairs = " and ".join(f"{after:.0f} instead of {before:.0f}" for before, after in claims.values())
    assert f"eight in a process: {pairs} s." in TOLD
    [others] = [value for name, value in found.items() if name.startswith("others")]
    assert ", ".join(f"{name} {made:.2f} and {ran:.2f}" for name, (made, ran) in others.items()) in TOLD


def test_one_query():
    found = record("compilation-cpu")["one query"]
    for what, pairs in found["trainings"].items():
        told = ", ".join(f"{after:.2f} instead of {before:.2f}" for before, after in pairs)
        assert f"{'without the chain' if what.endswith('without') else 'with it'} {told}" in TOLD
    slope, tables, sums = found["kernels of a step before, batch 128, us"].values()
    told = (
        f"takes {slope:.0f} us for softmax's slope over 128 x 4 x 1 x 21 numbers, {tables[0]:.0f} and {tables[1]:.0f}"
    )
    assert f"{told} for that of the table of scores, {sums[0]:.0f} and {sums[1]:.0f} for sums" in TOLD
    share = 500 * (slope + sum(tables) + sum(sums)) / 1e3 / found["all kernels of 500 steps and 26 evaluations, ms"]
    assert f"spent {share:.0%} of its time".replace("%", " %") in TOLD
    every, few = found["LEGO's names, us a step"].values()
    assert f"{few:.0f} instead of {every:.0f} us a step" in TOLD
    [first] = [value for name, value in found.items() if name.startswith("a first result")]
    assert ", ".join(f"{after:.1f} instead of {before:.1f}" for before, after in first) + " s of processor." in TOLD


def test_blocks_and_slopes():
    found = record("compilation-cpu")["blocks and slopes"]
    told = TOLD.split("**What a cache holds")[1].split("**The batch last")[0]
    for pairs in found["trainings"].values():
        assert ", ".join(f"{after:.2f} instead of {before:.2f}" for before, after in pairs) in told
    slope, lego, largest = found["operations, us"].values()
    assert f"takes {slope[0]:.0f} us as XLA takes it and {slope[1]:.0f} the other way round" in told
    assert f"had it in, {lego[0]:.0f} and {lego[1]:.0f}." in told
    assert f"numbers takes {largest[0]:.0f} us, the largest and then its first place {largest[1]:.0f}." in told
    soon, well = [
        [[each[place] for each in rows] for place in (0, 1)]
        for rows in next(value for name, value in found.items() if name.startswith("LEGO's decoder")).values()
    ]
    assert "trained in {:.2f} and {:.2f} s soon, {:.2f} and {:.2f} well".format(*soon[1], *well[1]) in told
    assert "after {:.1f} and {:.1f}, {:.1f} and {:.1f};".format(*soon[0], *well[0]) in told
    [fewer] = [value for name, value in found.items() if name.startswith("tried: the first level")]
    assert "{:.0f}, {:.0f} and {:.0f} % less".format(*(100 * (1 - after / before) for before, after in fewer)) in told


def test_the_batch_last():
    whole = record("compilation-cpu")
    found, told = whole["batch last"], TOLD.split("**The batch last")[1].split("**Steps and evaluation as two")[0]
    stage, *attention = found["us a step"].values()
    assert "takes {3:.0f} us compiled well, {2:.0f} soon, instead of {1:.0f} and {0:.0f}".format(*stage) in told
    for before, _, after, _ in attention:
        assert f"{after:,.0f} instead of {before:,.0f}" in told
    *wells, last = [f"{well:,.0f}" for *_, well in attention]
    assert f"compiled well these take {', '.join(wells)} and {last}" in told
    [eliminated] = [value for name, value in found.items() if name.startswith("elimination")]
    assert "takes {1:.1f} s of processor instead of {0:.1f}".format(*eliminated) in told
    [threads] = [value for name, value in found.items() if name.startswith("numpy's products")]
    many, one = (", ".join(f"{pair[way][0]} and {pair[way][1]}" for pair in threads.values()) for way in (0, 1))
    assert f"W5 took {many} s of processor, with one thread each {one}." in told
    _, *tried = found["tried and left alone"].values()
    for rows in tried:
        assert ", ".join(f"{icot:.1f} and {rl:.1f}" for icot, rl in rows) in told
    before, after = (whole["verify, two processes"][f"batch last, {when}"] for when in ("before", "nothing there"))
    left = [row["seconds that the two processes worked"] - row["of which compilation"] for row in (after, before)]
    assert "{:.0f} s of the processes' time are left instead of {:.0f}".format(*left) in TOLD


def test_few_places_small_leaves_and_enough():
    told = TOLD.split("**Few places, small leaves, and `Enough`**")[1].split("### Gradients and steps")[0]
    found = record("compilation-cpu")["Enough"]
    [enough] = [row for name, row in found.items() if name.startswith("Enough, six of")]
    for name, words in {"in all": "take {1} instead of {0} s", "wen/2a": "wen/2a {1} instead of {0}",
                        "wen/2c": "wen/2c {1} instead of {0}"}.items():  # fmt: skip
        assert words.format(*enough[name]) in told
    [trained] = [row for name, row in found.items() if name.startswith("trainings, 874043f")]
    less = []
    for pairs in trained.values():
        for (first, then), (now_first, now) in pairs:
            assert f"{now:.3f} instead of {then:.3f}" in told
            less.append(1 - now_first / first)
    assert 0.025 < min(less) < 0.04
    assert 0.07 < max(less) < 0.085
    [slopes] = [row for name, row in found.items() if name.startswith("slopes as XLA")]
    for pairs in slopes.values():
        for before, after in pairs:
            assert f"{after:.3f} instead of {before:.3f}" in told
    tables = found["tables of figures, 874043f and f813c66"]
    assert "of the {} tables of e293822's figures {} are those of 874043f".format(*tables.values()) in told
    [kept] = [row for name, row in found.items() if name.startswith("programs kept")]
    for turn in (0, 1):
        (all_cold, all_again), *few = [kept[seconds][turn] for seconds in ("0", "0.02", "0.05")]
        for rows, whole in (([row[0] for row in few], all_cold), ([row[1] for row in few], all_again)):
            assert re.search(r"{} and {} (s of processor from cold )?instead of {}".format(*rows, whole), told)
    [soon] = [row for name, row in found.items() if name.startswith("GPT compiled soon")]
    for sooner, well in soon.values():
        assert f"{sooner:.1f} instead of {well:.1f}" in told
        assert 1.25 < sooner / well < 1.45


def test_steps_and_evaluation_as_two_programs():
    found = record("compilation-cpu")["steps and evaluation as two programs"]
    told = TOLD.split("**Steps and evaluation as two programs**")[1].split("**The REINFORCE gradient**")[0]
    for turn in (0, 1):
        one, two = ([f"{pairs[turn][place]:.1f}" for pairs in found["first"].values()] for place in (0, 1))
        assert f"{', '.join(two[:-1])} and {two[-1]}" in told
        assert f"instead of {', '.join(one[:-1])} and {one[-1]}" in told
    for pairs in found["first, two cores, seconds until it is there"].values():
        two, one = ([f"{pair[place]:.1f}" for pair in pairs] for place in (1, 0))
        assert f"after {' and '.join(two)}" in told
        assert f"instead of {' and '.join(one)}" in told
    longer = [two / one - 1 for pairs in found["after it"].values() for one, two in pairs]
    assert f"{100 * min(longer):.0f} to {100 * max(longer):.0f} % longer" in told
    one, parts, beside = DEEP["two programs"]["compilation of four layers, bf16, s"].values()
    assert "compiles in {:.1f} and {:.1f} s".format(*one) in told
    assert (
        "in {:.1f} and {:.1f} (one after the other {:.1f} for the evaluation and {:.1f} for".format(*beside, *parts)
        in told
    )


def test_first_results_by_the_machine():
    """Every first result of the paragraph is one of the record, on that machine, and so is every pace."""
    told = TOLD.split("**First results by the machine**")[1].split("**After the first segment**")[0]
    rows = {(row["machine"], row["what"]): row for row in DEEP["two programs"]["rows"]}
    deep, four = "four layers, bf16", "four layers, bf16, 4 members"
    for machine, what in [("N", deep), ("O", deep), ("P", deep), ("N", four), ("O", four)]:
        pair = [rows[machine, name]["first result, s"] for name in (what, f"{what}, again")]
        assert "{} and {} ".format(*pair) + ("s " if (machine, what) == ("N", deep) else "") + f"({machine})" in told
    paces = ["{:,} and {:,}".format(*row["sequences per second, twice"]) for row in rows.values() if len(row) > 5]
    assert all(pace in told for pace in paces)
    assert len(re.findall(r"[\d,]{6,} and [\d,]{6,}", told)) == len(paces)
    for flag, words in {"passes": "passes P took {} and {}", "level": "level 1 {} and {}", "loop": "loops {} and {}",
                        "parallelism": "asked for {} and {}"}.items():  # fmt: skip
        pair = [row["first result, s"] for (_, what), row in rows.items() if "xla_" in what and flag in what]
        assert words.format(*pair) in told


def test_first_results_on_two_more_leases():
    told = TOLD.split("**First results by the machine**")[1].split("**After the first segment**")[0]
    rows = {(row["machine"], row["what"]): row for row in DEEP["another day"]["rows"]}
    deep, four, disk = "four layers, bf16", "four layers, bf16, 4 members", ", programs on disk"

    def first(machine, what):
        return rows[machine, what]["first result, s"]

    def compiled(machine):
        return rows[machine, deep]["of which the training program compiles, s"]

    assert f"took {first('Q', deep)} s on Q, {compiled('Q')} of them the compiler's" in told
    assert f"and {first('R', deep)} on R, {compiled('R')} of them the compiler's" in told
    again = first("Q", f"{deep}{disk}, again")
    assert f"from disk {first('Q', deep + disk)} and {again} on Q, {first('R', deep + disk)} on R" in told
    assert f"four members {first('R', four)} on R, {first('R', four + disk)} from disk" in told
    until = rows["Q", f"{deep}{disk}, again"]["seconds until"].values()
    places = [told.index(f"{seconds:.2f}") for seconds in until]
    assert len(places) == 6
    assert places == sorted(places)


def test_ways_of_teaching_that_are_compared():
    told = TOLD.split("**Ways of teaching that are compared**")[1].split("### Gradients and steps")[0]
    [gained] = [each for name, each in SAME.items() if name.startswith("sharing, [[")]
    for (old, compiled), (new, less) in gained.values():
        assert f"{new} and {less} instead of {old} and {compiled}" in told
    pairs = SAME["sharing, where it loses, the same columns"].values()
    before, after = ([pair[place][1] for pair in pairs] for place in (0, 1))
    assert "compile {} and {} s instead of {} and {}".format(*after, *before) in told
    [turns] = [each for name, each in SAME["in one piece"].items() if name.startswith("[seconds of processor")]
    ([one, _],), ((first, _), (second, _)) = turns["in one"], turns["in 32 pieces"]
    assert f"take {one} s of processor instead of {first} and {second}" in told
    [well] = [each for name, each in SAME["in one piece"].items() if name.startswith("well")]
    assert f"takes {well['in one'][0]} instead of {well['in 32 pieces'][0]}" in told
    [members] = [each for name, each in SAME.items() if name.startswith("new members")]
    chosen = [members[name] for name in ("GPT of one layer", "of two", "decoder")]
    level, piece = ([each[place] for each in chosen] for place in (2, 1))
    assert "take {:.2f} and {:.2f} s (GPTs of one and two layers), {:.2f} (decoder)".format(*level) in told
    assert "instead of {:.2f}, {:.2f} and {:.2f}".format(*piece) in told
    [entropy] = [each for name, each in SAME.items() if name.startswith("no entropy")]
    rows = [entropy[name] for name in ("wen/1a", "wen/2a", "W23")]
    (one, small), (two, less), (three, more) = ((before[1], after[1]) for before, after in rows)
    assert f"{small} and {less} s of compilation instead of {one} and {two}" in told
    assert f"{more} instead of {three}" in told


def test_the_work_that_the_reaches_were_set_for(page):
    told = TOLD.split("**The work that the reaches were set for**")[1].split("**`make test`**")[0]
    before, after, whole = (
        SAME[name] for name in ("verify, e293822", "verify, 23d78c7", "verify, 2aff93a, all 157 claims")
    )
    old, new = (SAME[f"reproduce, {commit}"] for commit in ("2aff93a", "23d78c7"))

    def minutes(row, name="seconds of processor"):
        return f"{row[name] / 60:.1f}"

    worked, compiled = "seconds that the processes worked", "of which compilation"
    slower = before["seconds"] / before["where the reach was set"]
    for words in (
        f"takes {before['seconds']:,.0f} s at e293822 (one process, {minutes(before)} minutes of processor)",
        f"and {after['seconds']:.0f} s at 23d78c7 (two, {minutes(after)}): ",
        f"{after['seconds'] / before['seconds']:.2f} of the time and "
        f"{after['seconds of processor'] / before['seconds of processor']:.2f} of the processor's",
        f"where {before['reach']} of {before['where the reach was set']} s, {before['reach'] / 620:.2f}, was asked",
        f"takes {slower:.2f} times as long",
        f"takes {minutes(new)} minutes of processor there, {minutes(new, 'seconds')} minutes in all",
        f"{new[compiled]:.0f} of the {new[worked]:,.0f} s",
        f"(2aff93a: {minutes(old)}, {minutes(old, 'seconds')} and {old[compiled]:.0f} of {old[worked]:,.0f};",
        f"{new['seconds of processor'] / 60 / slower:.1f} minutes if",
        f"these 23 claims take {whole['of these the 23 claims since e293822'][0]:.0f} of the {whole[worked]:,.0f} s",
    ):
        assert words in told
    there, processor = SAME["on another machine"], "seconds of processor"
    before, middle, made = (there[f"reproduce, {commit}"] for commit in ("e293822", "874043f", "f813c66"))
    first, last = (there[f"verify, {commit}"] for commit in ("e293822", "be4be09"))
    part, beside = (made[processor] / before[processor], last[processor] / first[processor])
    for words in (
        f"e293822 takes {minutes(before)} minutes of processor there, {minutes(before, 'seconds')} in all, "
        f"{before[processor] / 60 / 49:.2f} of the 49",
        f"874043f {minutes(middle)} and {minutes(middle, 'seconds')}; f813c66 {minutes(made)} and "
        f"{minutes(made, 'seconds')}",
        f"and {part:.2f} of what e293822 takes, where 20 of 49, {20 / 49:.2f}, was asked",
        f"takes {first['seconds']:.0f} s at e293822, {minutes(first)} minutes of processor, "
        f"and {last['seconds']:.0f} s at be4be09, {minutes(last)} minutes",
        f"{last['seconds'] / first['seconds']:.2f} of the time and {beside:.2f} of the processor's",
        f"a further {(part - 20 / 49) * before[processor]:.0f} s of {made[processor]:.0f} would have to go",
    ):
        assert words in told
    [(_, parts)] = [each for each in there.items() if each[0].startswith("where the time goes")]
    for name, words in {
        "worked": "{:.0f} s that the two processes worked", "compiling": "{:.0f} the compiler",
        "tracing": "{:.0f} tracing", "lowering": "{:.0f} lowering", "pictures": "{:.0f} pictures",
        "store": "{:.0f} the store", "programs written to disk": "{:.0f} programs written to disk",
        "forgetting programs": "{:.0f} forgetting them", "programs on disk in the end": "({:,} of them)",
    }.items():  # fmt: skip
        assert words.format(parts[name]) in told
    rest = 2 * parts["worked"] - sum(seconds for name, seconds in parts.items() if "in the end" not in name)
    assert f"what is left, {rest:.0f}, are trainings" in told
    same_work = importlib.import_module("same_work")
    assert len(same_work.SINCE & set(whole["that compile longest"])) == 5
    assert "five of the six that compile longest are among them" in told
    assert len([id for id in same_work.SINCE if "/" not in id]) == 23


def test_after_the_first_segment():
    told = TOLD.split("**After the first segment**")[1].split("### All claims")[0]
    rows, every = DEEP["first segment"]["rows"], "first 256 steps, s"
    deep, four, eight = "four layers, bf16", "four layers, bf16, 4 members", "one layer, TF32, 8 members"

    paces = "sequences per second, twice"

    def on(machine, what, column="first result, s"):
        return [row[column] for row in rows if (row["machine"], row["what"].split(", again")[0]) == (machine, what)]

    def disk(machine, what):
        return on(machine, f"{what}, programs on disk")

    def span(what, column="first result, s"):
        found = [*on("S", what, column), *on("T", what, column)]
        return f"{min(found)} to {max(found)}"

    [paced], tf32 = on("T", f"{deep}, pace"), "four layers, TF32"
    for words in (
        f"256 steps took {span(deep, every)} s where it took {span(deep)}",
        f"of four members {span(four, every)} where it took {span(four)}",
        "after {}, {}, {} and {} s, ".format(*on("S", deep)),
        "from disk after {}, {}, {} and {}, ".format(*disk("S", deep)),
        "four members after {} and {}".format(*on("S", four), *disk("S", four)),
        "after {}, {} and {}, from disk {} and {}".format(*on("T", deep), paced, *disk("T", deep)),
        "in TF32 {}, four members after {} and {}".format(*on("T", tf32), *on("T", four)),
        "from disk {}, eight members of one layer after {} and {}".format(
            *disk("T", four), *on("T", eight), *disk("T", eight)
        ),
        *("{:,} and {:,}".format(*on("T", what, paces)[0]) for what in (f"{deep}, pace", tf32)),
        "on U four layers after {}, {} and {} s, ".format(*on("U", deep)),
        "from disk {} and {}, in TF32 {}, ".format(*disk("U", deep), *on("U", tf32)),
        "four members after {}, from disk {}, ".format(*on("U", four), *disk("U", four)),
        "eight members of one layer after {} and {}".format(*on("U", eight), *disk("U", eight)),
        "On V four layers after {}, {} and {}, from disk {} and {}".format(*on("V", deep), *disk("V", deep)),
        *(
            "{:,} and {:,}".format(*pace)
            for machine in "UV"
            for pace in on(machine, f"{deep}, programs on disk, pace", paces)
        ),
        "{:,} and {:,} in TF32".format(*on("U", tf32, paces)[0]),
    ):
        assert words in told
    firsts = [seconds for machine in "STUVWX" for what in (deep, f"{deep}, pace") for seconds in on(machine, what)]
    assert (len(firsts), sum(seconds <= 15 for seconds in firsts), statistics.median(firsts)) == (18, 15, 13.8)
    assert (
        "of eighteen first results of four layers on six leases fifteen were there within 15 s, the median after 13.8"
        in told
    )
    soon = {machine: [seconds <= 5 for seconds in disk(machine, four)] for machine in "STUX"}
    assert soon == {"S": [True], "T": [False], "U": [False], "X": [True, False, True]}
    assert "within 5 s on S and in two of three tries on X, not on T and U" in told
    base = DEEP["first segment"]["874043f beside these, in turns"]
    for machine, what in ((machine, what) for machine in "WX" for what in (deep, four, tf32, eight)):
        then = [
            row["first result, s"]
            for row in base
            if (row["machine"], row["what"].split(", again")[0]) == (machine, what)
        ]
        assert all(str(seconds) in told for seconds in [*on(machine, what), *then])
    for row in [*rows, *base]:
        if row["machine"] in "WX" and row["what"].startswith(f"{deep}, programs on disk, pace"):
            assert "{:,} and {:,}".format(*row[paces]) in told
    [(_, tried)] = [each for each in DEEP["first segment"].items() if each[0].startswith("tried on S")]
    assert "{}, {} and {} s instead of {}, {} and {}".format(*tried["level 2"], *tried["as it is"]) in told
    [(_, loops)] = [each for each in DEEP["first segment"].items() if each[0].startswith("tried on V")]
    heard = {way: [each[0] for each in loops[way]] for way in ("as it is", "maps in a loop", "both")}
    assert "{}, {} and {} s instead of {}, {} and {}".format(*heard["both"], *heard["as it is"]) in told
    both, before = (loops[f"from disk, {way}"] for way in ("both", "as it is"))
    assert "from disk {} and {} instead of {} and {}".format(*both, *before) in told
    assert "alone {}, {} and {}: nothing".format(*heard["maps in a loop"]) in told


def test_rows_and_a_first_result_again():
    """Every pace of the paragraph is one of the record, and so are first results of four layers."""
    told = TOLD.split("**Rows, and a first result again**")[1].split("**LEGO's step on the H200**")[0]
    rows = DEEP["one query"]["rows"]
    paces = [
        "{:,} and {:,}".format(*row["sequences per second, twice"])
        for row in rows
        if "sequences per second, twice" in row
    ]
    assert all(pace in told for pace in paces)
    assert len(re.findall(r"[\d,]{6,} and [\d,]{6,}", told)) == len(paces)
    firsts = {(row["machine"], row["what"]): row["first result, s"] for row in rows}
    for machine in "KLM":
        again = [firsts.get((machine, f"four layers, bf16{which}")) for which in ("", ", again", ", once more")]
        assert all(str(each) in told for each in again if each is not None)


def test_the_search_for_products():
    found = DEEP["choice of products"]
    for way, words in {
        "as it is": "as it is {};",
        "no check of what the search for products finds (xla_gpu_autotune_level=2)": "level=2`) {};",
        "four candidates a product (xla_gpu_autotune_max_solutions=4)": "four candidates a product {};",
        "no command buffers (xla_gpu_enable_command_buffer=)": "without command buffers {};",
    }.items():
        assert words.format(", ".join(map(str, found["first result, s"][way]))) in TOLD
    rows = {row["what"]: row["sequences per second, twice"] for row in found["others"]}
    for kind in ("four layers, bf16, no check of", "four layers, TF32, level 2"):
        [after] = [pace for name, pace in rows.items() if name.startswith(kind)]
        before = rows[f"{kind[:17].rstrip(' ,')}, as it is"]
        assert "{:,} and {:,} beside {:,} and {:,}".format(*after, *before) in TOLD


def test_verify_and_reproduce_from_cold():
    found = record("compilation-cpu")
    for row in found["verify, two processes"].values():
        cells = [row["seconds"], row["seconds of processor"] / 60, row["of which compilation"]]
        assert f"| {cells[0]:.0f} | {cells[1]:.1f} | {cells[2]:.0f} |" in TOLD
    for when, whole in found.items():
        if not when.startswith("reproduce, two processes"):
            continue
        told = f"{whole['seconds'] / 60:.1f} minutes, {whole['seconds of processor'] / 60:.1f} of processor"
        worked = whole["seconds that the two processes worked"] / 60
        assert f"{told}; {whole['of which compilation'] / 60:.1f} of the {worked:.1f} minutes" in TOLD


def test_what_would_be_left_of_reproduce():
    found, traced = record("products-cpu"), record("compilation-cpu")["tracing"]
    told = TOLD.split("**What would be left of `reproduce`**")[1].split("**`make test`**")[0]
    alone, models = found["products alone, s"], found["models"]
    assert f"({found['GFLOP/s of the fastest product']:.0f} GFLOP/s on one core), take {alone:.0f} s" in told
    for name, words in {"GPT": "the GPT", "Decoder": "LEGO's decoder", "Positional": "positional models"}.items():
        steps, looks = (models[name][f"products of {what}, s"] for what in ("steps", "evaluations"))
        assert f"{steps:.0f} and {looks:.0f} for {words}" in told
    assert f"took {found['trained in, s']:,.0f} s, compilation included" in told
    assert f"no Run {found['descents that are no Run, s']:.0f}." in told
    compiled = record("compilation-cpu")["reproduce, two processes, blocks and slopes"]["of which compilation"]
    assert f"takes {compiled / 60:.1f} and products alone {alone / 60:.1f};" in told
    seconds = sum(sum(row.values()) for row in traced.values() if isinstance(row, dict))
    assert f"tracing and lowering took {seconds:.0f} s" in told
    assert 1.5 < (20 * 60 - compiled - alone - seconds) / 60 < 2.5  # "two minutes"


def test_first_results():
    """Every row that docs/bench.md tells of is in the record, on that machine; and the phases of compilation."""
    assert (ROOT / "bench" / "limits.md").read_text() in (ROOT / "docs" / "bench.md").read_text()
    found = DEEP["softmax"]
    rows = {(row["machine"], row["first result, s"]): row for row in found["rows"]}
    told = re.findall(r"\| (\d) \| [^|]* \| ([\d.]+) s \| (?:([\d.]+) s )?\| (?:([\d,]+) and ([\d,]+) )?\|", TOLD)
    assert len(told) == 21
    for machine, first, made, *paces in told:
        row = rows[int(machine), float(first)]
        compiles = row.get("of which the training program compiles, s")
        assert made == ("" if compiles is None else f"{compiles:.1f}")
        assert paces == ([f"{pace:,}" for pace in row.get("sequences per second, twice", [])] or ["", ""])
    before, after, eight, eight_after = found["phases of compilation, s, traced"].values()
    fusion, whole = "of it fusion", "all programs"
    assert f"took {before[whole]:.1f} s, of which {before[fusion]:.1f} were one pass, fusion; " in TOLD
    assert f"of eight members of one layer {eight[whole]:.1f} and {eight[fusion]:.1f}." in TOLD
    told = f"fusion took {after[fusion]:.1f} and {eight_after[fusion]:.1f} s, all of it {after[whole]:.1f} and"
    assert f"{told} {eight_after[whole]:.1f};" in TOLD
