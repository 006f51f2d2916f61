"""Members from several folders and trainings as one ensemble, in the order asked for."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from ..training import History
from ..training.trees import to_device


class Kept(NamedTuple):
    """An ensemble as the store holds it; the models may be of any kind."""

    history: History
    models: Any  # leading axis: member
    snapshots: dict[int, Any]  # the models at other steps


Place = tuple[Kept, int]  # an ensemble, and a row in it


def gather(places: Sequence[Place]) -> Kept:
    """One member per place; where one measured and another had stopped, the other has NaN."""
    parts = list({id(part): part for part, _ in places}.values())
    if len(parts) == 1 and [row for _, row in places] == list(range(len(parts[0].history.seeds))):
        return parts[0]
    rows = [np.array([row for part, row in places if part is each]) for each in parts]
    here = [np.array([place for place, (part, _) in enumerate(places) if part is each]) for each in parts]
    order = np.argsort(np.concatenate(here))  # from part by part to the order asked for
    return Kept(
        _histories([part.history for part in parts], rows, order),
        _models([part.models for part in parts], rows, order),
        {step: _models([part.snapshots[step] for part in parts], rows, order) for step in parts[0].snapshots},
    )


def _histories(histories: list[History], rows: list[np.ndarray], order: np.ndarray) -> History:
    records = [list(zip(each.stage.tolist(), each.step.tolist(), strict=True)) for each in histories]
    where = {record: index for index, record in enumerate(sorted(set().union(*records)))}

    def spread(name: str) -> np.ndarray:
        wide = []
        for history, mine, chosen in zip(histories, records, rows, strict=True):
            values = history.metrics[name][chosen]
            wide.append(np.full((len(chosen), len(where), *values.shape[2:]), np.nan, values.dtype))
            wide[-1][:, [where[record] for record in mine]] = values
        return np.concatenate(wide)[order]

    def column(name: str) -> np.ndarray:
        return np.concatenate([getattr(each, name)[chosen] for each, chosen in zip(histories, rows, strict=True)])[
            order
        ]

    stage, step = np.array(list(where)).T
    return History(
        seeds=column("seeds"),
        stage=stage,
        step=step,
        metrics={name: spread(name) for name in histories[0].metrics},
        solved_at=column("solved_at"),
        samples=column("samples"),
        diverged=column("diverged"),
        censored=column("censored"),
        secrets=None if histories[0].secrets is None else column("secrets"),
    )


def _models(models: list[Any], rows: list[np.ndarray], order: np.ndarray) -> Any:
    def join(*leaves):
        if not eqx.is_array(leaves[0]):
            return leaves[0]
        chosen = [np.asarray(leaf)[mine] for leaf, mine in zip(leaves, rows, strict=True)]
        return to_device(np.concatenate(chosen)[order])

    return jax.tree.map(join, *models)
