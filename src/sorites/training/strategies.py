"""The three ways to run the members of an ensemble.

vmap: all at once, in one program with a member axis; best where a step is too small to fill the device.
sequential: one after another inside one program (`jax.lax.map`); a finished member costs nothing.
separate: one call of a one-member program after another; fastest for large models, and for a single member.
"""

import warnings
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np

from ..errors import require
from ..runtime.devices import LARGE, fills_device, free_memory
from .memory import bytes_needed
from .stage import Run
from .trees import joined, take

STRATEGIES = ("auto", "vmap", "sequential", "separate")


def choose_strategy(run: Run, members: int, strategy: str) -> str:
    """Choose how the members of an ensemble run.

    Args:
        run: the run of one member.
        members: how many there are.
        strategy: "vmap", "sequential", "separate", or "auto" for what is faster on this device.

    Returns:
        "vmap", "sequential" or "separate": a single member is "separate", and members that do not fit into memory
        side by side run one after another.

    Raises:
        SpecError: where not even one member fits into memory.
    """
    tokens = max(int(np.max(stage.source.samples)) * stage.task.layout.positions for stage in run.stages)
    one_by_one = "separate" if run.model.weights_count > LARGE else "sequential"
    if strategy == "auto":
        strategy = one_by_one if fills_device(run.model.weights_count, tokens) else "vmap"
    if not _fits(run, members, strategy):
        strategy = one_by_one
    return "separate" if members == 1 else strategy


def for_fewer(strategy: str, members: int) -> str:
    """Return the strategy of a smaller program: a single member runs without a member axis."""
    return "separate" if strategy == "vmap" and members == 1 else strategy


def _fits(run: Run, members: int, strategy: str) -> bool:
    """Whether the members fit into memory; warn if only one at a time does."""
    one, free = bytes_needed(run), free_memory()
    if free is None or one * members <= free:
        return True
    sizes = f"one member needs {one / 2**30:,.2f} GiB, {free / 2**30:,.2f} GiB are free"
    require(one <= free, f"out of memory: {sizes}; use a smaller model or batch")
    if strategy != "vmap" or members == 1:
        return True
    warnings.warn(f"{members} members do not fit side by side ({sizes}): they run one after another", stacklevel=5)
    return False


def call(program: Callable, strategy: str, data: Any, shared: Any, members: Any, *rest: Any) -> Any:
    """Call a compiled program for every member.

    Args:
        program: compiled from a function of `((data, shared), members, *rest, strategy)`.
        strategy: vmap, sequential or separate.
        data: a pytree whose arrays have a leading member axis, such as a plan with one rate for each member.
        shared: arrays that all members share.
        members: a pytree with a leading member axis.
        rest: static arguments.

    Returns:
        What the program returns, with a leading member axis.
    """
    count = len(jax.tree.leaves(eqx.filter(members, eqx.is_array))[0])
    if strategy != "separate" or count == 1:
        return program((data, shared), members, *rest, strategy)
    each = []
    for index in range(count):
        one = np.array([index])
        each.append(program((take(data, one), shared), take(members, one), *rest, strategy))
    return joined(each)


def spread_over(function: Callable, strategy: str) -> Callable:
    """Return the function of one member as a function of all members that one program holds."""
    if strategy == "vmap":
        return eqx.filter_vmap(function, in_axes=eqx.if_array(0), out_axes=eqx.if_array(0))
    return _without_axis(function) if strategy == "separate" else _one_after_another(function)


def _without_axis(function: Callable) -> Callable:
    """For a single member: a vmap of one takes 1.5 times as long."""

    def alone(*arguments):
        out = function(*take(arguments, 0))
        return jax.tree.map(lambda leaf: leaf[None] if eqx.is_array(leaf) else leaf, out)

    return alone


def _one_after_another(function: Callable) -> Callable:
    def mapped(*arguments):
        arrays, static = eqx.partition(arguments, eqx.is_array)
        static_out = []

        def one(arrays):
            out = function(*eqx.combine(arrays, static))
            static_out.append(eqx.filter(out, eqx.is_array, inverse=True))
            return eqx.filter(out, eqx.is_array)

        out = jax.lax.map(one, arrays)
        return eqx.combine(out, static_out[-1])

    return mapped
