"""Sequences per second of the one-layer GPT on parity beside a PyTorch loop, eager and compiled, in one run.

    python bench/wen.py [--seconds 5] [--out FILE.json]

Hidden 64, feed-forward 256, four heads, n=30, k=3, batch 128; both sides draw fresh data, take Adam steps and evaluate
exact match on 2,048 held-out sequences every 40 steps. Compilation is not counted. The ratio is what counts.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

SIZE = {"bits": 30, "sparsity": 3, "layers": 1, "heads": 4, "width": 64, "hidden": 256, "batch": 128, "every": 40}


def ours(chain: bool, seconds: float) -> float:
    """One member, as long as asked."""
    from sorites.papers.wen.experiments import Net
    from sorites.training import train

    size = {name: SIZE[name] for name in ("layers", "heads", "width", "hidden", "batch", "every")}
    net = Net(**size, spread=0.02, probed=0)
    case = net.case(
        0, SIZE["bits"], SIZE["sparsity"], 1e-4, SIZE["batch"] * 10**6, SIZE["sparsity"] * chain, stops=False
    )
    return train(case.run, [0], seconds=seconds).chains_per_second


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0, help="per measurement")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    from about import about

    found: dict = about() | {"size": SIZE}
    try:
        import torch_wen
    except ImportError:
        torch_wen = None
        print("torch is not installed: only our side is timed (pip install 'sorites[bench]')")
    for _ in range(options.repeats):  # interleaved, so that a busy moment hits both sides
        for chain in (True, False):
            name = "with the chain" if chain else "without"
            here = found.setdefault(name, {"sorites": [], "torch": [], "torch.compile": []})
            here["sorites"].append(ours(chain, options.seconds))
            if torch_wen is not None:
                for side in ("torch", "torch.compile"):
                    size = SIZE | {"chain": chain, "seconds": options.seconds, "compiled": side == "torch.compile"}
                    here[side].append(torch_wen.throughput(**size))
    for name in ("with the chain", "without"):
        best = {side: max(rates) for side, rates in found[name].items() if rates}
        line = f"{name:16s} sorites {best['sorites']:10,.0f} sequences/s"
        found[name]["ratios"] = {side: best["sorites"] / rate for side, rate in best.items() if side != "sorites"}
        for side, ratio in found[name]["ratios"].items():
            line += f"   {side} {best[side]:8,.0f}   {ratio:5.1f} x"
        print(line)
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
