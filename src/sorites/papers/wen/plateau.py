"""What members without a chain have learned that stop between chance and the whole secret."""

import dataclasses
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...ledger.comparison import ERRORS
from ...probes.fourier import Fourier
from ...theory.plateau import ands, level, nearest
from ...training import PLAIN, Lab
from .experiments import Net, study
from .grids import PAPER_NET

Rows = list[dict[str, Any]]
MOST = 4  # secret bits: all formulas over them are listed


@dataclasses.dataclass(frozen=True)
class Plateaus(Net):
    """One pass over fresh data without the chain, one ensemble over k."""

    heads: int = 1
    rates: tuple[float, ...] = (1e-3,)
    every: int = 40
    probed: int = 0
    bits: int = 18
    sparsities: tuple[int, ...] = (2, 3)  # k
    budget: int = 200_000
    seeds: int = 6

    def __post_init__(self):
        fits = len(self.sparsities) > 0 and all(2 <= k <= MOST for k in self.sparsities)
        require(fits, f"a half-learned secret has 2 to {MOST} bits: sparsities={self.sparsities}; use such numbers")

    def tables(self, lab: Lab = PLAIN) -> dict[str, Rows]:
        """`data`: every member and subset; `members`: one row each; `curves`: accuracy along the way."""
        cases = [
            self.case(seed, self.bits, k, rate, self.budget, 0)
            for k in self.sparsities
            for seed in range(self.seeds)
            for rate in self.rates
        ]
        studied = study(cases, self.batch, lab)
        accuracy = studied.history.metrics["forced.chain"]
        found: dict[str, Rows] = {"data": [], "members": [], "curves": []}
        for index, case in enumerate(cases):
            label = {"sparsity": case.sparsity, "seed": case.seed, "rate": case.rate}
            seen = np.flatnonzero(np.isfinite(accuracy[index]))
            found["curves"] += [
                label | {"samples": int(studied.history.step[at]) * self.batch, "accuracy": float(accuracy[index, at])}
                for at in seen
            ]
            late = accuracy[index, seen[3 * len(seen) // 4 :]]
            member = learned(case.run.task, studied.trained, index, case.sparsity)
            found["members"].append(
                label | {"solved": bool(studied.solved[index]), "samples": int(studied.samples[index]),
                         "moved": float(np.ptp(late)), "accuracy": member["accuracy"], "mass": member["mass"],
                         "formula": member["formula"], "gates": member["gates"], "count": member["count"]}
            )  # fmt: skip
            found["data"] += [label | {"subset": subset} | row for subset, row in enumerate(member["rows"])]
        return found


def learned(task, trained, index: int, sparsity: int) -> dict[str, Any]:
    """The answer's Fourier coefficients over all held-out inputs, and the formula that reads each bit once closest to them."""
    model, secret = trained.model(index), trained.secret(index)
    chains = task.numbered(secret, jnp.arange(task.held_out, dtype=jnp.uint32), held_out=True)
    found = eqx.filter_jit(Fourier(most=sparsity))(model, task, secret, chains, ())
    measured = {name: np.asarray(each, float) for name, each in found.items()}
    formula, law = nearest(measured["fourier"])
    rows = [
        {"coefficient": float(each), "error": float(error), "law": float(goal)}
        for each, error, goal in zip(measured["fourier"], measured["fourier.error"], law, strict=True)
    ]
    return {
        "rows": rows, "formula": formula, "gates": ands(law[-1]), "mass": float(measured["fourier.mass"]), "count": task.held_out,
        "accuracy": float((1 + measured["fourier"][-1]) / 2),  # the parity's own coefficient
    }  # fmt: skip


STILL = 0.06  # accuracy that the last quarter of a run may move by, of evaluations on so few sequences


def stopped(member: dict[str, Any]) -> bool:
    """Not solved, above chance by 4.5 standard errors, and still for the last quarter of the run."""
    above = member["accuracy"] - 0.5 > ERRORS * 0.5 / member["count"] ** 0.5
    return not member["solved"] and above and member["moved"] <= STILL + 2 * ERRORS * 0.5 / member["count"] ** 0.5


def predicted_accuracy(member: dict[str, Any]) -> float:
    return level(member["gates"])


TINY = Plateaus(sparsities=(2,), seeds=3, budget=100_000, held_out=1024)
LARGE = Plateaus(
    bits=30, sparsities=(2, 3, 4), budget=10_000_000, seeds=4, **PAPER_NET | {"rates": (6e-5, 8e-5, 1e-4), "probed": 0}
)
