"""The AdamW experiment of Log-ICoT, side by side with a PyTorch loop of the same arithmetic, eager and compiled.

    python bench/log_icot.py [--seeds 1 8] [--repeats 3] [--no-torch] [--out FILE.json]

Both sides draw fresh batches, take the same 4 x 500 AdamW steps and evaluate loss and accuracy on 2,000 held-out
chains every 25 steps. Compilation is timed apart, and in whole processes that train one seed: with an empty cache of
compiled programs, and again. The ratio is what counts: absolute times are a machine's.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def ours(seeds: int, repeats: int) -> dict:
    from sorites.papers.log_icot.experiments import AdamExperiment
    from sorites.training import train

    run = AdamExperiment().run()
    begun = time.perf_counter()
    result = train(run, range(seeds))
    first = time.perf_counter() - begun
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        result = train(run, range(seeds))
        times.append(time.perf_counter() - begun)
    right = int((result.history.last("padded.answer") == 1).sum())
    return {"seeds": seeds, "first": first, "seconds": statistics.median(times), "best": min(times), "solved": right}


def theirs(repeats: int, compiled: bool) -> dict:
    import torch_log_icot

    first, _ = torch_log_icot.train(0, steps=25, compiled=compiled)
    times, solved = [], 0
    for seed in range(repeats):
        seconds, accuracy = torch_log_icot.train(seed, compiled=compiled)
        times.append(seconds)
        solved += accuracy == 1
    return {"first": first, "seconds": statistics.median(times), "best": min(times), "solved": solved, "runs": repeats}


def process(code: str, cache: str) -> float:
    """Seconds of a process from its start to its end."""
    begun = time.perf_counter()
    told = {**os.environ, "SORITES_CACHE": cache}
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent, env=told)
    return time.perf_counter() - begun


def cold(repeats: int, torch: bool) -> dict:
    """Whole processes in turn: the first of two of ours compiles, the second finds its programs."""
    mine = (
        "from sorites.runtime import use_compilation_cache; use_compilation_cache(); "
        "from sorites.papers.log_icot.experiments import AdamExperiment; from sorites.training import train; "
        "train(AdamExperiment().run(), [0])"
    )
    times: dict[str, list[float]] = {"sorites, empty cache": [], "sorites, again": []} | (
        {"torch": []} if torch else {}
    )
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            for name in times:
                times[name].append(
                    process("import torch_log_icot; torch_log_icot.train(0)" if name == "torch" else mine, cache)
                )
    return {name: statistics.median(found) for name, found in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    from about import about

    found = about()
    found |= {"torch": None, "torch.compile": None}
    try:
        if not options.no_torch:
            found |= {"torch": theirs(options.repeats, False), "torch.compile": theirs(options.repeats, True)}
    except ImportError:
        print("torch is not installed: only our side is timed (pip install 'sorites[bench]')")
    found["process"] = cold(options.repeats, found["torch"] is not None)
    found["sorites"] = [ours(seeds, options.repeats) for seeds in options.seeds]
    print(f"device: {found['device']}")
    others = {name: found[name] for name in ("torch", "torch.compile") if found[name]}
    for name, row in others.items():
        print(f"{name:16s}     1 seed   {row['seconds']:8.3f} s   solved {row['solved']}/{row['runs']}")
    for row in found["sorites"]:
        ratio = "".join(
            f"   {other['seconds'] * row['seeds'] / row['seconds']:5.1f} x {name}" for name, other in others.items()
        )
        print(
            f"sorites          {row['seeds']:5d} seeds  {row['seconds']:8.3f} s   solved {row['solved']}/{row['seeds']}"
            f"   (first call with compilation {row['first']:.1f} s){ratio}"
        )
    print("whole processes, 1 seed:", ", ".join(f"{name} {taken:.1f} s" for name, taken in found["process"].items()))
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
