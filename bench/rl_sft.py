"""Policy gradients of rl-sft, side by side with plain PyTorch in one run: REINFORCE with the step reward of Eq. 6 at
d=20, k=16 from 50,000 fresh chains, and the exact gradient by counting.

    python bench/rl_sft.py [--samples 50000] [--repeats 20] [--no-torch] [--out FILE.json]

Both sides draw inputs, sample the chain level by level and differentiate the log-likelihoods. Compilation is timed
apart. The ratio is what counts: absolute times are a machine's.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def clocked(work, repeats: int) -> dict:
    begun = time.perf_counter()
    work()
    first, times = time.perf_counter() - begun, []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return {"first": first, "seconds": statistics.median(times), "best": min(times)}


def ours(samples: int, repeats: int) -> dict:
    import jax
    import jax.numpy as jnp

    from sorites.models import policy_for
    from sorites.papers.rl_sft.exact import secret_of
    from sorites.papers.rl_sft.setting import Tree
    from sorites.papers.rl_sft.uniform_claims import estimates, estimators
    from sorites.theory.count_chain import GATE_COEFFICIENTS, uniform_gradient

    task = Tree(20, 16).task()
    secret, keys, found = secret_of(task), iter(range(10**6)), {}
    for name, taught in estimators(task).items():

        def once(taught=taught):
            key = jnp.stack([jax.random.key(next(keys))])
            jax.block_until_ready(estimates(task, taught, secret, key, samples))

        found[name] = clocked(once, repeats)
    for bits, sparsity in ((20, 16), (1000, 512)):

        def count(bits=bits, sparsity=sparsity):
            with jax.enable_x64(True):
                gate = GATE_COEFFICIENTS["parity"]
                jax.block_until_ready(uniform_gradient(bits, sparsity, policy_for("parity"), gate))

        found[f"count chain, d={bits}, k={sparsity}"] = clocked(count, repeats)
    return found


def theirs(samples: int, repeats: int) -> dict:
    import torch
    import torch_reinforce

    torch.manual_seed(0)
    secret = torch.randperm(20)[:16].sort().values
    policy, plain = torch_reinforce.Policy(20, 16), torch_reinforce.objective_of
    return {
        name: clocked(lambda made=made: torch_reinforce.gradient(policy, samples, 20, secret, made), repeats)
        for name, made in (("torch", plain), ("torch.compile", torch.compile(plain)))
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    from about import about

    found = about()
    found |= {"samples": options.samples}
    if not options.no_torch:
        try:
            found |= theirs(options.samples, options.repeats)
        except ImportError:
            print("torch is not installed: only our side is timed (pip install 'sorites[bench]')")
    found["sorites"] = ours(options.samples, options.repeats)
    print(f"device: {found['device']}, {options.samples:,} chains, d=20, k=16")
    others = {name: found[name] for name in ("torch", "torch.compile") if name in found}
    for name, row in others.items():
        print(f"{f'{name} REINFORCE, step':32s} {1e3 * row['seconds']:10.3f} ms")
    for name, row in found["sorites"].items():
        beside = others.items() if name == "REINFORCE, step" else ()
        ratio = "".join(f"   {other['seconds'] / row['seconds']:5.1f} x {who}" for who, other in beside)
        print(f"{name:32s} {1e3 * row['seconds']:10.3f} ms   (first call {row['first']:.1f} s){ratio}")
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
