"""What an ensemble measured, member by member and stage by stage, joined into one History."""

import jax
import numpy as np

from ..errors import require
from .history import History
from .member import Member


def spread(leaf, active: np.ndarray, members: int) -> np.ndarray:
    """Measurements of the active members in their places; the others measured nothing."""
    leaf = np.asarray(leaf)
    if len(active) == members:
        return leaf
    wide = np.full((members, *leaf.shape[1:]), np.nan, leaf.dtype)
    wide[active] = leaf
    return wide


def history_of(seeds, records, members: Member, samples: np.ndarray, cut: bool) -> History:
    step = np.concatenate([steps for _, steps, _ in records])
    stage = np.concatenate([np.full(len(steps), number) for number, steps, _ in records])
    names = records[0][2]
    require(
        all(found.keys() == names.keys() for _, _, found in records),
        "the stages of one run measure the same things: their probes differ; give every stage the same probes",
    )
    metrics = {name: _joined([found[name] for _, _, found in records]) for name in names}
    kept = measured_at(metrics) | np.append(True, stage[1:] != stage[:-1])  # however long the last chunk was
    secrets = jax.tree.leaves(members.secret)
    ended = np.asarray(members.left) | np.asarray(members.diverged)
    return History(
        seeds=np.asarray(seeds),
        stage=stage[kept],
        step=step[kept],
        metrics={name: values[:, kept] for name, values in metrics.items()},
        solved_at=np.asarray(members.solved_at),
        samples=samples,
        diverged=np.asarray(members.diverged),
        censored=~ended if cut else np.zeros(len(seeds), bool),
        secrets=np.asarray(secrets[0]) if len(secrets) == 1 else None,
    )


def measured_at(metrics: dict[str, np.ndarray]) -> np.ndarray:
    """Return at which records at least one member measured something."""
    seen = [np.moveaxis(~np.isnan(values), 1, 0) for values in metrics.values()]
    return np.any([record.reshape(len(record), -1).any(axis=1) for record in seen], axis=0)


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    """Records one after another; a metric over levels has as many as the deepest stage, NaN beyond a stage's own."""
    if parts[0].ndim > 2:
        shape = np.max([part.shape[2:] for part in parts], axis=0)
        room = [
            [(0, 0), (0, 0), *((0, most - own) for most, own in zip(shape, p.shape[2:], strict=True))] for p in parts
        ]
        parts = [np.pad(part, wide, constant_values=np.nan) for part, wide in zip(parts, room, strict=True)]
    return np.concatenate(parts, axis=1)
