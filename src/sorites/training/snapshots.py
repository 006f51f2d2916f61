"""Weights kept during a training, at the steps of `snapshots`, so that attention can be watched as it forms."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from ..errors import require
from .stage import Run
from .state import EnsembleState
from .trees import copied


def snapshots_of(run: Run, snapshots: Sequence[int]) -> list[tuple[int, ...]]:
    """Return for each stage the evaluations after which the weights are kept.

    Raises:
        SpecError: where a step of `snapshots` is no evaluation of the run.
    """
    listed = np.ndim(snapshots) == 1
    require(listed, f"got snapshots={snapshots}; allowed is a list of steps; use for example snapshots=[{snapshots}]")
    found, first = [], 0
    for stage, length in zip(run.stages, lengths_of(run), strict=True):
        every = stage.evaluation.every
        here = [step - first for step in snapshots if first < step <= first + -(-length // every) * every]
        for step in here:
            require(
                step % every == 0,
                f"weights are kept where a run is evaluated: snapshots={first + step}, every={every}; "
                f"use {first + step - step % every} or {first + step - step % every + every}",
            )
        found.append(tuple(step // every for step in here))
        first += length
    beyond = [step for step in snapshots if not 0 <= step <= first + run.stages[-1].evaluation.every]
    require(
        not beyond, f"weights are kept within the run: snapshots={beyond[:1]}, steps={first}; use steps up to {first}"
    )
    found[0] = (0, *found[0]) if 0 in snapshots else found[0]
    return found


def lengths_of(run: Run) -> list[int]:
    """Return the steps of each stage; where members differ, of the longest."""
    return [int(np.asarray(stage.steps).max()) for stage in run.stages]


def finish_snapshots(run: Run, snapshots: Sequence[int], state: EnsembleState) -> EnsembleState:
    """At the end of a stage keep the weights for those steps of `snapshots` that no member reached."""
    lengths = lengths_of(run)
    first, end = sum(lengths[: state.stage - 1]), sum(lengths[: state.stage])
    missing = [step for step in snapshots if first < step <= end and step not in state.snapshots]
    added = {step: copied(state.members.model) for step in missing}
    return dataclasses.replace(state, snapshots=state.snapshots | added)
