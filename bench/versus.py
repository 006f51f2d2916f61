"""Time two checkouts of sorites against each other, row by row, on this machine.

    python bench/versus.py OLD NEW [--rows gated decoder ...] [--rounds 7] [--new-kernels reference] [--out FILE]

OLD and NEW are folders that hold `src/sorites`. Each has a worker process that compiles the rows; the parent lets the
two workers run in turn, so that a busy moment of the machine affects both. The table shows medians of processor time,
which other processes disturb less than wall time (`--clock perf_counter`), and the ratio new / old.
"""

import argparse
import dataclasses
import functools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path


def gated() -> Callable[[], object]:
    """The Log-ICoT experiment of one gated model."""
    from sorites.papers.log_icot.experiments import AdamExperiment
    from sorites.training import train

    return functools.partial(train, AdamExperiment().run(), [0])


def positional() -> Callable[[], object]:
    """Full-batch epochs of kim-suzuki's teacher forcing, reduced size."""
    from sorites.papers.kim_suzuki.published import Published
    from sorites.training import train

    return functools.partial(
        train, Published(64, 32, 20_000, 20, 100.0, every=20, chains=100, seeds=1).run("forced"), [0]
    )


def free() -> Callable[[], object]:
    """The same without forcing: the model writes its own soft chain."""
    from sorites.papers.kim_suzuki.published import Published
    from sorites.training import train

    return functools.partial(
        train, Published(64, 32, 20_000, 20, 100.0, every=20, chains=100, seeds=1).run("free"), [0]
    )


def reinforce() -> Callable[[], object]:
    """One REINFORCE gradient of rl-sft."""
    import jax
    import jax.numpy as jnp

    from sorites.papers.rl_sft.exact import secret_of
    from sorites.papers.rl_sft.setting import Tree
    from sorites.papers.rl_sft.uniform_claims import estimates, estimators

    task = Tree(20, 16).task()
    secret, taught = secret_of(task), estimators(task)["REINFORCE, step"]
    keys = [jnp.stack([jax.random.key(seed)]) for seed in range(20)]
    return lambda: [jax.block_until_ready(estimates(task, taught, secret, key, 50_000)) for key in keys]


def transformer(layers: int, chain: bool) -> Callable[[], object]:
    """Training steps of the GPT on parity, evaluations included."""
    from sorites.papers.wen.experiments import Net
    from sorites.training import train

    net = Net(layers=layers, heads=4, width=64, hidden=256, batch=128, every=40, spread=0.02, probed=0)
    case = net.case(0, 30, 3, 1e-4, 128 * (160 if layers == 1 else 40), 3 * chain, stops=False)
    return functools.partial(train, with_kernels(case.run), [0])


def decoder_run():
    from sorites.papers.lego.arms import Arm, Decoding

    size = Decoding(50, 16, 64, 2, 128, seeds=1, batch=128, length=5, steps=80, checks=1, lengths=(5,), count=20)
    return with_kernels(size.runs((Arm("S3"),))[0])


def decoder() -> Callable[[], object]:
    """Training steps of LEGO's decoder at quick size."""
    from sorites.training import train

    return functools.partial(train, decoder_run(), [0])


def rollout() -> Callable[[], object]:
    """The decoder writes chains of 40 clauses, with keys and values kept."""
    import equinox as eqx
    import jax

    run = decoder_run()
    model, task = run.model.init(jax.random.key(0)), run.stages[0].task.at(40)
    chains = task.sample(task.draw(jax.random.key(1)), jax.random.key(2), 100)
    write = eqx.filter_jit(lambda model, chains: model.generate(chains, jax.random.key(0), "greedy"))
    return lambda: [jax.block_until_ready(write(model, chains)) for _ in range(10)]


def with_kernels(run):
    """The run with the kernels that the environment names, if it names any."""
    import equinox as eqx

    kernels = os.environ.get("VERSUS_KERNELS")
    if not kernels:
        return run
    holder = run.model if hasattr(run.model, "kernels") else run.model.spec
    changed = dataclasses.replace(holder, kernels=kernels)
    model = changed if holder is run.model else dataclasses.replace(run.model, spec=changed)
    return eqx.tree_at(lambda run: run.model, run, model)


ROWS: dict[str, Callable[[], Callable[[], object]]] = {
    "gated": gated,
    "positional": positional,
    "free": free,
    "reinforce": reinforce,
    "gpt-1-chain": functools.partial(transformer, 1, True),
    "gpt-1": functools.partial(transformer, 1, False),
    "gpt-2-chain": functools.partial(transformer, 2, True),
    "decoder": decoder,
    "rollout": rollout,
}


def work() -> None:
    """A worker: read the name of a row, run it, print the seconds; the first time it is compiled."""
    clock = getattr(time, os.environ.get("VERSUS_CLOCK", "process_time"))
    made, out = {}, os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        name = line.strip()
        if name not in made:
            made[name] = ROWS[name]()
            made[name]()
        begun = clock()
        made[name]()
        print(json.dumps(clock() - begun), file=out, flush=True)


def origin(options: argparse.Namespace) -> dict[str, object]:
    """Which checkouts were timed, where and how."""
    from about import about

    def commit(folder: Path) -> str:
        return subprocess.run(["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()

    old, new = map(commit, options.checkouts)
    command = "python bench/versus.py OLD NEW --out FILE"
    return {**about(), "command": command, "old": old, "new": new, "clock": options.clock, "rounds": options.rounds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="*", type=Path)
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--new-kernels", help="for example reference: the form of the new checkout's GPT and decoder")
    parser.add_argument("--clock", choices=("process_time", "perf_counter"), default="process_time")
    parser.add_argument("--out", type=Path, help="write the table as JSON, with commits, versions and command")
    parser.add_argument("--worker", action="store_true")
    options = parser.parse_args()
    if options.worker:
        return work()
    workers = []
    for place, folder in enumerate(options.checkouts):
        named = {"VERSUS_KERNELS": options.new_kernels} if place and options.new_kernels else {}
        environment = (
            os.environ | named | {"VERSUS_CLOCK": options.clock} | {"PYTHONPATH": str(folder.resolve() / "src")}
        )
        command = [sys.executable, __file__, "--worker"]
        workers.append(subprocess.Popen(command, env=environment, stdin=-1, stdout=-1, stderr=sys.stderr, text=True))
    table = {}
    print(f"{'row':14s} {'old, ms':>10s} {'new, ms':>10s} {'new / old':>10s}")
    for name in options.rows:
        seconds: list[list[float]] = [[] for _ in workers]
        for _ in range(options.rounds):
            for found, worker in zip(seconds, workers, strict=True):
                worker.stdin.write(name + "\n")
                worker.stdin.flush()
                found.append(float(worker.stdout.readline() or "nan"))
        old, new = (statistics.median(found) for found in seconds)
        print(f"{name:14s} {1e3 * old:10.1f} {1e3 * new:10.1f} {new / old:10.2f}", flush=True)
        table[name] = {"old, s": round(old, 4), "new, s": round(new, 4), "new / old": round(new / old, 3)}
    if options.out:
        options.out.write_text(json.dumps(origin(options) | {"rows": table}, indent=1) + "\n")
    return None


if __name__ == "__main__":
    main()
