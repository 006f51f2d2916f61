"""RS-19: SFT from sampled chains, with and without freezing the levels that are learned."""

import dataclasses
from typing import ClassVar

import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...ledger import Among, Between, Claim, Comparison, Domain, Evidence, Powers, Real, at_least, at_most, shown
from ...probes import AbstractProbe, ChildMass, Outcome
from ...probes.attention import child_masses
from ...statistics import wilson
from ...training import Evaluation, Lab, Run
from .experiments import Experiment, trained
from .setting import GATES, PAPER, chosen


class Parted(AbstractProbe):
    """Per level, the share of its thoughts that attend to their two children unequally. Both start with the same sign, so a sampled sign
    has erred."""

    needs_supervision: ClassVar[bool] = False

    def __call__(self, model, task, secret, chains, taught):
        first, second = child_masses(model, task.children(secret)).T
        levels = np.asarray(task.layout.levels)
        apart = (first != second).astype(jnp.float32)
        return {"parted": jnp.stack([apart[levels == level].mean() for level in range(1, task.layout.depth + 1)])}


@dataclasses.dataclass(frozen=True)
class Frozen(Experiment):
    method: str = "sft"
    seeds: int = 10
    gates: tuple[str, ...] = GATES

    def __post_init__(self):
        super().__post_init__()
        depth = self.task().layout.depth
        require(
            self.updates >= depth,
            f"what T - 1 updates learn is seen from T = {depth} updates on: updates={self.updates}; use {depth} or more",
        )

    def run(self) -> Run:
        run = super().run()
        watched = Evaluation(1, self.chains, (Outcome("rolled"), ChildMass(), Parted()))
        return Run(run.model, [dataclasses.replace(stage, evaluation=watched) for stage in run.stages])


def _frozen(size: Frozen, lab: Lab) -> Evidence:
    compared: list[Comparison] = []
    depth = size.task().layout.depth
    for gate in size.gates:
        ways = {freeze: dataclasses.replace(size, gate=gate, freeze=freeze) for freeze in ("none", "learned")}
        histories = {freeze: trained(way, lab).history for freeze, way in ways.items()}
        for freeze, history in histories.items():
            metrics = history.metrics
            levels, name = metrics["rolled.levels"], f"{gate}, freeze {freeze}"  # member x record x level
            kept = (levels[:, depth - 1 :] == 1).all(axis=(1, 2))  # exact after T-1 updates and after every later one
            parted = (metrics["parted"][:, 2:, 0] > 0).any(axis=1)
            lost = (levels[:, 1, 0] == 1) & (levels[:, 2:, 0] < 1).any(axis=1)
            low, high = wilson(int(kept.sum()), size.seeds)
            if gate == "parity" or freeze == "learned":
                compared.append(at_least(f"{name}: share exact from T-1 updates on", kept.mean(), 0.9))
                compared.append(
                    shown(f"{name}: share with siblings parted on level 1 after some update", None, parted.mean())
                )
            else:
                compared.append(at_most(f"{name}: share exact from T-1 updates on, Wilson high", high, 0.9))
                compared.append(
                    at_least(f"{name}: share with siblings parted on level 1 after some update", parted.mean(), 0.9)
                )
                compared.append(
                    at_least(
                        f"{name}: share with level 1 exact after update 1, wrong after a later one", lost.mean(), 0.9
                    )
                )
            compared.append(shown(f"{name}: share exact from T-1 updates on, Wilson low", None, low))
            worst_level = float(levels[:, 1:].min(axis=(1, 2)).mean())
            compared.append(shown(f"{name}: mean of the worst level's accuracy", None, worst_level))
    return Evidence(tuple(compared), seeds=size.seeds)


CLAIMS = (
    Claim(
        "RS-19", PAPER, "Fig. 6, freeze rule", "finite",
        "With 50,000 samples (or fewer of fewer bits: 6.25 d^3 or more) and a rate of 4 or more PARITY is learned with and without freezing "
        "learned levels, and stays so; AND and OR only with it: sampled signs of a learned level err, siblings part, and its tokens go wrong "
        "after a later update (they may come right again after the next).",
        {"tiny": Frozen(12, 8, samples=11_000, seeds=2, gates=("and",)), "quick": Frozen(), "paper": Frozen(seeds=100)}, _frozen,
        domain=Domain(
            {"bits": Between(8, 16), "sparsity": Powers(8, 16), "rate": Real(4, 6), "samples": Between(4_000, 30_000, 1_000),
             "updates": Between(4, 8), "seeds": Between(2, 6), "gates": Among(("and",), ("or",), ("parity",))},
            lambda size: chosen(size) and size.samples >= 6.25 * size.bits**3,
            "the secret bits are among the bits, and chains are 6.25 d^3 or more, as at d = 20: with them a first sign of PARITY is 5 standard "
            "errors from 0",
        ),
        departures=("That siblings part and that an exact level goes wrong was said and not measured until a review; 'after a later update' "
                    "came after level 1 of AND was seen to be wrong after updates 2 and 4 and right after update 3.",
                    "Siblings were looked at after the last update alone until an audit: on one fixed set of chains they part and meet by turns."), revised=True,
    ),
)  # fmt: skip
