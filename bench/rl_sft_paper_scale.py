"""RL and SFT at paper scale on an accelerator, with JAX, Equinox and Optax (scipy for the four-step flow).

    python bench/rl_sft_paper_scale.py OUT [--seconds 120] [--smoke] [PART ...]

Parts: secrets (d=20, k=16, 50,000 samples, 1,000 secrets as one ensemble: RL, and SFT level by level),
finite-samples and label-noise (the ensembles behind the figures), four-steps (gradient flow of k=16, T=4, which the
paper does not compute). Writes one .npz per part and about.json with device, versions, command and seconds; starts
nothing new once the budget is spent. `python bench/rl_sft_record.py OUT COMMIT` turns the figures' parts into tables
under results/figures/."""

import argparse
import dataclasses
import json
import platform
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import equinox
import jax
import jax.numpy as jnp
import numpy as np
import optax

from sorites.papers.rl_sft.experiments import Experiment, updates_to_exact
from sorites.papers.rl_sft.grids import LARGE, WAYS
from sorites.papers.rl_sft.symmetric import Symmetric, reached
from sorites.theory import reward_flow
from sorites.training import Run, train

PARTS = ("secrets", "finite-samples", "label-noise", "four-steps")
SMALL = {"finite-samples": {"samples": (500, 1_000)}, "label-noise": {"noises": (0.0, 0.4), "samples": 1_000}}


def ensembles(part: str, smoke: bool) -> Iterator[tuple[str, list[Run], list[int]]]:
    """Way of teaching, runs and seeds."""
    if part == "secrets":
        size = Experiment(12, 4, samples=1_000, updates=1) if smoke else Experiment(updates=3)
        for way in ("RL, Rao-Blackwell", "SFT, own thoughts"):
            experiment = dataclasses.replace(size, block=500 if smoke else 1_000, **WAYS[way])
            seeds = list(range(8 if smoke else 1_000))
            yield way, [experiment.run()] * len(seeds), seeds
        return
    size = LARGE[part]
    if smoke:
        size = dataclasses.replace(size, bits=8, sparsity=4, block=500, seeds=2, **SMALL[part])
    for way, (runs, seeds) in size.ensembles().items():
        yield way, runs, seeds


def flow_times(bits: int, sparsity: int, out: Path) -> dict:
    """When each level's children reach a share of 0.4, every level rewarded."""
    from scipy.integrate import solve_ivp

    depth = sparsity.bit_length() - 1
    keys = [bits, *(sparsity >> level for level in range(1, depth - 1))]
    alone = [reward_flow.escape_time(many, sparsity - 1, 0.4) for many in keys]
    with jax.enable_x64(True):
        symmetric = Symmetric(bits, sparsity, depth)
        compiled = jax.jit(symmetric.field())

        def field(time: float, weights: np.ndarray) -> np.ndarray:
            return np.asarray(compiled(jnp.asarray(weights)))

        times = np.linspace(0, 1.3 * sum(alone), 2001)
        span = (0.0, float(times[-1]))
        solution = solve_ivp(field, span, symmetric.start(), "DOP853", times, rtol=1e-7, atol=1e-9)
        shares = symmetric.shares(solution.y.T)
    np.savez_compressed(out / f"four-steps-{bits}.npz", times=times, shares=shares)
    found = [reached(times, column) for column in shares.T][: depth - 1]
    return {"bits": bits, "sparsity": sparsity, "measured": found, "alone": alone, "field_calls": int(solution.nfev)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("parts", nargs="*", default=PARTS)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_intermixed_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"parts are {', '.join(PARTS)}: {', '.join(unknown)}")
    options.out.mkdir(parents=True, exist_ok=True)
    about = {
        "device": jax.devices()[0].device_kind,
        "versions": {"python": platform.python_version(), "jax": jax.__version__, "equinox": equinox.__version__,
                     "optax": optax.__version__, "numpy": np.__version__},
        "command": "python bench/rl_sft_paper_scale.py " + " ".join(sys.argv[2:]),
        "ensembles": {},
    }  # fmt: skip
    begun, table = time.perf_counter(), []

    def timed(name: str, work: Callable[[], str]) -> None:
        """Run it unless the budget is spent, and note how long it took."""
        start = time.perf_counter()
        if start - begun >= options.seconds:
            table.append(f"{name:40s} no time left")
            return
        words = work()
        seconds = time.perf_counter() - start
        about["ensembles"][name] = round(seconds, 2)
        table.append(f"{name:40s} {seconds:8.2f} s   {words}")
        print(table[-1], flush=True)
        (options.out / "about.json").write_text(json.dumps(about, indent=1) + "\n")

    for part in options.parts:
        if part == "four-steps":
            flows = []
            for bits, sparsity in ((8, 4),) if options.smoke else ((16, 16), (20, 16)):

                def work(bits=bits, sparsity=sparsity, flows=flows) -> str:
                    flows.append(flow_times(bits, sparsity, options.out))
                    (options.out / "four-steps.json").write_text(json.dumps(flows, indent=1) + "\n")
                    return f"{np.round(flows[-1]['measured'], 1)} against {np.round(np.cumsum(flows[-1]['alone']), 1)}"

                timed(f"{part}, d={bits}, k={sparsity}", work)
            continue
        stored: dict[str, np.ndarray] = {}
        for way, runs, seeds in ensembles(part, options.smoke):

            def work(part=part, way=way, runs=runs, seeds=seeds, stored=stored) -> str:
                history = train(runs, seeds).history
                exact = updates_to_exact(history)
                stored[f"{way}|thoughts"], stored[f"{way}|updates"] = history.last("rolled.levels"), exact
                np.savez_compressed(options.out / f"{part}.npz", **stored)
                return f"{int(np.isfinite(exact).sum())}/{len(seeds)} exact, {int(history.samples.sum()):,} chains"

            timed(f"{part}, {way}", work)
    print(f"device: {about['device']}; {time.perf_counter() - begun:.0f} s in all")
    print("\n".join(table))


if __name__ == "__main__":
    main()
