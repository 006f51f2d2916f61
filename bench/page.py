"""Write docs/bench.md and its picture from the recorded results/bench-*.json and bench/limits.md, and docs/cells.md
from results/cells.json.

python bench/page.py
"""

import json
from pathlib import Path

import numpy as np

from sorites.drawing import COLOURS, QUIET, new_figure, style
from sorites.report.cells import markdown

ROOT = Path(__file__).parents[1]


def recorded(name: str) -> dict:
    return json.loads((ROOT / "results" / f"bench-{name}.json").read_text())


def rows() -> list[tuple[str, float, float | None, str]]:
    """What, ours, theirs, unit; smaller is better for times, larger for rates."""
    icot, suzuki, policy, gpt, lego = (
        recorded(f"{n}-cpu") for n in ("log-icot", "kim-suzuki", "rl-sft", "wen", "lego")
    )
    found: list[tuple[str, float, float | None, str]] = [
        (
            f"log-icot: AdamW experiment, {row['seeds']} seed{'s' if row['seeds'] > 1 else ''}",
            row["seconds"],
            icot["torch"]["seconds"] * row["seeds"],
            "s",
        )
        for row in icot["sorites"]
    ]
    found += [
        (f"kim-suzuki: full-batch epoch, {lesson}", row["sorites"], row["torch"], "s")
        for lesson, row in suzuki["lessons"].items()
    ]
    found.append(
        ("rl-sft: REINFORCE gradient", policy["sorites"]["REINFORCE, step"]["seconds"], policy["torch"]["seconds"], "s")
    )
    found += [
        (f"rl-sft: {name}", policy["sorites"][name]["seconds"], None, "s")
        for name in policy["sorites"]
        if "count" in name
    ]
    found += [
        (f"wen: {name}", max(gpt[name]["sorites"]), max(gpt[name]["torch"]), "sequences/s")
        for name in ("with the chain", "without")
    ]
    for name, key in (("rollout, 100 sentences, L=160", "rollout"), ("training step", "training")):
        found.append((f"lego: {name}", lego["sorites"][key]["seconds"], lego["torch"][key]["seconds"], "s"))
    return found


def draw(curve: dict[str, float]) -> None:
    lengths, seconds = np.array([int(n) for n in curve], float), np.array(list(curve.values()))
    each = 1e3 * seconds / lengths  # a + b L: constant work per answer, and attention over the prefix
    slope, start = np.polyfit(lengths, each, 1)
    with style():
        figure = new_figure(6.0, 3.8)
        ax = figure.subplots()
        ax.plot(lengths, each, "o", color=COLOURS["blue"], label="measured, 100 sentences")
        ax.plot(lengths, start + slope * lengths, color=QUIET, linewidth=1,
                label=f"{start:.2f} ms + {slope:.3f} ms x L: attention over 2L clauses is the second term")  # fmt: skip
        ax.set(xlabel="length L", ylabel="ms per answer", ylim=(0, None), title="Cached rollout of the LEGO decoder")
        figure.legend(loc="outside lower center")
        figure.savefig(ROOT / "docs" / "lego-rollout.png", dpi=figure.dpi, facecolor="white")


def main() -> None:
    lines = [
        "# Speed, side by side\n",
        "Two CPU cores, each pair in one run, after compilation; `make bench` measures again.",
        "Recorded in `results/bench-*.json`, from which `bench/page.py` wrote this page.\n",
        "| | sorites | PyTorch | unit | ratio |\n|---|---|---|---|---|",
    ]
    for name, ours, theirs, unit in rows():
        ratio = "" if theirs is None else f"{(theirs / ours if unit == 's' else ours / theirs):.1f} x"
        lines.append(f"| {name} | {ours:,.3g} | {'' if theirs is None else f'{theirs:.3g}'} | {unit} | {ratio} |")
    peak = recorded("kim-suzuki-cpu")["peak MiB"]
    lines += ["", f"Peak memory of kim-suzuki at n=100,000, members one after another: {peak['1']:.0f} MiB with one, "
              f"{peak['8']:.0f} MiB with eight.", "", "![Cost of a cached rollout](lego-rollout.png)", ""]  # fmt: skip
    lines.append((ROOT / "bench" / "limits.md").read_text())
    (ROOT / "docs" / "bench.md").write_text("\n".join(lines))
    draw(recorded("lego-cpu")["sorites"]["curve"])
    (ROOT / "docs" / "cells.md").write_text(markdown())


if __name__ == "__main__":
    main()
