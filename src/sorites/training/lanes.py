"""How members run: alone, together (vmap), apart (in turn inside the program) or one by one (called in turn)."""

import warnings
from collections.abc import Callable

import equinox as eqx
import jax
import numpy as np

from ..errors import require
from . import memory
from .stage import Run
from .trees import take

LARGE = 20_000  # weights from which members run one after another on a CPU
FILLS = 2e11  # weights x tokens of a step; one layer of width 720 (1.1e11) is faster in a pack, four (4e11) hardly


def lanes_of(run: Run, members: int, asked: str) -> str:
    """The lanes of an ensemble: those asked for, or the fastest, that fit into memory."""
    lanes = _fastest(run) if asked == "auto" else asked
    lanes = _fitting(run, members, "alone" if members == 1 else lanes)
    return "one by one" if lanes == "apart" and run.model.weights_count > LARGE else lanes


def rest(lanes: str, members: int) -> str:
    """The lanes of the members that are left."""
    return "alone" if lanes == "together" and members == 1 else lanes


def _fastest(run: Run) -> str:
    """Together where a step is too small to fill the machine: members that run apart stop when they are done."""
    work = max(int(np.max(stage.source.samples)) * stage.task.layout.positions for stage in run.stages)
    if jax.default_backend() != "cpu":
        return "together" if work * run.model.weights_count < FILLS else "apart"
    return "together" if work <= 50_000 and run.model.weights_count <= LARGE else "apart"


def _fitting(run: Run, members: int, lanes: str) -> str:
    """Lanes that fit into memory; an ensemble whose members do not fit side by side runs them one after another."""
    one, room = memory.needed(run), memory.available()
    memory.drop_programs_before_the_limit()
    if room is None or one * members <= room:
        return lanes
    said = f"{one / 2**30:,.2f} GiB each, {room / 2**30:,.2f} GiB are free"
    require(one <= room, f"a member and its batch fit into memory: {said}; use a smaller model or batch")
    if lanes == "together":
        warnings.warn(f"{members} members do not fit side by side ({said}): they run one after another", stacklevel=5)
        return "apart"
    return lanes


def spread_over(function: Callable, lanes: str) -> Callable:
    """The function of one member as a function of many."""
    if lanes == "alone":  # a lone member trains without an axis: a vmap of one costs half as much again

        def alone(*arguments):
            out = function(*take(arguments, 0))
            return jax.tree.map(lambda leaf: leaf[None] if eqx.is_array(leaf) else leaf, out)

        return alone
    if lanes in ("together", "one by one"):
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
