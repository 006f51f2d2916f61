"""What `make versions` recorded, as a table: the releases that a subset of the tests passed with."""

import json
from pathlib import Path

RECORD = Path(__file__).parents[1] / "versions.json"


def table() -> str:
    if not RECORD.exists():
        return "Not recorded yet; `make versions` does it.\n"
    found = json.loads(RECORD.read_text())
    names = list(next(iter(found.values()))["versions"])
    lines = ["| | " + " | ".join(found) + " |", "|---" * (len(found) + 1) + "|"]
    rows = {name: [each["versions"][name] for each in found.values()] for name in names}
    rows["tests"] = [", ".join(f"{count} {word}" for word, count in each["tests"].items()) for each in found.values()]
    return "\n".join([*lines, *("| " + " | ".join([name, *cells]) + " |" for name, cells in rows.items())]) + "\n"
