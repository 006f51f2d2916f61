"""Train one stage, chunk by chunk: a chunk trains the active members for a few evaluations.

Between two chunks the host reports progress, writes a checkpoint, and drops finished members. What a member computes
does not depend on this; a smaller program may round otherwise.
"""

import dataclasses
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array

from .clock import Clock
from .member import Member
from .plan import Plan, only
from .records import spread
from .segments import Call
from .state import EnsembleState
from .strategies import call, for_fewer
from .trees import copied, put, take, to_device


class Loop(NamedTuple):
    """What stays the same while the host trains the stages of an ensemble, chunk by chunk."""

    program: Any  # `run_segments` over members, compiled
    plans: list[tuple[Plan, int]]  # of each stage, and which of the plan's teachings it teaches
    strategy: str
    chunk: int  # most evaluations of one chunk
    shrink: int  # drop finished members when at most 1/shrink still train
    snapshots: list[tuple[int, ...]]  # evaluations of each stage after which the weights are kept
    clock: Clock


def train_stage(loop: Loop, state: EnsembleState) -> Iterator[EnsembleState]:
    """Train the present stage; yield the state after the evaluation on entry, and after every chunk."""
    total = evaluations_of(loop.plans[state.stage - 1][0])
    if not state.entered:
        state = evaluate_on_entry(loop, state)
        yield state
    elif not _stage_ends(state, total):
        state = compile_again(loop, state)
    while not _stage_ends(state, total):
        state = drop_finished(loop, state)
        state = train_chunk(loop, state, chunk_end(loop, state, total) - state.evaluations)
        yield state
        if loop.clock.out:
            return


def evaluations_of(plan: Plan) -> int:
    """Return how many evaluations a stage has at most, without the one on entry."""
    return -(-_steps(plan) // plan.stage.evaluation.every)


def _stage_ends(state: EnsembleState, total: int) -> bool:
    return state.evaluations >= total or bool(state.finished[state.active].all())


def evaluate_on_entry(loop: Loop, state: EnsembleState) -> EnsembleState:
    """Evaluate all members before the first step of the stage."""
    state = dataclasses.replace(state, evaluations=0, active=np.arange(len(state.samples)))
    members, found = _run(loop, state, entry=True, evaluations=1)
    return _recorded(loop, state, members, found, 0, 1)


def train_chunk(loop: Loop, state: EnsembleState, count: int) -> EnsembleState:
    """Train the active members for `count` evaluations."""
    begun, before = time.perf_counter(), np.asarray(state.members.step).sum()
    members, found = _run(loop, state, entry=False, evaluations=count)
    steps = np.asarray(members.step).sum() - before
    stage = loop.plans[state.stage - 1][0].stage
    loop.clock.add(time.perf_counter() - begun, float(steps * np.mean(stage.source.samples)))
    return _recorded(loop, state, members, found, state.evaluations + 1, count)


def drop_finished(loop: Loop, state: EnsembleState) -> EnsembleState:
    """Under vmap, leave finished members out when only 1/shrink of the program's members still train.

    The smaller program has a power of two of members, so that few programs are compiled. It may keep some that are
    finished.
    """
    training = state.active[~state.finished[state.active]]
    due = state.evaluations > 0 and state.evaluations % loop.chunk == 0
    if not due or _strategy(loop, state) != "vmap" or loop.shrink * len(training) > len(state.active):
        return state
    size = 1 << max(len(training) - 1, 0).bit_length()
    finished = state.active[state.finished[state.active]]
    return dataclasses.replace(state, active=np.concatenate([training, finished])[:size])


def chunk_end(loop: Loop, state: EnsembleState, total: int) -> int:
    """Return the evaluation with which the next chunk ends: a multiple of `chunk`, a snapshot, or the stage's end.

    The first chunk of a long training is a single evaluation, so that progress is reported soon.
    """
    if state.stage == 1 and state.evaluations == 0 and total > loop.chunk:
        return 1
    snapshots = [each for each in loop.snapshots[state.stage - 1] if each > state.evaluations]
    return min([total, (state.evaluations // loop.chunk + 1) * loop.chunk, *snapshots])


def compile_again(loop: Loop, state: EnsembleState) -> EnsembleState:
    """After a resume, compile the program before the clock runs: a call without a segment."""
    members, _ = _run(loop, state, entry=False, evaluations=0)
    return dataclasses.replace(state, members=members)


def _run(loop: Loop, state: EnsembleState, entry: bool, evaluations: int) -> tuple[Member, dict[str, Array]]:
    """Call the program for the active members; return all members, and what the active ones measured."""
    plan, teaching = loop.plans[state.stage - 1]
    whole = len(state.active) == len(state.samples)
    running = state.members
    if not whole:
        plan, teaching, running = take(only(plan, teaching), state.active), 0, take(state.members, state.active)
    numbers = Call(
        to_device(np.asarray(teaching, np.int32)),
        to_device(np.asarray(entry, bool)),
        to_device(np.asarray(evaluations, np.int32)),
    )
    running, found = call(loop.program, _strategy(loop, state), plan, numbers, running, loop.chunk)
    return running if whole else put(state.members, state.active, running), found


def _strategy(loop: Loop, state: EnsembleState) -> str:
    return for_fewer(loop.strategy, len(state.active))


def _recorded(loop: Loop, state: EnsembleState, members, found, first: int, count: int) -> EnsembleState:
    """Return the state after a call that made the evaluations `first` to `first + count - 1` of the stage."""
    every = loop.plans[state.stage - 1][0].stage.evaluation.every
    start = sum(_steps(plan) for plan, _ in loop.plans[: state.stage - 1])
    steps = start + (first + np.arange(count)) * every
    measured = jax.tree.map(lambda leaf: spread(np.asarray(leaf)[:, :count], state.active, len(state.samples)), found)
    last, snapshots = first + count - 1, state.snapshots
    if last in loop.snapshots[state.stage - 1]:
        snapshots = {int(steps[-1]): copied(members.model)} | snapshots
    records = (*state.records, (state.stage, steps, measured))
    return dataclasses.replace(state, members=members, evaluations=last, records=records, snapshots=snapshots)


def _steps(plan: Plan) -> int:
    return int(np.asarray(plan.stage.steps).max())
