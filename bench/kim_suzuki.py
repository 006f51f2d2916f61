"""A full-batch epoch of kim-suzuki's experiment beside a PyTorch loop, eager and compiled, in one run; and memory.

    python bench/kim_suzuki.py [--samples 100000] [--epochs 10] [--no-torch] [--out FILE.json]

Both sides take the same gradient of the same loss. PyTorch applies the transformer to its own output as the paper does
(log2 k times, k-1 times for the answer alone); sorites writes every thought once (KS-20). Memory is the peak of a fresh
process that trains 1, 8 and 64 members one after another, its program compiled before (the compiler takes 200 MiB).
The ratio is what counts: absolute times are a machine's.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
LESSONS = ("forced", "free", "direct")
BITS, SPARSITY = 64, 32


def ours(lesson: str, samples: int, epochs: int) -> float:
    """Seconds per epoch inside the compiled ensemble, evaluations included, by the difference of two lengths."""
    from sorites.papers.kim_suzuki.published import Published
    from sorites.training import train

    def run(steps: int) -> float:
        size = Published(BITS, SPARSITY, samples, steps, 100.0, every=epochs, chains=100, seeds=1)
        begun = time.perf_counter()
        train(size.run(lesson), [0])
        return time.perf_counter() - begun

    run(epochs)  # compiles
    short, long = (min(run(steps) for _ in range(3)) for steps in (epochs, 5 * epochs))
    return (long - short) / (4 * epochs)


def peak(members: int, samples: int) -> float:
    """Peak memory in MiB of a fresh process that trains the members one after another, by a program from the cache."""
    size = f"Published({BITS}, {SPARSITY}, {samples}, 2, 100.0, every=1, chains=100)"
    code = (
        "from pathlib import Path\nfrom sorites.papers.kim_suzuki.published import Published\n"
        "from sorites.training import train\n"
        f"train({size}.run('free'), range({members}), strategy='sequential')\n"
        "print(next(line for line in Path('/proc/self/status').read_text().splitlines() if 'VmHWM' in line).split()[1])"
    )  # a child's ru_maxrss would start from its parent's
    for _ in range(2):  # the first compiles
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024  # pyright: ignore[reportPossiblyUnboundVariable]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    from about import about

    found = about()
    found |= {"bits": BITS, "sparsity": SPARSITY, "samples": options.samples, "lessons": {}}
    print(f"device: {found['device']}; d={BITS}, k={SPARSITY}, n={options.samples:,}; seconds per epoch")
    for lesson in LESSONS:
        row = {"sorites": ours(lesson, options.samples, options.epochs)}
        if not options.no_torch:
            try:
                import torch_kim_suzuki
            except ImportError:
                print("torch is not installed: only our side is timed (pip install 'sorites[bench]')")
                options.no_torch = True
            else:
                epochs = options.epochs if lesson == "forced" else max(1, options.epochs // 3)  # up to seconds each
                size = (BITS, SPARSITY, options.samples, lesson, epochs)
                row["torch"] = torch_kim_suzuki.seconds(*size)
                row["torch.compile"] = torch_kim_suzuki.seconds(*size, compiled=True)
        found["lessons"][lesson] = row
        others = [
            f"{name} {taken:.4f} s {taken / row['sorites']:5.1f} x" for name, taken in row.items() if "torch" in name
        ]
        print(f"{lesson:8s} sorites {row['sorites']:.4f} s", *others, sep="   ", flush=True)
    if Path("/proc/self/status").exists():
        found["peak MiB"] = {str(members): peak(members, options.samples) for members in (1, 8, 64)}
        print(
            "peak memory, members one after another:",
            ", ".join(f"{n}: {m:.0f} MiB" for n, m in found["peak MiB"].items()),
        )
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
