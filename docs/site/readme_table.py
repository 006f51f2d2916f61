"""The four rows of speed in README.md, filled in from results/bench-*.json.

python docs/site/readme_table.py        # writes them between the two markers
"""

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"(?<=<!-- speed -->\n).*?(?=<!-- /speed -->)", re.DOTALL)
SIDES = ("torch", "torch.compile")


def table() -> str:
    """Seconds, or sequences per second; the ratio is to the faster of PyTorch's two."""
    icot, suzuki, gpt = (_bench(name) for name in ("log-icot-cpu", "kim-suzuki-cpu", "wen-h200"))
    start, members = icot["process"], icot["sorites"][-1]
    forced, deep = suzuki["lessons"]["forced"], gpt["sequences per second, width 720"]["4L4H, bf16"]
    count = members["seeds"]
    rows = [
        _row("Log-ICoT, one seed, with start and compilation", start["sorites, empty cache"], start, "s"),
        _row(
            f"Log-ICoT, {count} seeds, after compilation",
            members["seconds"],
            {side: icot[side]["seconds"] * count for side in SIDES},
            "s",
        ),
        _row("Teacher forcing, an epoch of 100,000 chains", forced["sorites"], forced, "s"),
        _row("GPT with four layers, H200, bf16", deep["sorites"], deep, "sequences/s"),
    ]
    head = ["", "sorites", "PyTorch", "torch.compile", "ratio"]
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _bench(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "results" / f"bench-{name}.json").read_text())


def _row(what: str, ours: float, others: dict[str, float], unit: str) -> list[str]:
    theirs = [others.get(side) for side in SIDES]
    known = [each for each in theirs if each is not None]
    ratio = min(known) / ours if unit == "s" else ours / max(known)
    return [what, *(_number(each, unit) for each in (ours, *theirs)), f"{ratio:.1f} x"]


def _number(value: float | None, unit: str) -> str:
    return "" if value is None else f"{value:,.0f}/s" if unit != "s" else f"{value:.3g} s"


def filled(text: str) -> str:
    """The text of the README with the rows of the records."""
    return BLOCK.sub(lambda _: table(), text)


if __name__ == "__main__":
    README.write_text(filled(README.read_text()))
