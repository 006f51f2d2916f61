"""The compiled ensemble: seeds, secrets, rates, weights and padding are data; one program per structure.

The host loops over chunks of evaluations. Between chunks it shows progress, stops early, watches the clock, and drops
finished members by halves; what a member does depends on its run and seed alone.
"""

import dataclasses
import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Int

from ..errors import require
from ..garbage import collecting_rarely
from ..models import AbstractModel
from . import compiler
from .cache import use_compilation_cache
from .check import check
from .checkpoint import Checkpoint, Standing
from .clock import Clock
from .history import History
from .lanes import lanes_of, rest, spread_over
from .member import Member, Now, advance, born, enter, newborn
from .plan import Plan, alone, partners_of, plans, structure_of
from .progress import Listener, Progress, listener_or
from .records import history_of, spread
from .stage import Run, Stage
from .trees import copied, joined, on_device, put, stacked, stand_ins, take

CHUNK = 25  # evaluations per call of the compiled program
_MADE: set[tuple] = set()  # first plans whose programs this process has asked for


@dataclasses.dataclass(frozen=True, eq=False)
class Trained:
    """The outcome of an ensemble: its history, and its models and secrets with a leading member axis."""

    history: History
    models: AbstractModel
    secrets: object
    pace: float = math.nan  # chains per second over all members, after the first chunk of each stage (which compiles)
    along: dict[int, AbstractModel] = dataclasses.field(default_factory=dict)  # the models at the steps asked for

    def model(self, index: int, step: int | None = None) -> AbstractModel:
        """One member's trained model, or as it was after a step that was kept."""
        return take(self.models if step is None else self.along[step], index)

    def secret(self, index: int):
        """What one member had to find."""
        return take(self.secrets, index)


@collecting_rarely()
def train(
    runs: Run | Sequence[Run],
    seeds: Sequence[int],
    lanes: str = "auto",
    seconds: float | None = None,
    progress: Listener | None = None,
    chunk: int = CHUNK,
    shrink: int = 2,
    keep: Sequence[int] = (),
    checkpoint: Checkpoint | None = None,
) -> Trained:
    """Train one member per seed; several runs (one per seed) may differ in any array: rates, weights, masks, steps.

    lanes: "together" (vmap, for steps too small to fill the machine), "apart" (one after another, which skips finished
    members), or "auto". seconds: of training, compilation apart; after so many the ensemble ends at the next chunk
    where it stands, right-censored, and its history says so. shrink: together, finished members are dropped when only
    1/shrink are left (a new size is a new program). keep: steps after which the weights are kept as well
    (`Trained.along`), so that attention can be watched as it forms. checkpoint: where a killed training goes on from.
    """
    require(not isinstance(seeds, int), f"seeds are a list: seeds={seeds}; use range({seeds})")
    seeds = [int(seed) for seed in seeds]
    runs = [runs] * len(seeds) if isinstance(runs, Run) else list(runs)
    require(len(seeds) > 0, "an ensemble needs at least one seed: seeds=0; use 1 or more")
    require(len(runs) == len(seeds), f"one run per seed: {len(runs)} runs, {len(seeds)} seeds; make them equal")
    require(all(0 <= seed < 2**31 for seed in seeds), "a seed is a number from 0 to 2^31 - 1; use such numbers")
    require(
        lanes in ("auto", "together", "apart"),
        f"lanes are auto, together or apart: lanes={lanes!r}; use one of the three",
    )
    require(seconds is None or seconds >= 0, f"a time limit is not negative: seconds={seconds}; use 0 or more")
    require(chunk >= 1 and shrink >= 2, f"chunk >= 1 and shrink >= 2: chunk={chunk}, shrink={shrink}; use such numbers")
    use_compilation_cache()
    for run in {id(run): run for run in runs}.values():
        check(run)
    listener = listener_or(progress)
    run, lanes = stacked(runs), lanes_of(runs[0], len(seeds), lanes)
    planned = plans(run, (stacked([_modelless(each)] * len(seeds)) for each in partners_of(runs[0])))
    lengths = [int(np.asarray(stage.steps).max()) for stage in run.stages]
    kept_at, backend = _kept_at(run, lengths, keep), jax.default_backend()
    program = compiler.program(_advanced, backend, runs[0].model.soon or _few_steps(run), "all-except-first")
    ways = tuple(len(plan.teachings) for plan, _ in planned)  # another program may round otherwise
    checkpoint = None if checkpoint is None else checkpoint.of(lanes, chunk, shrink, tuple(keep), ways)
    standing = None if checkpoint is None else _left_off(checkpoint, run, seeds, lanes)
    if standing is None:
        birth, about = compiler.program(_born, backend, soon=True), (run, on_device(np.asarray(seeds, np.int32)), lanes)
        first_plan = planned[0][0]
        if (made := (structure_of((first_plan, newborn(runs[0]))), lanes, chunk)) not in _MADE:
            _MADE.add(made)
            with compiler.beside(birth, *about):
                _compile(program, first_plan, newborn(runs[0]), len(seeds), chunk, lanes)
        members = birth(*about)
        standing = Standing(1, 0, np.arange(len(seeds)), members, [], np.zeros(len(seeds), np.int64), {})

    begun, clock, records = time.perf_counter(), Clock(seconds), standing.records
    members, samples, along = standing.members, standing.samples, standing.along
    for number, (stage, (plan, taught)) in enumerate(zip(run.stages, planned, strict=True), start=1):
        if number < standing.stage:
            continue
        first = sum(lengths[: number - 1])
        start = standing if number == standing.stage and records else None
        if start is None and number > 1:
            members = compiler.program(_enter, backend, soon=True)(_bare(stage), members, lanes)
        hosted = Hosted(program, plan, taught, lanes, chunk, shrink, kept_at[number - 1], number == 1)
        for after, found, segments, active in _chunks(hosted, members, clock, start):
            members = after
            done = first + segments * stage.evaluation.every
            records.append((number, done, found))
            if int(done[-1]) in keep and int(done[-1]) not in along:
                along[int(done[-1])] = copied(members.model)
            if checkpoint is not None:
                checkpoint.note(Standing(number, int(segments[-1]), active, members, records, samples, along))
            if listener is not None:
                listener(
                    Progress(
                        number,
                        len(run.stages),
                        int(done[-1]),
                        sum(lengths),
                        len(seeds),
                        int((np.asarray(members.solved_at) >= 0).sum()),
                        time.perf_counter() - begun,
                    )
                )
        for step in keep:  # whoever leaves a stage early stands still to its end
            if first < step <= first + lengths[number - 1] and step not in along:
                along[step] = copied(members.model)
        drawn = (np.asarray(members.step) - np.asarray(members.entered)).astype(np.int64)
        samples = samples + drawn * np.asarray(stage.source.samples)
        if clock.out:
            break
    history = history_of(seeds, records, members, samples, clock.out)
    return Trained(history, members.model, members.secret, clock.pace, along)


