"""Print docs/verdicts.md from what `sorites verify --paper SLUG --json FILE` wrote, one file per paper.

python bench/readme.py FILE.json ... > docs/verdicts.md
"""

import json
import sys
from pathlib import Path

from sorites.papers.registry import papers


def number(value) -> str:
    return "·" if value is None else f"{value:.4g}"


def row(v: dict) -> str:
    predicted, measured, prefix = v["predicted"], v["measured"], ""
    if isinstance(measured, dict):  # the first comparison speaks for the claim; `sorites verify` shows all
        name = next(iter(measured))
        predicted, measured, prefix = predicted[name], measured[name], f"{name}: "
    erratum = "" if v["erratum"] is None else f"; the printed form {v['erratum']['printed_verdict']}"
    numbers = f"{prefix}{number(predicted)} → {number(measured)}"
    cells = (v["id"], v["label"], v["says"], numbers, v["verdict"] + erratum)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def main() -> None:
    print("# Verdicts at quick scale\n")
    print("Two CPU cores. A verdict judges the statement as it stands here; where the printed form differs, the last")
    print("column says what became of it. `sorites verify ID` shows every number and departure.")
    for file in sys.argv[1:]:
        verdicts = json.loads(Path(file).read_text())
        paper, seconds = papers()[verdicts[0]["paper"]], sum(v["seconds"] for v in verdicts)
        print(f"\n## {paper.title}\n\n`{paper.slug}`, {len(verdicts)} claims, {seconds:.0f} s.\n")
        print("| claim | in the paper | says | predicted → measured | verdict |\n|---|---|---|---|---|")
        print("\n".join(row(v) for v in verdicts))


if __name__ == "__main__":
    main()
