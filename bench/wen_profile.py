"""Where the time of a training step of the deep GPT goes on an accelerator: kernels by kind, and sequences per second.

    SORITES_CACHE=EMPTY python bench/wen_profile.py OUT.json [--compute float32] [--layers 4] [--members 1] [--bare]
        [--first] [--smoke]

Four layers, four heads, width 720, batch 512, 30 bits, k=3 with the chain (or `--bare`); evaluations every 16 steps are
counted apart. The kernels come from `jax.profiler`, whose trace names them; a CPU has none. First result: from the call
to the first evaluation of a trained net of every member, after 16 steps, compilation included; beside it how long 256
steps of every member take, which is what records older than "first segment" call so. With `--first` these alone.
"""

import argparse
import contextlib
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
from sorites.training import Progress, train

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
    parser.add_argument("--bare", action="store_true", help="without the chain")
    parser.add_argument("--first", action="store_true", help="only the seconds to a first result")
    parser.add_argument("--smoke", action="store_true", help="tiny sizes: only proves that the script runs")
    options = parser.parse_args()
    width, hidden, batch = (32, 64, 32) if options.smoke else (720, 2880, 512)
    net = Net(options.layers, options.layers, width, hidden, 0.02, batch, 16, probed=128, compute=options.compute)
    seeds = range(options.members)
    runs = [net.case(seed, 30, 3, 1e-4, batch * 10**6, 3 * (not options.bare), stops=False).run for seed in seeds]
    jax.devices()  # opened before the clock runs
    compiled: Counter = Counter()
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **told: compiled.update({f"{event.rsplit('/')[-1]} {told.get('fun_name')}": seconds})
    )
    heard = firsts(runs, seeds)
    record = {**about(), "compute": options.compute, "layers": options.layers, "members": options.members,
              "chain": not options.bare, "first result, s": round(heard[min(heard)], 1),
              "first 256 steps, s": round(heard[256], 1), "of which the training program compiles, s":
                  round(compiled["backend_compile_duration jit(train_members)"], 2)}  # fmt: skip
    if not options.first:
        record |= measured(runs, seeds, 0.5 if options.smoke else 2.0)
    options.out.write_text(json.dumps(record, indent=1) + "\n")
    print(
        json.dumps({name: value for name, value in record.items() if name not in ("versions", "dearest")}), flush=True
    )


class Enough(Exception):
    """What was to be heard has been."""


def firsts(runs: list, seeds: range) -> dict[int, float]:
    """Seconds until every member had taken so many steps and was evaluated, up to 256."""
    heard: dict[int, float] = {}
    begun = time.perf_counter()

    def listen(now: Progress) -> None:
        heard[now.step] = time.perf_counter() - begun
        if now.step >= 256:
            raise Enough

    with contextlib.suppress(Enough):
        train(runs, seeds, chunk=16, progress=listen)
    del heard[0]  # the look at new members
    return heard


def measured(runs: list, seeds: range, seconds: float) -> dict:
    """Sequences a second, twice, and where the time of a chunk goes."""
    paces = [round(train(runs, seeds, seconds=seconds, chunk=16).chains_per_second) for _ in range(2)]
    with tempfile.TemporaryDirectory() as folder:
        jax.profiler.start_trace(folder, create_perfetto_trace=True)
        firsts(runs, seeds)
        jax.profiler.stop_trace()
        [trace] = Path(folder).rglob("perfetto_trace.json.gz")
        events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    return {"sequences per second, twice": paces, **shares(events)}


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
