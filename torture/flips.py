"""One bit of one file turned over: it is found, or nothing that anybody reads has changed.

    python torture/flips.py --count 4000 --jobs 16 --minutes 9

Every kind of file that the package writes and reads back: specs, meta, tables, weights, weights on the way, arrays of
tasks, what is no Run, verdicts, a figure's tables, archives, histories in .npz, checkpoints. A traceback, a hang beyond
60 s, or an answer that differs from that of the whole file without a word is a failure.
"""

import os
import random
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from common import Row, Rows, arguments, report, rows_of, work

CHUNK = 40  # flips of one process


def main() -> int:
    parser = arguments(__doc__, 4000, "flips")
    parser.add_argument("--few", type=int, default=CHUNK, help="flips of a chunk that are made, for a short look")
    parser.add_argument("--worker", type=int, help=f"do {CHUNK} of them, in a process of its own")
    options = parser.parse_args()
    if options.worker is not None:
        return spoil(options)
    options.state = options.state.resolve()
    rows = Rows(options.state / "flips.jsonl")
    chunks = [
        number for number in range(-(-options.count // CHUNK)) if case(options, number, CHUNK - 1) not in rows.done
    ]

    def do(number: int) -> None:
        words = [sys.executable, __file__, "--worker", str(number), "--seed", str(options.seed), "--few",
                 str(options.few)]  # fmt: skip
        for row in rows_of(words, options.state / "flips" / f"{options.seed}-{number}", options):
            rows.add(row)

    work(chunks, do, options)
    found = Counter(row["kind"] for row in rows.rows)
    return report(options, rows, [row for row in rows.rows if row["outcome"] == "FAILED"], kinds=dict(found))


def case(options: Any, chunk: int, number: int) -> str:
    return f"{options.seed}-{chunk}-{number}"


def spoil(options: Any) -> int:
    """In this folder: one store, filled once, and one bit after another turned over and back."""
    import shelf

    here = Path.cwd()
    shelf.fill(here)
    files = kinds(here)
    clean: dict[str, Any] = {}
    for number in range(options.few):
        luck = random.Random(case(options, options.worker, number))
        kind = sorted(files)[(options.worker * CHUNK + number) % len(files)]
        path = luck.choice(files[kind])
        bit = luck.randrange(8 * path.stat().st_size)
        row = {"case": case(options, options.worker, number), "kind": kind, "file": path.name, "bit": bit}
        shelf.say({"begin": row})
        shelf.say({**row, **judged(here, path, kind, bit, clean)})
    return 0


def kinds(here: Path) -> dict[str, list[Path]]:
    store = here / "store"
    found: dict[str, list[Path]] = {}
    for path in sorted(store.glob("members/*/*")):
        found.setdefault(path.name, []).append(path)
    found["verdict"] = sorted(store.glob("verdicts/*/*"))
    for path in sorted(store.glob("figures/*/*/*/*")):
        found.setdefault("figure " + ("about.json" if path.name == "about.json" else "table"), []).append(path)
    archives = {"archive": ["out.tar.gz"], "history": ["history.npz"], "checkpoint": ["standing.npz"]}
    return found | {kind: [here / name for name in names] for kind, names in archives.items()}


def judged(here: Path, path: Path, kind: str, bit: int, clean: dict[str, Any]) -> Row:
    """Every question about the spoilt file against its answer for the whole one."""
    import shelf

    place = here / "spoilt"

    def asked(name: str, flip: bool) -> Any:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(here, place, ignore=shutil.ignore_patterns("spoilt", "*.log"))
        target = place / path.relative_to(here)
        if flip:
            content = bytearray(target.read_bytes())
            content[bit // 8] ^= 1 << (bit % 8)
            target.write_bytes(content)
        if kind in ("archive", "history"):
            return shelf.imported(place, target.name)
        return (
            shelf.resumed(place)
            if kind == "checkpoint"
            else shelf.questions(place, shelf.first(here / "store"))[name]()
        )

    names = (
        ["it"]
        if kind in ("archive", "history", "checkpoint")
        else list(shelf.questions(here, shelf.first(here / "store")))
    )
    if "figure" in kind:
        names = ["tables", "check"]
    noticed = []
    for name in names:
        key = f"{kind if names == ['it'] else ''} {name}"
        try:
            if key not in clean:
                clean[key] = asked(name, False)
            answer = asked(name, True)
        except BaseException as error:
            return {"outcome": "FAILED", "question": name, "why": shelf.failure(error)}
        if answer.noticed or (name == "check" and answer != clean[key]):
            noticed.append(name)
        elif answer != clean[key]:
            return {"outcome": "FAILED", "question": name, "why": _difference(clean[key].value, answer.value)}
    return {"outcome": "found" if noticed else "harmless", "noticed": noticed}


def _difference(first: str, second: str) -> str:
    place = next((n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), 0)
    return f"{first[max(0, place - 60) : place + 60]!r} became {second[max(0, place - 60) : place + 60]!r}"


if __name__ == "__main__":
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    raise SystemExit(main())
