"""How the cost of a step grows with members, bits, length, layers and width, beside the matrix products that theory
counts and the limits of the machine, all measured in one run.

    python bench/growth.py --out results/growth-cpu.json [--smoke]

A point is the median time of a training step without evaluations, compiled before; its theory is the floating-point
operations of the matrix products in the traced step (`sorites.training.cost`). The limits: the fastest square product
of several sizes, and the memory traffic of a sum over arrays that no cache holds. Needs jax, equinox, optax, jaxtyping
and numpy; `python bench/page.py` draws the records.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
from about import about

from sorites.papers.lego.arms import Arm, Decoding
from sorites.papers.log_icot.experiments import AdamExperiment
from sorites.papers.wen.experiments import Net
from sorites.runtime import use_compilation_cache
from sorites.training import Run
from sorites.training.cost import costs
from sorites.training.member import init_member, make_pool, start_stage, train_step
from sorites.training.strategies import choose_strategy, spread_over
from sorites.training.trees import take

STEPS = 8  # of one call: what starting a call costs is shared by so many
BITS, SPARSITY, WIDTH = 32, 4, 64


def gpt(bits: int = BITS, sparsity: int = SPARSITY, layers: int = 1, width: int = WIDTH) -> Run:
    """wen's GPT with the chain, four heads, batch 128."""
    net = Net(layers, 4, width, 4 * width, 0.02, 128, probed=0, held_out=64)
    return net.case(0, bits, sparsity, 1e-4, 128 * 100, sparsity, stops=False).run


def gated(bits: int = BITS) -> Run:
    """The first stage of the Log-ICoT experiment, k=16, batch 500."""
    run = AdamExperiment(bits=bits, sparsity=16).run()
    return Run(run.model, run.stages[:1])


def decoder(length: int) -> Run:
    """LEGO's decoder of width 64 on S5, batch 128."""
    size = Decoding(token_width=16, width=64, hidden=256, length=length, lengths=(length,), steps=8, seeds=1)
    [run] = size.runs((Arm("S5"),))
    return run


def clocked(call: Callable, spell: float) -> float:
    """Median seconds of a call, over at least three and as many as fit into the spell; one before compiles."""
    jax.block_until_ready(call())
    times, begun = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begun < spell:
        start = time.perf_counter()
        jax.block_until_ready(call())
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def point(run: Run, members: int, spell: float) -> dict:
    """Seconds and products of a step of all members, with the strategy that an ensemble would take."""
    stage, strategy = run.stages[0], choose_strategy(run, members, "auto")

    def walk(member):
        arrays, static = eqx.partition(member, eqx.is_array)
        chains = make_pool(stage, member)

        def one(arrays, _):
            return eqx.filter(train_step(stage, eqx.combine(arrays, static), chains)[0], eqx.is_array), None

        return jax.lax.scan(one, arrays, None, length=STEPS)[0]

    first = eqx.filter_vmap(lambda seed: start_stage(stage, init_member(run, seed)))
    everybody = eqx.filter_jit(first)(jnp.arange(members))
    go = eqx.filter_jit(spread_over(walk, strategy))
    if strategy == "separate":
        each = [jax.tree.map(lambda leaf: leaf[None] if eqx.is_array(leaf) else leaf, take(everybody, index))
                for index in range(members)]  # fmt: skip
        seconds = clocked(lambda: [go(member) for member in each], spell)
    else:
        seconds = clocked(lambda: go(everybody), spell)
    return {
        "members": members,
        "lanes": strategy,
        "seconds": seconds / STEPS,
        "flops": members * costs(run)[0].flops,
        "weights": run.model.weights_count,
    }


