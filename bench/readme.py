"""Print the README's verdict table from `sorites reproduce --json FILE` (or `sorites verify --json FILE`)."""

import json
import sys
from pathlib import Path


def number(value) -> str:
    return "·" if value is None else f"{value:.4g}"


def main() -> None:
    found = json.loads(Path(sys.argv[1]).read_text())
    verdicts = found["verdicts"] if isinstance(found, dict) else found
    print("| claim | says | predicted → measured | verdict |\n|---|---|---|---|")
    for v in verdicts:
        predicted, measured = v["predicted"], v["measured"]
        if isinstance(measured, dict):  # the first comparison speaks for the claim; `sorites verify` shows all
            name = next(iter(measured))
            predicted, measured, prefix = predicted[name], measured[name], f"{name}: "
        else:
            prefix = ""
        erratum = "" if v["erratum"] is None else f"; the printed form {v['erratum']['printed_verdict']}"
        says = v["says"].replace("|", "\\|")
        print(f"| {v['id']} | {says} | {prefix}{number(predicted)} → {number(measured)} | {v['verdict']}{erratum} |")


if __name__ == "__main__":
    main()
