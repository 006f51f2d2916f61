"""Write docs/bench.md and its picture from the recorded results/bench-*.json and bench/limits.md, and docs/cells.md
from results/cells.json.

python bench/page.py
"""

import json
from pathlib import Path

import growth_page
import numpy as np

from sorites.drawing import COLOURS, QUIET, new_figure, style
from sorites.report.cells import markdown

ROOT = Path(__file__).parents[1]


def recorded(name: str) -> dict:
    return json.loads((ROOT / "results" / f"bench-{name}.json").read_text())


SIDES = ("torch", "torch.compile")  # the same code, eager and compiled


def rows() -> list[tuple[str, float, dict[str, float], str]]:
    """What, ours, theirs by side, unit; smaller is better for times, larger for rates."""
    icot, suzuki, policy, gpt, lego = (
        recorded(f"{n}-cpu") for n in ("log-icot", "kim-suzuki", "rl-sft", "wen", "lego")
    )
    found: list[tuple[str, float, dict[str, float], str]] = []
    for row in icot["sorites"]:
        name = f"log-icot: AdamW experiment, {row['seeds']} seed{'s' if row['seeds'] > 1 else ''}"
        found.append((name, row["seconds"], {side: icot[side]["seconds"] * row["seeds"] for side in SIDES}, "s"))
    for name, taken in icot["process"].items():
        if name != "torch":
            found.append((f"log-icot: 1 seed, a process from start to end ({name.partition(', ')[2]})", taken,
                          {"torch": icot["process"]["torch"]}, "s"))  # fmt: skip
    for lesson, row in suzuki["lessons"].items():
        name = f"kim-suzuki: full-batch epoch, {lesson}"
        found.append((name, row["sorites"], {side: row[side] for side in SIDES}, "s"))
    for name, row in policy["sorites"].items():
        others = {side: policy[side]["seconds"] for side in SIDES} if name == "REINFORCE, step" else {}
        if others or "count" in name:
            found.append((f"rl-sft: {name}", row["seconds"], others, "s"))
    for name in ("with the chain", "without"):
        best = {side: max(rates) for side, rates in gpt[name].items() if side != "ratios"}
        found.append((f"wen: {name}", best.pop("sorites"), best, "sequences/s"))
    ours, theirs = lego["sorites"], lego["torch"]
    rolled = {"torch": theirs["rollout"]["seconds"]}
    found.append(
        (f"lego: rollout, {lego['sentences']} sentences, L={lego['length']}", ours["rollout"]["seconds"], rolled, "s")
    )
    found.append(("lego: training step", ours["training"]["seconds"], theirs["training"], "s"))
    return found


def number(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def compared(ours: float, theirs: dict[str, float], unit: str) -> list[str]:
    """Ours, then theirs and the ratio by side."""
    cells = [number(ours)]
    for side in SIDES:
        other = theirs.get(side)
        ratio = "" if other is None else f"{(other / ours if unit == 's' else ours / other):.1f} x"
        cells += [number(other), ratio]
    return cells


def draw(curve: dict[str, float], sentences: int) -> None:
    lengths, seconds = np.array([int(n) for n in curve], float), np.array(list(curve.values()))
    each = 1e3 * seconds / lengths  # a + b L: constant work per answer, and attention over the prefix
    slope, start = np.polyfit(lengths, each, 1)
    with style():
        figure = new_figure(6.0, 3.8)
        ax = figure.subplots()
        ax.plot(lengths, each, "o", color=COLOURS["blue"], label=f"measured, {sentences} sentences")
        law = f"{start:.2f} ms + {1e3 * slope:.2f} us x L: attention over 2L clauses is the second term"
        ax.plot(lengths, start + slope * lengths, color=QUIET, linewidth=1, label=law)
        ax.set(xlabel="length L", ylabel="ms per answer", ylim=(0, 1.1 * each.max()))
        ax.set_title("Cached rollout of the LEGO decoder")
        figure.legend(loc="outside lower center")
        figure.savefig(ROOT / "docs" / "lego-rollout.png", dpi=figure.dpi, facecolor="white")


def main() -> None:
    lines = [
        "# Speed, side by side\n",
        "Two CPU cores, each pair in one run, after compilation; `make bench` measures again.",
        "Recorded in `results/bench-*.json`, from which `bench/page.py` wrote this page.\n",
        "| | unit | sorites | PyTorch | ratio | torch.compile | ratio |\n|---|---|---|---|---|---|---|",
    ]
    lines += [f"| {name} | {unit} | {' | '.join(compared(*rest, unit))} |" for name, *rest, unit in rows()]
    peak, lego = recorded("kim-suzuki-cpu")["peak MiB"], recorded("lego-cpu")
    lines += ["", f"Peak memory of kim-suzuki at n=100,000, members one after another: {peak['1']:.0f} MiB with one, "
              f"{peak['8']:.0f} with eight, {peak['64']:.0f} with 64.", "",
              "![Cost of a cached rollout](lego-rollout.png)", ""]  # fmt: skip
    grown = growth_page.records([])
    if grown:
        growth_page.growth(grown)
        growth_page.roofline(grown)
        lines.append(growth_page.words(grown))
    lines.append((ROOT / "bench" / "limits.md").read_text())
    (ROOT / "docs" / "bench.md").write_text("\n".join(lines))
    draw(lego["sorites"]["curve"], lego["sentences"])
    (ROOT / "docs" / "cells.md").write_text(markdown())


if __name__ == "__main__":
    main()
