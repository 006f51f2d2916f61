"""The compiled ensemble: seeds, secrets, rates, weights and padding are data; one program per structure.

The host loops over chunks of evaluations. Between chunks it shows progress, stops early, and drops
finished members by halves; what a member does depends on its run and seed alone.
"""

import dataclasses
import time
from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from ..errors import require
from ..models import AbstractModel
from .cache import use_compilation_cache
from .history import History
from .member import IDLE, LOOK, WALK, Member, born, enter, pool, segment
from .progress import Listener, Progress, listener_or
from .stage import Run, Stage

CHUNK = 25  # evaluations per call of the compiled program


@dataclasses.dataclass(frozen=True, eq=False)
class Trained:
    """The outcome of an ensemble: its history, and its models with a leading member axis."""

    history: History
    models: AbstractModel

    def model(self, index: int) -> AbstractModel:
        """One member's trained model."""
        return _take(self.models, index)


def train(
    runs: Run | Sequence[Run],
    seeds: Sequence[int],
    lanes: str = "auto",
    progress: Listener | None = None,
) -> Trained:
    """Train one member per seed; several runs (one per seed) may differ in any array: rates, weights, masks.

    lanes: "together" (vmap, for GPUs and small models), "apart" (one after another, which skips finished
    members), or "auto".
    """
    seeds = [int(seed) for seed in seeds]
    runs = [runs] * len(seeds) if isinstance(runs, Run) else list(runs)
    require(len(seeds) > 0, "an ensemble needs at least one seed: seeds=0; use 1 or more")
    require(len(runs) == len(seeds), f"one run per seed: {len(runs)} runs, {len(seeds)} seeds; make them equal")
    require(all(0 <= seed < 2**31 for seed in seeds), "a seed is a number from 0 to 2^31 - 1; use such numbers")
    require(
        lanes in ("auto", "together", "apart"),
        f"lanes are auto, together or apart: lanes={lanes!r}; use one of the three",
    )
    use_compilation_cache()
    progress = listener_or(progress)
    run = _stacked(runs)
    lanes = _lanes(runs[0], len(seeds)) if lanes == "auto" else lanes
    members = _compiled(born, run, jnp.asarray(seeds, jnp.int32), lanes)

    begun, records, samples = time.perf_counter(), [], np.zeros(len(seeds), np.int64)
    total = sum(stage.steps for stage in run.stages)
    for number, stage in enumerate(run.stages, start=1):
        members, first = _compiled(enter, stage, members, lanes), _steps_before(run, number)
        before = np.asarray(members.step)
        for moved, found, done in _chunks(stage, members, lanes):
            members = moved
            records.append((number, first + done, found))
            if progress is not None:
                progress(
                    Progress(
                        number,
                        len(run.stages),
                        int(first + done[-1]),
                        total,
                        len(seeds),
                        int((np.asarray(members.solved_at) >= 0).sum()),
                        time.perf_counter() - begun,
                    )
                )
        samples += (np.asarray(members.step) - before).astype(np.int64) * stage.source.samples
    return Trained(_history(seeds, records, members, samples), members.model)


def _chunks(stage: Stage, members: Member, lanes: str):
    """Yield (members, measurements, steps done) chunk by chunk; finished members are dropped by halves."""
    every = stage.evaluation.every
    evaluations = 1 + stage.steps // every  # on entry, then after every segment
    stage = dataclasses.replace(stage, steps=every, reset=True)  # what the program does not depend on is not its key
    everyone = np.arange(members.step.shape[0])
    active, running, stages = everyone, members, stage
    for first in range(0, evaluations, CHUNK):
        finished = np.asarray(running.left | running.diverged)
        keep = active[~finished]
        if first and 2 * len(keep) <= len(active):
            active = np.concatenate([keep, active[finished]])[: 1 << max(len(keep) - 1, 0).bit_length()]
            running, stages = _take(members, active), _take(stage, active)
        here = first + np.arange(CHUNK)  # always as many, so that one program serves stages of any length
        kinds = np.where(here == 0, LOOK, np.where(here < evaluations, WALK, IDLE))
        running, found = _advance(stages, running, jnp.asarray(kinds, jnp.int32), lanes)
        members = _put(members, active, running) if len(active) < len(everyone) else running
        kept = min(CHUNK, evaluations - first)
        found = jax.tree.map(lambda leaf: _spread(np.asarray(leaf)[:, :kept], active, len(everyone)), found)  # noqa: B023
        yield members, found, here[:kept] * every
        if bool(jnp.all(members.left | members.diverged)):
            return


