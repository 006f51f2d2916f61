"""Compare verdicts and their numbers with those of e86403e.

sorites verify --scale quick --json new.json
python tests/frozen/verdicts.py new.json tests/frozen/verdicts-quick.json

Prints every claim whose verdict differs, and every one whose numbers differ, with the largest relative difference.
"""

import json
import math
import sys


def numbers(record: dict, column: str) -> dict[str, float | None]:
    found = record[column]
    return found if isinstance(found, dict) else {"": found}


def apart(one: float | None, other: float | None) -> float:
    """The relative difference of two numbers."""
    if one == other or (one is not None and other is not None and math.isnan(one) and math.isnan(other)):
        return 0.0
    if one is None or other is None:
        return math.inf
    return abs(one - other) / max(abs(one), abs(other))


def difference(old: dict, new: dict) -> float:
    """The largest relative difference between the numbers of two records."""
    largest = 0.0
    for column in ("predicted", "measured", "tolerance"):
        mine, theirs = numbers(old, column), numbers(new, column)
        if mine.keys() != theirs.keys():
            return math.inf
        largest = max(largest, *(apart(mine[name], theirs[name]) for name in mine), 0.0)
    return largest


def main(new_path: str, old_path: str) -> int:
    with open(new_path) as file:
        new = {record["id"]: record for record in json.load(file)}
    with open(old_path) as file:
        old = json.load(file)
    changed = [id for id in old if id not in new or old[id]["verdict"] != new[id]["verdict"]]
    printed = {id: (new[id]["erratum"] or {}).get("printed_verdict") for id in old if id in new}
    changed += [id for id, verdict in printed.items() if verdict != old[id]["printed"]]
    for id in changed:
        print(f"{id}: another verdict")
    found = {id: difference(old[id], new[id]) for id in old if id in new}
    for id, largest in sorted(found.items(), key=lambda each: -each[1]):
        if largest:
            print(f"{id}: numbers differ by {largest:.1e}")
    equal = sum(largest == 0 for largest in found.values())
    print(f"{len(old) - len(changed)} of {len(old)} verdicts are equal, {equal} with every number to the last digit")
    return 1 if changed else 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
