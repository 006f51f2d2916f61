"""LEGO's decoder side by side with plain PyTorch in one run: cached rollout, training step, the rollout's cost in L.

    python bench/lego.py [--length 160] [--sentences 20] [--steps 50] [--repeats 3] [--no-torch] [--out FILE.json]

Both sides have the same sizes (width 256, two heads, hidden 1024, five readouts over all tokens, S5, 200 variables),
draw fresh sentences and take Adam steps of batch 128 at L = 5. PyTorch reads the whole prefix again for every answer,
ours keeps keys and values. Compilation is timed apart. The ratio is what counts: absolute times are a machine's.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

VARIABLES, BATCH, TRAINED = 200, 128, 5


def timed(call, repeats: int) -> dict:
    begun = time.perf_counter()
    call()
    first, times = time.perf_counter() - begun, []
    for _ in range(repeats):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return {"first": first, "seconds": statistics.median(times), "best": min(times)}


def ours(length: int, count: int, steps: int, repeats: int, lengths: list[int]) -> dict:
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    from sorites.papers.lego.arms import Arm, Decoding
    from sorites.training.member import init_member, make_pool, start_stage, train_step

    size = Decoding(VARIABLES, seeds=1, batch=BATCH, length=TRAINED, lengths=(TRAINED,))
    [run] = size.runs((Arm("S5"),))
    stage = run.stages[0]
    member = start_stage(stage, init_member(run, jnp.asarray(0)))
    write = eqx.filter_jit(lambda model, chains: model.generate(chains, jax.random.key(0), "greedy"))

    @eqx.filter_jit
    def train(member):
        arrays, static = eqx.partition(member, eqx.is_array)
        chains = make_pool(stage, member)

        def body(arrays, _):
            return eqx.filter(train_step(stage, eqx.combine(arrays, static), chains)[0], eqx.is_array), None

        return jax.lax.scan(body, arrays, None, length=steps)[0]

    def roll(length: int) -> dict:
        chains = stage.task.at(length).numbered(member.secret, jnp.arange(count, dtype=jnp.uint32))
        return timed(lambda: jax.block_until_ready(write(member.model, chains)), repeats)

    trained = timed(lambda: jax.block_until_ready(train(member)), repeats)
    return {
        "rollout": roll(length),
        "training": {key: value / steps for key, value in trained.items()},
        "curve": {each: roll(each)["best"] for each in lengths},
    }


def theirs(length: int, count: int, steps: int) -> dict:
    import numpy as np
    import torch
    import torch_lego

    from sorites.tasks.actions import action_named

    if torch.cuda.is_available():
        torch.set_default_device("cuda")
        torch.backends.cuda.matmul.allow_tf32 = True  # as JAX multiplies by default
    table = torch.tensor(np.asarray(action_named("S5").table))
    actions, values = table.shape
    model = torch_lego.Decoder(VARIABLES + actions + values + 1, 64, 256, 2, 1024)
    seconds = {}
    for name, made in (("torch", model), ("torch.compile", torch.compile(model))):
        torch_lego.train(made, 5, BATCH, TRAINED, VARIABLES, table, 1e-4)  # pyright: ignore[reportArgumentType]
        seconds[name] = min(torch_lego.train(made, steps, BATCH, TRAINED, VARIABLES, table, 1e-4) for _ in range(2))  # pyright: ignore[reportArgumentType]
    clauses = torch_lego.sentences(count, length, VARIABLES, table)
    begun = time.perf_counter()
    torch_lego.rollout(model, clauses, length)
    torch_lego.finish()
    spent = time.perf_counter() - begun
    return {"rollout": {"seconds": spent}, "training": {name: taken / steps for name, taken in seconds.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--length", type=int, default=160)
    parser.add_argument("--sentences", type=int, default=20)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--lengths", type=int, nargs="+", default=[10, 20, 40, 80, 160])
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    from about import about

    found: dict = about() | {"sentences": options.sentences, "length": options.length}
    mine = found["sorites"] = ours(options.length, options.sentences, options.steps, options.repeats, options.lengths)
    print(f"device: {found['device']}")
    print(f"rollout of {options.sentences} sentences, L={options.length}: sorites {mine['rollout']['best']:8.3f} s "
          f"(first call {mine['rollout']['first']:.1f} s)")  # fmt: skip
    print(f"training step, batch {BATCH}, L={TRAINED}: sorites {1e3 * mine['training']['best']:8.2f} ms")
    print(
        "rollout by length, ms per answer: " + ", ".join(f"L={n} {1e3 * s / n:.2f}" for n, s in mine["curve"].items())
    )
    if not options.no_torch:
        try:
            plain = found["torch"] = theirs(options.length, options.sentences, options.steps)
        except ImportError:
            print("torch is not installed: only our side is timed (pip install 'sorites[bench]')")
        else:
            print(f"rollout: PyTorch {plain['rollout']['seconds']:8.3f} s   "
                  f"{plain['rollout']['seconds'] / mine['rollout']['best']:6.1f} x")  # fmt: skip
            for name, taken in plain["training"].items():
                print(f"training step: {name} {1e3 * taken:8.2f} ms   {taken / mine['training']['best']:6.2f} x")
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