@eqx.filter_jit
def _advance(stage: Stage, members: Member, kinds: Int[Array, " segment"], lanes: str) -> tuple[Member, dict]:
    """The compiled program: one evaluation per segment that is not idle."""

    def many(stage: Stage, member: Member):
        static, chains = eqx.filter(member, eqx.is_array, inverse=True), pool(stage, member)

        def body(arrays, kind):
            member, found = segment(stage, eqx.combine(arrays, static), chains, kind)
            return eqx.filter(member, eqx.is_array), found

        arrays, found = jax.lax.scan(body, eqx.filter(member, eqx.is_array), kinds)
        return eqx.combine(arrays, static), found

    return _spread_over(many, lanes)(stage, members)


@eqx.filter_jit
def _compiled(function: Callable, first, second, lanes: str):
    """The function over the leading axis of its two arguments."""
    return _spread_over(function, lanes)(first, second)


def _spread_over(function: Callable, lanes: str) -> Callable:
    if lanes == "together":
        return eqx.filter_vmap(function, in_axes=eqx.if_array(0), out_axes=eqx.if_array(0))

    def apart(*arguments):
        arrays, static = eqx.partition(arguments, eqx.is_array)
        shape = []

        def one(arrays):
            out = function(*eqx.combine(arrays, static))
            shape.append(eqx.filter(out, eqx.is_array, inverse=True))
            return eqx.filter(out, eqx.is_array)

        out = jax.lax.map(one, arrays)
        return eqx.combine(out, shape[-1])

    return apart


def _lanes(run: Run, members: int) -> str:
    """Together on an accelerator, and on a CPU where a step is too small to fill it."""
    if jax.default_backend() != "cpu":
        return "together"
    if members == 1:  # measured: a vmap of one costs half as much again
        return "apart"
    work = max(stage.source.samples * stage.task.layout.positions for stage in run.stages)
    return "together" if work <= 50_000 else "apart"


def _stacked(runs: Sequence[Run]) -> Run:
    """One run whose arrays have a leading member axis; a run that many members share is read once."""
    distinct = list({id(run): run for run in runs}.values())
    rows = np.array([next(n for n, run in enumerate(distinct) if run is each) for each in runs])
    arrays, static = zip(*(eqx.partition(run, eqx.is_array_like) for run in distinct), strict=True)
    shapes = [jax.tree.map(np.shape, each) for each in arrays]
    require(
        all(eqx.tree_equal(other, static[0]) is True for other in static[1:]) and shapes == shapes[:1] * len(shapes),
        "the runs of one ensemble differ in arrays only (rates, weights, masks); train the others apart",
    )
    stacked = jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves)[rows]), *arrays)
    return eqx.combine(stacked, static[0])


def _steps_before(run: Run, number: int) -> int:
    return sum(stage.steps for stage in run.stages[: number - 1])


def _take(tree, index):
    return jax.tree.map(lambda leaf: leaf[index] if eqx.is_array(leaf) else leaf, tree)


def _put(everyone, index, some):
    return jax.tree.map(lambda a, b: a.at[index].set(b) if eqx.is_array(a) else a, everyone, some)


def _spread(leaf, active: np.ndarray, members: int) -> np.ndarray:
    """Measurements of the active members in their places; the others measured nothing."""
    leaf = np.asarray(leaf)
    if len(active) == members:
        return leaf
    wide = np.full((members, *leaf.shape[1:]), np.nan, leaf.dtype)
    wide[active] = leaf
    return wide


def _measured(metrics: dict[str, np.ndarray]) -> np.ndarray:
    """At which records anyone measured anything."""
    seen = [np.moveaxis(~np.isnan(values), 1, 0) for values in metrics.values()]
    return np.any([record.reshape(len(record), -1).any(axis=1) for record in seen], axis=0)


def _history(seeds, records, members: Member, samples: np.ndarray) -> History:
    step = np.concatenate([steps for _, steps, _ in records])
    stage = np.concatenate([np.full(len(steps), number) for number, steps, _ in records])
    names = records[0][2]
    require(
        all(found.keys() == names.keys() for _, _, found in records),
        "the stages of one run measure the same things: their probes differ; give every stage the same probes",
    )
    metrics = {name: np.concatenate([found[name] for _, _, found in records], axis=1) for name in names}
    kept = _measured(metrics) | np.append(True, stage[1:] != stage[:-1])  # however long the last chunk was
    secrets = jax.tree.leaves(members.secret)
    return History(
        seeds=np.asarray(seeds),
        stage=stage[kept],
        step=step[kept],
        metrics={name: values[:, kept] for name, values in metrics.items()},
        solved_at=np.asarray(members.solved_at),
        samples=samples,
        diverged=np.asarray(members.diverged),
        secrets=np.asarray(secrets[0]) if len(secrets) == 1 else None,
    )
