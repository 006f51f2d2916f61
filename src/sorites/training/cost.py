"""What a run costs: chains, labels, own thoughts and floating-point operations per step, and passes per answer.

Floating-point operations are those of the matrix products in the traced training step, backward pass and loops
included: of the program that runs, not of a literal transformer; as a CPU would run it, for a cost is the same
everywhere: what is inside a GPU's kernel is not seen, nor are the slopes of attention with few queries, which a CPU
takes as sums of outer products (`fast/products.py`). Evaluations are not counted.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Int

from ..probes import OnTask
from ..runtime.devices import on_processor
from ..supervision import AbstractSource, FilteredPrefix, OwnPrefix, Rewritten
from .history import History
from .member import init_member, make_pool, start_stage, train_step
from .stage import Run, Stage


class Cost(NamedTuple):
    """Of one step."""

    samples: int  # chains drawn
    labels: int  # supervised tokens: labels or rewards computed from the secret
    thoughts: int  # tokens that the model, or its earlier self, writes
    flops: float


def costs(run: Run) -> list[Cost]:
    """One per stage."""
    with on_processor():
        found, member = [], eqx.filter_eval_shape(lambda: init_member(run, jax.numpy.zeros((), int)))
        for stage in run.stages:
            member = eqx.filter_eval_shape(start_stage, stage, member)
            chains = eqx.filter_eval_shape(make_pool, stage, member)
            traced = eqx.filter_make_jaxpr(train_step)(stage, member, chains)[0]
            found.append(Cost(*tokens(stage), products(traced.jaxpr)))
    return found


def tokens(stage: Stage) -> tuple[int, int, int]:
    """Chains, labels and own tokens of a step; the arrays of a run decide, its program does not."""
    samples, layout = int(np.max(stage.source.samples)), stage.task.layout
    own = _self_made(stage.source)
    labels = 0 if own else sum(int(np.count_nonzero(term.where)) for term in stage.supervisions)
    writers = own + sum(isinstance(term.prefix, OwnPrefix | FilteredPrefix) for term in stage.supervisions)
    return samples, samples * labels, samples * writers * layout.thoughts * layout.slots


def _self_made(source: AbstractSource) -> bool:
    """Whether its labels are the model's own."""
    inner = getattr(source, "source", None)
    return isinstance(source, Rewritten) or (inner is not None and _self_made(inner))


def products(jaxpr: Any) -> float:
    """Two per multiplication of a matrix product; a loop counts as often as it turns, of branches the dearest."""
    total = 0.0
    for equation in jaxpr.eqns:
        if equation.primitive.name == "dot_general":
            (contracted, _), _ = equation.params["dimension_numbers"]
            left = equation.invars[0].aval.shape
            total += 2.0 * math.prod(equation.outvars[0].aval.shape) * math.prod(left[axis] for axis in contracted)
            continue
        inner = [products(each) for each in _inside(equation.params)]
        if inner:
            times = equation.params.get("length", 1) if equation.primitive.name == "scan" else 1
            total += times * (max(inner) if equation.primitive.name == "cond" else sum(inner))
    return total


def _inside(params: dict[str, Any]) -> Iterator[Any]:
    for value in params.values():
        for each in value if isinstance(value, tuple | list) else (value,):
            each = getattr(each, "jaxpr", each)  # a closed one
            if hasattr(each, "eqns"):
                yield each


def spent(run: Run, history: History) -> Int[np.ndarray, "member stage"]:
    """Steps of every member in every stage, up to the goal where it was reached."""
    every = np.array([stage.evaluation.every for stage in run.stages])[history.stage - 1]
    trained = ~np.isnan(history.metrics["training.loss"]) * every[None]
    solved = np.asarray(history.solved_at, np.int64)
    before = np.cumsum(trained, axis=1) <= np.where(solved < 0, np.iinfo(np.int64).max, solved)[:, None]
    found = np.stack([(trained * before)[:, history.stage == number].sum(axis=1) for number in _numbers(run)], axis=1)
    # The segment in which a member diverged measured nothing; its last stage takes what is missing.
    last = np.array([int(history.stage[np.flatnonzero(row)[-1]]) if row.any() else 1 for row in trained > 0]) - 1
    batch = np.array([int(np.max(stage.source.samples)) for stage in run.stages])
    missing = (history.samples - found @ batch) // batch[last]
    found[np.arange(len(found)), last] += np.where(np.asarray(history.diverged, bool) & (solved < 0), missing, 0)
    return found


def _numbers(run: Run) -> range:
    return range(1, len(run.stages) + 1)


def passes(run: Run) -> int | None:
    """Forward passes from the inputs to an answer, in the reading that the goal names; None where it names none."""
    if run.goal is None:
        return None
    reading, _, rest = run.goal.metric.partition(".")
    if reading in ("padded", "forced"):
        return 1
    if reading not in ("rolled", "soft"):
        return None
    elsewhere = [each for each in run.stages[-1].evaluation.probes if isinstance(each, OnTask)]
    there = [each.task for each in elsewhere if rest.endswith(f"@{each.label}")]
    layout = (there[0] if there else run.task).layout  # pyright: ignore
    return len(run.model.rounds(layout))
