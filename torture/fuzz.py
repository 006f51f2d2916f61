"""Command lines, run files, specs, archives and store files that nobody meant: an answer or one sentence, never more.

    python torture/fuzz.py --count 10000 --jobs 16 --minutes 9

Hypothesis draws them; most are tried in a process that does many, some (--processes) in one of their own. A failure is
a traceback, a refusal that is not one sentence, a hang beyond 60 s, or a row that the whole store does not have.
"""

import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from common import Rows, arguments, report, rows_of, work

CHUNK = 50  # cases of one process
FEW = 10  # where each case starts a process of its own
KINDS = ("line", "store", "spec", "archive", "file", "line", "store", "archive", "line", "line")


def main() -> int:
    parser = arguments(__doc__, 10_000, "cases in process")
    parser.add_argument("--processes", type=int, default=500, help="command lines in processes of their own besides")
    parser.add_argument(
        "--kinds", default="", help=f"only these, comma between: {', '.join(sorted({*KINDS, 'process'}))}"
    )
    parser.add_argument("--few", type=int, default=CHUNK, help="cases of a chunk that are tried, for a short look")
    parser.add_argument("--worker", type=int, help=f"do {CHUNK} of them")
    parser.add_argument("--kind", help="of which kind")
    options = parser.parse_args()
    if options.worker is not None:
        return try_many(options)
    options.state = options.state.resolve()
    rows = Rows(options.state / "fuzz.jsonl")
    count, other = -(-options.count // CHUNK), -(-options.processes // FEW)
    chunks = [("process", number) for number in range(other)]
    chunks += [(KINDS[number % len(KINDS)], number) for number in range(count)]
    chosen = [kind for kind in options.kinds.split(",") if kind]
    done = {row["case"].rpartition("-")[0] for row in rows.rows if row["case"].endswith("-end")}

    def do(chunk: tuple[str, int]) -> None:
        kind, number = chunk
        name = f"{kind}-{options.seed}-{number}"
        if name in done or (chosen and kind not in chosen):
            return
        words = [sys.executable, __file__, "--worker", str(number), "--kind", kind, "--seed", str(options.seed),
                 "--few", str(min(options.few, FEW) if kind == "process" else options.few)]  # fmt: skip
        for row in rows_of(words, options.state / "fuzz" / name, options, hang=70):
            rows.add(row)
        rows.add({"case": f"{name}-end", "kind": kind, "outcome": "chunk ended"})

    work(chunks, do, options)
    tried = [row for row in rows.rows if row["outcome"] != "chunk ended"]
    counts = {"in_process": sum(row["kind"] != "process" for row in tried),
              "as_processes": sum(row["kind"] == "process" for row in tried)}  # fmt: skip
    print(f"{counts['in_process']:,} cases in process, {counts['as_processes']:,} as processes")
    return report(options, rows, [row for row in tried if row["outcome"] == "FAILED"], **counts)


def try_many(options: Any) -> int:
    """CHUNK cases of one kind, drawn by hypothesis from this seed."""
    import hypothesis as h
    import shelf
    import strategies

    here, number = Path.cwd(), 0
    os.environ["SORITES_STORE"] = str(here / "spoilt" / "store")
    if options.kind in ("store", "spec", "archive"):
        shelf.fill(here)
    act = {"line": line, "process": process, "file": file, "store": store, "spec": spec, "archive": archive}[
        options.kind
    ]
    drawn = strategies.OF[options.kind]
    clean: dict[str, Any] = {}

    @h.seed(1_000_003 * options.seed + options.worker)
    @h.settings(max_examples=options.few, deadline=None, database=None, phases=[h.Phase.generate], derandomize=False,
                suppress_health_check=list(h.HealthCheck))  # fmt: skip
    @h.given(drawn)
    def one(case: Any) -> None:
        nonlocal number
        row = {"case": f"{options.kind}-{options.seed}-{options.worker}-{number}", "kind": options.kind}
        row |= {"input": repr(case)[:600]}
        number += 1
        shelf.say({"begin": row})
        fresh(here)
        begun = time.monotonic()
        try:
            outcome = {"outcome": act(here / "spoilt", case, clean)}
        except BaseException as error:
            outcome = {"outcome": "FAILED", "why": shelf.failure(error)}
        outcome |= {"seconds": round(time.monotonic() - begun, 2)}
        if outcome["outcome"] != "FAILED" and outcome["seconds"] < 10:
            del row["input"]
        shelf.say(row | outcome)

    one()
    return 0


def fresh(here: Path) -> None:
    """spoilt/: a copy of what was filled, to be spoilt."""
    os.chdir(here)
    shutil.rmtree(here / "spoilt", ignore_errors=True)
    (here / "spoilt").mkdir()
    for name in ("store", "out.tar.gz", "history.npz", "history.json"):
        path = here / name
        if path.is_dir():
            shutil.copytree(path, here / "spoilt" / name)
        elif path.exists():
            shutil.copy(path, here / "spoilt" / name)
    os.chdir(here / "spoilt")


def line(place: Path, words: list[str], clean: dict[str, Any]) -> str:
    import shelf

    try:
        return "refused" if shelf.said(*words).noticed else "answered"
    except SystemExit as left:  # --help
        if left.code not in (0, None):
            raise AssertionError(f"left with {left.code}") from None
        return "answered"


def process(place: Path, words: list[str], clean: dict[str, Any]) -> str:
    """The same as the shell starts it."""
    from common import run

    status, said, _ = run([sys.executable, "-m", "sorites.cli.main", *words], 60, place)
    assert status is not None, f"hangs: {said[-500:]}"
    assert "Traceback" not in said, said[-1500:]
    assert status in (0, 1, 2), f"status {status}: {said[-500:]}"
    return "refused" if status == 2 else "answered"


def file(place: Path, text: str, clean: dict[str, Any]) -> str:
    (place / "mine.py").write_bytes(text.encode("utf-8", "surrogatepass"))
    return line(place, ["run", "mine.py", "--seeds", "1", "--quiet"], clean)


def store(place: Path, case: tuple, clean: dict[str, Any]) -> str:
    """One file of the store spoilt, then a question: the answer of the whole store, or a word about it."""
    import shelf

    choice, harm, asked = case
    files = sorted(path for path in (place / "store").rglob("*") if path.is_file() and "running" not in path.parts)
    path = files[int(choice * len(files))]
    questions = shelf.questions(place, shelf.first(place / "store"))
    name = sorted(questions)[int(asked * len(questions))]
    if name not in clean:
        clean[name] = questions[name]()
        fresh(place.parent)
    before = path.read_bytes()
    harm(path)
    same = path.is_file() and path.read_bytes() == before
    answer = questions[name]()
    if answer.noticed or name == "check" or answer == clean[name]:
        return "refused" if answer.noticed else "answered"
    assert same, f"{path.name}, {name}: {clean[name].value[:300]!r} became {answer.value[:300]!r}"
    return "answered"


def spec(place: Path, case: tuple, clean: dict[str, Any]) -> str:
    """spec.json and meta.json that say anything at all, with every hash right."""
    import shelf

    from sorites.store.folder import _digest, folder_name

    change, which, asked = case
    name = shelf.first(place / "store")
    folder = place / "store" / "members" / name
    said = {file: json.loads((folder / file).read_bytes()) for file in ("spec.json", "meta.json")}
    said["meta.json"]["files"].pop("meta.json", None)
    said[which] = change(said[which])
    content = json.dumps(said["spec.json"]).encode()
    try:
        said["meta.json"]["files"]["spec.json"] = {"bytes": len(content), "sha256": _digest(content)}
        new = folder_name([member["id"] for member in said["spec.json"]["members"]])
    except (TypeError, KeyError, IndexError, AttributeError):
        new = name
    (folder / "spec.json").write_bytes(content)
    (folder / "meta.json").write_bytes(json.dumps(said["meta.json"]).encode())
    folder.rename(folder.with_name(new))
    questions = shelf.questions(place, new)
    question = sorted(questions)[int(asked * len(questions))]
    return "refused" if questions[question]().noticed else "answered"


def archive(place: Path, case: Any, clean: dict[str, Any]) -> str:
    import shelf

    path = place / case[0]
    path.write_bytes(case[1](path.read_bytes()))
    return "refused" if shelf.imported(place, case[0].replace(".json", ".npz")).noticed else "answered"


if __name__ == "__main__":
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    raise SystemExit(main())
