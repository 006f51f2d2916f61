"""Run every referee, and compare what it found with what the ledger recorded.

    python referees/run.py            # all
    python referees/run.py KS-3 W1    # some

A referee is a second computation of a claim. It was written from the paper's text, without reading the claim's check,
and does not import sorites. Its last line of output is a JSON object with `id` and `printed`, the outcome of the
printed statement. Where a referee differs from the record, find out who is right before you edit either. Claims under
review (`docs/site/under_review.py`) may differ.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
WORDS = {"holds": "holds", "fails": "fails", "inconclusive": "undecided"}  # of the ledger, and here
SECONDS = 120  # for one referee


def recorded() -> dict[str, str]:
    """The outcome of each printed statement in docs/verdicts; without an erratum it is that of the claim."""
    found = {}
    for path in (HERE.parent / "docs" / "verdicts").glob("*.json"):
        for record in json.loads(path.read_text()):
            erratum = record["erratum"]
            found[record["id"]] = WORDS[erratum["printed_verdict"] if erratum else record["verdict"]]
    return found


def outcome(path: Path) -> dict:
    """What one referee prints at its end."""
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=SECONDS, check=False, cwd=HERE
    )
    if done.returncode:
        raise SystemExit(f"{path.name} ended with status {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def main(ids: list[str]) -> int:
    """Print one line for each referee; return 1 where one differs from the record."""
    sys.path.insert(0, str(HERE.parent / "docs" / "site"))
    from under_review import CLAIMS  # no code of the library

    paths = [path for path in sorted(HERE.glob("[A-Z]*[0-9].py")) if not ids or path.stem in ids]
    ledger, differ = recorded(), 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, found in zip(paths, pool.map(outcome, paths), strict=True):
            id, printed = path.stem, found["printed"]
            same, reviewed = printed == ledger[id], id in CLAIMS
            differ += not (same or reviewed)
            word = "" if same else "under review" if reviewed else "DIFFERS"
            print(f"{id:6} printed form {printed:9} recorded {ledger[id]:9} {word}".rstrip())
    print(f"{len(paths)} referees, {differ} differ from the record")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
