"""Ctrl-C and SIGTERM at any moment of any command: one sentence, 130 or 143, nobody left.

    python torture/signals.py --count 80 --jobs 4

`reproduce`, `run`, `figure` and `verify` in turn, each signalled after another delay, from its first imports into its
trainings. It ends within 5 seconds, or says after one what it waits for (a compilation, a chunk); ten seconds later no
process of it is left.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from typing import Any

from common import Row, Rows, alive, arguments, cache, report, work

COMMANDS = {
    "reproduce": ["reproduce", "--paper", "log-icot", "--jobs", "2"],
    "run": ["run", "--task", "parity", "--model", "gpt", "--supervision", "teacher-forcing", "--steps", "100000",
            "--seeds", "2", "--goal", "own.loss=0"],
    "figure": ["figure", "log-icot/variants"],
    "verify": ["verify", "--paper", "kim-suzuki"],
}  # fmt: skip
SENTENCE = "sorites: stopped; what was finished is in the store"
WAITS = "stopping as soon as the running chunk or compilation is done"
MOMENTS = 10  # of each command with each signal
LONGEST = 25.0  # seconds until the signal
LIMIT = 60.0  # and after it


def main() -> int:
    options = arguments(__doc__, 2 * MOMENTS * len(COMMANDS), "signals").parse_args()
    options.state = options.state.resolve()
    rows = Rows(options.state / "signals.jsonl")
    cases = [
        f"{name}-{number.name}-{options.seed}-{moment}"
        for moment in range(MOMENTS)
        for number in (signal.SIGINT, signal.SIGTERM)
        for name in COMMANDS
    ]
    left = [case for case in cases[: options.count] if case not in rows.done]
    work(left, lambda case: rows.add(signalled(case, options)), options)
    slowest = max((row["seconds"] for row in rows.rows), default=0.0)
    print(f"the slowest ended {slowest:.1f} s after its signal")
    return report(options, rows, [row for row in rows.rows if row["outcome"] == "FAILED"], slowest=slowest)


def signalled(case: str, options: Any) -> Row:
    name, word, _, moment = case.split("-")
    number = signal.Signals[word]
    folder = options.state / "signals" / case
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    told = {**os.environ, "JAX_PLATFORMS": "cpu", "SORITES_CACHE": cache(options), "MARK": str(folder)}
    part = LONGEST / MOMENTS
    delay = part * (int(moment) + random.Random(case).random())
    with (folder / "said").open("w") as said:
        child = subprocess.Popen(
            [sys.executable, "-m", "sorites.cli.main", *COMMANDS[name], "--store", "kept"], cwd=folder, env=told,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True,
        )  # fmt: skip
    time.sleep(delay)
    if child.poll() is None:
        child.send_signal(number)
    row = {"case": case, "kind": f"{name} {word}", "delay": round(delay, 2)}
    begun = time.monotonic()
    try:
        status = child.wait(LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        return row | {"outcome": "FAILED", "seconds": LIMIT, "why": f"runs {LIMIT:.0f} s after the signal"}
    seconds = time.monotonic() - begun
    deadline = time.monotonic() + 10
    while (left := alive(f"MARK={folder}")) and time.monotonic() < deadline:
        time.sleep(0.2)
    why = judged(status, number, (folder / "said").read_text(errors="replace"), seconds, left)
    if not why:
        shutil.rmtree(folder)
    return row | {"outcome": "FAILED" if why else "stopped", "seconds": round(seconds, 2), "status": status, "why": why}


def judged(status: int, number: signal.Signals, said: str, seconds: float, left: list[int]) -> str:
    """What is wrong, if anything."""
    lines = said.strip().splitlines()
    if left:
        return f"processes left after ten seconds: {left}"
    if status != 128 + number:
        return f"status {status}, not {128 + number}: {said[-800:]}"
    if not lines or lines[-1].strip() != SENTENCE:
        return f"the last line is not the sentence: {said[-800:]}"
    if "Traceback" in said:
        return said[-1500:]
    if seconds > 5 and WAITS not in said:
        return f"{seconds:.1f} s without a word of what it waits for"
    return ""


if __name__ == "__main__":
    raise SystemExit(main())
