"""The state of an ensemble between two calls of its program: everything that a killed training needs to resume."""

import dataclasses
from typing import Any

import numpy as np

from .member import Member

Record = tuple[int, np.ndarray, dict[str, np.ndarray]]  # stage, steps, and metrics as [member, evaluation, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class EnsembleState:
    stage: int  # the present one, from 1
    evaluations: int  # done in it, without the one on entry
    members: Member  # all of them, with a leading member axis
    active: np.ndarray  # the members that the compiled program holds; all others are finished
    records: tuple[Record, ...]  # what was measured, chunk by chunk
    samples: np.ndarray  # chains that each member consumed in earlier stages
    snapshots: dict[int, Any]  # models at the steps of `snapshots`

    @property
    def entered(self) -> bool:
        """Whether the evaluation on entry to the present stage is done."""
        return bool(self.records) and self.records[-1][0] == self.stage

    @property
    def finished(self) -> np.ndarray:
        """Which members have left the present stage or diverged."""
        return np.asarray(self.members.left) | np.asarray(self.members.diverged)

    @property
    def solved(self) -> int:
        """How many members have reached the goal."""
        return int((np.asarray(self.members.solved_at) >= 0).sum())
