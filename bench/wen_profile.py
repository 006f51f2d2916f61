"""Where the time of a training step of the deep GPT goes on an accelerator: kernels by kind, and sequences per second.

    python bench/wen_profile.py OUT.json [--compute float32] [--layers 4] [--members 1] [--smoke]

Four layers, four heads, width 720, batch 512, 30 bits, k=3 with the chain; evaluations every 16 steps are counted
apart. The kernels come from `jax.profiler`, whose trace names them; a CPU has none. First result: from the call to the
end of the first chunk of steps, compilation included.
"""

import argparse
import gzip
import json
import re
import tempfile
import time
from collections import Counter
from pathlib import Path

import jax
from about import about

from sorites.papers.wen.experiments import Net
from sorites.training import train

KINDS = {  # the first that a kernel's name begins with or contains
    "products": r"^(nvjet|gemm|sm90|void cutlass|cutlass|cublas)",
    "transposes": r"transpose",
    "reductions": r"reduce|softmax",
    "elementwise": r"^(loop|wrapped|input)",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--compute", choices=("bfloat16", "float32"), default="bfloat16")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument("--smoke", action="store_true", help="tiny sizes: only proves that the script runs")
    options = parser.parse_args()
    width, hidden, batch = (32, 64, 32) if options.smoke else (720, 2880, 512)
    net = Net(options.layers, options.layers, width, hidden, 0.02, batch, 16, probed=128, compute=options.compute)
    seeds = range(options.members)
    runs = [net.case(seed, 30, 3, 1e-4, batch * 10**6, 3, stops=False).run for seed in seeds]
    begun = time.perf_counter()
    train(runs, seeds, seconds=0.01, chunk=16)
    first = time.perf_counter() - begun
    pace = train(runs, seeds, seconds=0.5 if options.smoke else 4.0, chunk=16).pace
    with tempfile.TemporaryDirectory() as folder:
        jax.profiler.start_trace(folder, create_perfetto_trace=True)
        train(runs, seeds, seconds=0.01, chunk=16)
        jax.profiler.stop_trace()
        [trace] = Path(folder).rglob("perfetto_trace.json.gz")
        events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    record = {**about(), "compute": options.compute, "layers": options.layers, "members": options.members,
              "first result, s": round(first, 1), "sequences per second": round(pace), **shares(events)}  # fmt: skip
    options.out.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps({name: value for name, value in record.items() if name not in ("versions", "dearest")}))


def shares(events: list[dict]) -> dict:
    """Of the time that kernels take: by kind, for steps and evaluations, and the dearest kernels."""
    names = {event["pid"]: event["args"]["name"] for event in events if event.get("name") == "process_name"}
    lanes = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    spent: Counter = Counter()
    for event in events:
        where = event.get("pid"), event.get("tid")
        if event.get("ph") == "X" and "GPU" in names.get(where[0], "") and "Stream" in lanes.get(where, ""):
            spent[event.get("args", {}).get("hlo_op", ""), event["name"]] += event["dur"]
    whole = sum(spent.values())
    if not whole:
        return {"shares": {}, "dearest": []}
    programs: Counter = Counter()
    for (program, _), duration in spent.items():
        programs[program] += duration
    step = programs.most_common(1)[0][0]  # the command buffer in which most time is spent
    found: Counter = Counter()
    for (program, kernel), duration in spent.items():
        kind = next((kind for kind, words in KINDS.items() if re.search(words, kernel)), "other")
        found[("" if program == step else "outside the step: ") + kind] += duration
    dearest = [[round(duration / whole, 4), kernel] for (_, kernel), duration in spent.most_common(25)]
    return {"shares": {kind: round(each / whole, 4) for kind, each in found.most_common()}, "dearest": dearest}


if __name__ == "__main__":
    main()
