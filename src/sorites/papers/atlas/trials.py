"""Arms of a comparison: each is tuned over the same rates on seeds of its own, then tried at its best rate.

Plain settings and arrays, no tables and no drawing, so that a machine with numpy and jax alone can run them
(`python -m sorites.papers.atlas`).
"""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from ...training import History, Lab, Run
from ...training.cost import costs as run_costs
from ...training.cost import passes, spent, tokens

POINTS = 24  # of a member's curve
FIRST_TUNING_SEED = 1_000_000  # no trial has so large a seed
Columns = dict[str, np.ndarray]


@dataclasses.dataclass(frozen=True)
class Arm:
    """A way of teaching, named by its labels; `make(rate)` is its run, None where `why` refuses it."""

    labels: tuple[str, ...]
    make: Callable[[float], Run] | None
    why: str = ""
    rates: tuple[float, ...] = ()


def tried(arm: Arm, tuning: int, seeds: int, lab: Lab) -> Columns:
    """One row per trial member: rate, seed, solved, solved_at and what it cost up to the goal or the end; a refused arm
    has one row without a seed."""
    if arm.make is None:
        return refused(arm)
    rate = best_rate(arm, tuning, lab)
    run = arm.make(rate)
    history = lab.train(run, range(seeds)).history
    return {**_labelled(arm, seeds), "rate": np.full(seeds, rate), **costs(run, history)}


def expected(arm: Arm) -> float:
    """Roughly what an arm to begin with the dearest."""
    if arm.make is None:
        return 0.0
    run = arm.make(arm.rates[0])
    drawn = [(int(np.max(stage.steps)), *tokens(stage)) for stage in run.stages]
    return run.model.weights_count * float(sum(steps * (samples + thoughts) for steps, samples, _, thoughts in drawn))


def best_rate(arm: Arm, tuning: int, lab: Lab) -> float:
    """Of the rates the one with most tuning members at the goal; of equals the one with fewest chains, then the
    smallest."""
    assert arm.make is not None
    if len(arm.rates) == 1:
        return arm.rates[0]
    runs = [arm.make(rate) for rate in arm.rates]
    each = [run for run in runs for _ in range(tuning)]
    numbers = [FIRST_TUNING_SEED + number for _ in runs for number in range(tuning)]
    history = lab.train(each, numbers).history
    solved = (history.solved_at >= 0).reshape(len(runs), tuning).sum(axis=1)
    chains = np.asarray(history.samples, float).reshape(len(runs), tuning).mean(axis=1)
    return min(zip(-solved, chains, arm.rates, strict=True))[2]


def costs(run: Run, history: History) -> Columns:
    """Columns of a table of members."""
    steps, each = spent(run, history), np.array(run_costs(run), float)
    total, one = steps @ each, passes(run)
    return {
        "seed": np.asarray(history.seeds, np.int64),
        "solved": history.solved_at >= 0,
        "solved_at": np.asarray(history.solved_at, np.int64),
        "samples": total[:, 0].astype(np.int64),
        "labels": total[:, 1].astype(np.int64),
        "thoughts": total[:, 2].astype(np.int64),
        "flops": total[:, 3],
        "passes": np.full(len(steps), -1 if one is None else one),
        "diverged": np.asarray(history.diverged, bool),
        **curves(run, history),
    }


def curves(run: Run, history: History) -> Columns:
    """The goal's metric at a few of a member's own steps, the first and the last among them; NaN where it has none."""
    assert run.goal is not None
    values = np.asarray(history.metrics[run.goal.metric], np.float32)
    every = np.array([stage.evaluation.every for stage in run.stages])[history.stage - 1]
    own = np.cumsum(~np.isnan(history.metrics["training.loss"]) * every, axis=1)
    steps, reached = (np.full((len(values), POINTS), np.nan, np.float32) for _ in range(2))
    for member, row in enumerate(values):
        seen = np.flatnonzero(~np.isnan(row))
        if history.solved_at[member] >= 0:
            seen = seen[own[member, seen] <= history.solved_at[member]]
        kept = seen[np.unique(np.linspace(0, len(seen) - 1, min(POINTS, len(seen))).round().astype(int))]
        steps[member, : len(kept)], reached[member, : len(kept)] = own[member, kept], row[kept]
    return {"curve_steps": steps, "curve": reached}


def refused(arm: Arm) -> Columns:
    numbers = dict.fromkeys(("seed", "solved_at", "samples", "labels", "thoughts", "passes"), np.array([-1], np.int64))
    flags = dict.fromkeys(("solved", "diverged"), np.array([False]))
    floats = dict.fromkeys(("rate", "flops"), np.array([np.nan]))
    empty = dict.fromkeys(("curve_steps", "curve"), np.full((1, POINTS), np.nan, np.float32))
    return {**_labelled(arm, 1), **floats, **numbers, **flags, **empty}


def _labelled(arm: Arm, rows: int) -> Columns:
    names = [f"label{number}" for number in range(1, len(arm.labels) + 1)]
    return {name: np.array([label] * rows) for name, label in zip((*names, "why"), (*arm.labels, arm.why), strict=True)}


def joined(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