def limits(spell: float, smoke: bool) -> dict:
    """Floating-point operations and bytes a second."""
    large = jax.default_backend() != "cpu"
    rates = {}
    for size in (128,) if smoke else (2048, 4096, 8192) if large else (512, 1024, 2048):
        matrix = jax.random.normal(jax.random.key(0), (size, size))
        multiply = jax.jit(lambda a: a @ a)
        rates[size] = 2 * size**3 / clocked(lambda multiply=multiply, matrix=matrix: multiply(matrix), spell)
    count, turns = (2**20 if smoke else 2**28 if large else 2**25), 16
    data = jnp.ones(count)

    @jax.jit
    def traffic(data):  # in place, turn after turn, so that fresh pages of memory are a small part of it
        return jax.lax.fori_loop(0, turns, lambda _, data: data + 1, data)

    moved = 2 * data.nbytes * turns / clocked(lambda: traffic(data), spell)
    return {"products": rates, "flops": max(rates.values()), "bytes": moved}


def plan(large: bool, smoke: bool) -> Iterator[tuple[str, str, int, Callable[[], Run], int]]:
    """Curve, series, place on the axis, run, members."""

    def these(*values: int) -> tuple[int, ...]:
        return values[:2] if smoke else values

    many = these(1, 4, 16, 64, 256, 1024) if large else these(1, 2, 4, 8, 16, 32)
    for members in many:
        yield "members", "Log-ICoT, gated", members, gated, members
    for members in many if large else these(1, 2, 4, 8):
        yield "members", "GPT, width 64", members, gpt, members
    for bits in these(32, 64, 128, 256):
        yield "bits", "Log-ICoT, gated, k=16", bits, lambda bits=bits: gated(bits), 1
    for bits in these(16, 32, 64, 128):
        yield "bits", "GPT, width 64, k=4", bits, lambda bits=bits: gpt(bits), 1
    for length in these(2, 4, 8, 16):
        yield "length", "GPT, width 64, 32 bits", length, lambda length=length: gpt(sparsity=length), 1
    for length in these(4, 8, 16, 32):
        yield "length", "LEGO decoder, width 64", length, lambda length=length: decoder(length), 1
    for layers in these(1, 2, 4, 8):
        yield "layers", "GPT, width 64", layers, lambda layers=layers: gpt(layers=layers), 1
    for width in these(64, 128, 256, 512, 1024) if large else these(16, 32, 64, 128, 256, 512):
        yield "width", "one member", width, lambda width=width: gpt(width=width), 1
        if large or width <= 128:
            together = 2 if smoke else 64 if large else 8
            yield "width", f"{together} members", width, lambda width=width: gpt(width=width), together


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--spell", type=float, default=1.0, help="seconds per point, after compilation")
    parser.add_argument("--commit", help="where the checkout has no git")
    parser.add_argument("--smoke", action="store_true", help="two points a curve, only to see that it runs")
    options = parser.parse_args()
    use_compilation_cache()
    begun, spell = time.perf_counter(), 0.05 if options.smoke else options.spell
    large, found = jax.default_backend() != "cpu", []
    before = limits(spell, options.smoke)
    print(f"{jax.devices()[0].device_kind}: {before['flops'] / 1e9:,.0f} GFLOP/s, {before['bytes'] / 1e9:,.1f} GB/s")
    for curve, series, place, make, members in plan(large, options.smoke):
        here = {"curve": curve, "series": series, "at": place} | point(make(), members, spell)
        found.append(here)
        print(f"{curve:8s} {series:24s} {place:5d}  {1e3 * here['seconds']:9.3f} ms a step "
              f"{here['flops'] / here['seconds'] / 1e9:9.1f} GFLOP/s   {here['lanes']}", flush=True)  # fmt: skip
    after = limits(spell, options.smoke)  # again: a machine that changed meanwhile is seen
    record = about() | ({"commit": options.commit} if options.commit else {})
    record |= {
        "seconds": time.perf_counter() - begun,
        "limits": {"before": before, "after": after},
        "points": found,
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(record, indent=1) + "\n")
    print(f"{record['seconds']:.0f} s; {options.out}")


if __name__ == "__main__":
    main()
