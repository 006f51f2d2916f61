"""The AdamW experiment of Log-ICoT, side by side with a plain PyTorch loop of the same arithmetic, in one run.

    python bench/log_icot.py [--seeds 1 8] [--repeats 3] [--no-torch] [--out FILE.json]

Both sides draw fresh batches, take the same 4 x 500 AdamW steps and evaluate loss and accuracy on 2,000 held-out
chains every 25 steps. Compilation is timed apart. The ratio is what counts: absolute times are a machine's.
"""

import argparse
import json
import platform
import statistics
import sys
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


def theirs(repeats: int) -> dict:
    import torch_log_icot

    torch_log_icot.train(0, steps=25)
    times, solved = [], 0
    for seed in range(repeats):
        seconds, accuracy = torch_log_icot.train(seed)
        times.append(seconds)
        solved += accuracy == 1
    return {"seconds": statistics.median(times), "best": min(times), "solved": solved, "runs": repeats}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    import jax

    found = {"device": jax.devices()[0].device_kind, "machine": platform.machine(), "jax": jax.__version__}
    try:
        found["torch"] = None if options.no_torch else theirs(options.repeats)
    except ImportError:
        found["torch"] = None
        print("torch is not installed: only our side is timed (pip install 'sorites[bench]')")
    found["sorites"] = [ours(seeds, options.repeats) for seeds in options.seeds]
    plain = found["torch"]
    print(f"device: {found['device']}")
    if plain:
        print(f"PyTorch loop         1 seed   {plain['seconds']:8.3f} s   solved {plain['solved']}/{plain['runs']}")
    for row in found["sorites"]:
        ratio = f"   {plain['seconds'] * row['seeds'] / row['seconds']:5.1f} x" if plain else ""
        print(
            f"sorites          {row['seeds']:5d} seeds  {row['seconds']:8.3f} s   solved {row['solved']}/{row['seeds']}"
            f"   (first call with compilation {row['first']:.1f} s){ratio}"
        )
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