class Hosted(NamedTuple):
    """What the host does with one stage."""

    program: Any  # `_advanced`, compiled
    plan: Plan
    taught: int  # which of what the plan teaches
    lanes: str
    chunk: int
    shrink: int
    stops: tuple[int, ...]  # segments after which the weights are wanted
    early: bool  # the first segment is a chunk of its own: whoever waits for a long training hears of it soon


def _few_steps(run: Run) -> bool:
    """Whoever looks after every step takes few, as in the theorems: the compiler works for longer than they train. Not
    their number, nor later stages: a look at the first steps of a run rounds as the run does."""
    return run.stages[0].evaluation.every == 1


def _modelless(run: Run) -> Run:
    """Of a partner only the stages are read."""
    return eqx.tree_at(lambda run: run.model, run, None)


def _kept_at(run: Run, lengths: list[int], keep: Sequence[int]) -> list[tuple[int, ...]]:
    """For each stage the segments after which weights are kept; those of step 0 are there on entry."""
    found, first = [], 0
    for stage, length in zip(run.stages, lengths, strict=True):
        every = stage.evaluation.every
        here = [step - first for step in keep if first < step <= first + -(-length // every) * every]
        for step in here:
            require(
                step % every == 0,
                f"weights are kept where a run is evaluated: keep={first + step}, every={every}; "
                f"use {first + step - step % every} or {first + step - step % every + every}",
            )
        found.append(tuple(step // every for step in here))
        first += length
    beyond = [step for step in keep if not 0 <= step <= first + run.stages[-1].evaluation.every]
    require(not beyond, f"weights are kept within the run: keep={beyond[:1]}, steps={first}; use steps up to {first}")
    return found


def _left_off(checkpoint: Checkpoint, run: Run, seeds: Sequence[int], lanes: str) -> Standing | None:
    """Where the same ensemble stood when it was last noted."""
    about = checkpoint.about()
    if about is None:
        return None
    shapes = eqx.filter_eval_shape(_born, run, on_device(np.asarray(seeds, np.int32)), lanes)
    for stage in run.stages[1 : about["stage"]]:
        shapes = eqx.filter_eval_shape(_enter, _bare(stage), shapes, lanes)
    return checkpoint.read(about, shapes)


def _chunks(hosted: Hosted, members: Member, clock: Clock, start: Standing | None):
    """Yield (members, measurements, segments done, active): on entry, then chunk by chunk."""
    program, plan, taught, lanes, chunk, shrink, stops, early = hosted
    stage, count = plan.stage, members.step.shape[0]
    segments = -(-int(np.asarray(stage.steps).max()) // stage.evaluation.every)
    if start is None:
        active, first = np.arange(count), 0
        members, found = _one_by_one(program, plan, members, Now(taught, True, 1), chunk, lanes)
        yield members, jax.tree.map(lambda leaf: np.asarray(leaf)[:, :1], found), np.zeros(1, int), active
        running, here = members, plan
    else:
        active, first = start.active, start.segments
        whole = len(active) == count
        running, here = (members, plan) if whole else (take(members, active), take(alone(plan, taught), active))
        if first >= segments or _finished(running).all():
            return  # noted at its end
        taught = taught if whole else 0
        lanes = rest(lanes, len(active))
        # Compile: time is for training.
        running, _ = _one_by_one(program, here, running, Now(taught, False, 0), chunk, lanes)
        members = running if whole else put(members, active, running)
    while first < segments:
        finished = _finished(running)
        if finished.all():
            return
        keep = active[~finished]
        if lanes == "together" and first and first % chunk == 0 and shrink * len(keep) <= len(active):
            active = np.concatenate([keep, active[finished]])[: 1 << max(len(keep) - 1, 0).bit_length()]
            running, here, taught = take(members, active), take(alone(plan, hosted.taught), active), 0
            lanes = rest(lanes, len(active))
        ends = [segments, (first // chunk + 1) * chunk, *(stop for stop in stops if stop > first)]
        end = 1 if early and first == 0 and segments > chunk else min(ends)
        kept, steps, begun = end - first, np.asarray(running.step).sum(), time.perf_counter()
        running, found = _one_by_one(program, here, running, Now(taught, False, kept), chunk, lanes)
        members = put(members, active, running) if len(active) < count else running
        found = jax.tree.map(lambda leaf: spread(np.asarray(leaf)[:, :kept], active, count), found)  # noqa: B023
        drawn = (np.asarray(running.step).sum() - steps) * np.mean(stage.source.samples)
        clock.add(time.perf_counter() - begun, float(drawn))
        yield members, found, first + 1 + np.arange(kept), active
        first = end
        if clock.out:
            return


def _finished(members: Member) -> np.ndarray:
    return np.asarray(members.left) | np.asarray(members.diverged)


def _bare(stage: Stage) -> Stage:
    """What entering it depends on."""
    return dataclasses.replace(stage, taught=(), until=None)


def _compile(program: Any, plan: Plan, newborn: Member, count: int, room: int, lanes: str) -> None:
    """The first stage's program, before there is anybody to train: the call that follows finds it."""
    if lanes == "one by one":
        plan, count, lanes = take(plan, np.array([0])), 1, "alone"
    program.lower((plan, _told(Now(0, True, 1))), stand_ins(newborn, count), room, lanes).compile()


def _one_by_one(program: Any, plan: Plan, members: Member, now: Now, room: int, lanes: str):
    """Large models that run apart are called one after another: inside a compiled loop over members they are slower
    (measured on a GPT of width 64: by a sixth)."""
    now = _told(now)
    if lanes != "one by one":
        return program((plan, now), members, room, lanes)
    each = []
    for index in range(members.step.shape[0]):
        one = np.array([index])
        each.append(program((take(plan, one), now), take(members, one), room, "alone"))
    return joined(each)


def _told(now: Now) -> Now:
    return Now(
        *(on_device(np.asarray(value, kind)) for value, kind in zip(now, (np.int32, bool, np.int32), strict=True))
    )


def _advanced(told: tuple[Plan, Now], members: Member, room: int, lanes: str):
    """Room for so many segments, so that one program serves stages of any length."""
    plan, now = told
    return spread_over(lambda plan, member: advance(plan, now, room, lanes == "together", member), lanes)(plan, members)


def _born(run: Run, seeds: Int[Array, " member"], lanes: str) -> Member:
    """Everyone, in the first stage."""
    return spread_over(lambda run, seed: enter(run.stages[0], born(run, seed)), lanes)(run, seeds)


def _enter(stage: Stage, members: Member, lanes: str) -> Member:
    """Everyone, in a later stage."""
    return spread_over(enter, lanes)(stage, members)
