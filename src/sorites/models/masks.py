"""Which positions each query may attend to: boolean arrays, query by source, 0-based, of the whole chain."""

import numpy as np

from ..tasks import Layout

Mask = np.ndarray  # bool[query, source]


def causal(layout: Layout) -> Mask:
    """M1: a thought reads everything before it (kim-suzuki, Thm 5; rl-sft, Fig. 2(b) left)."""
    positions = np.arange(layout.positions)
    return (positions[None, :] < positions[:, None]) & _thoughts(layout)[:, None]


def lower_levels(layout: Layout) -> Mask:
    """M2: a thought reads all lower levels, never its own (kim-suzuki, Thm 7)."""
    level = np.asarray(layout.position_levels)
    return (level[None, :] < level[:, None]) & _thoughts(layout)[:, None]


def lower_levels_and_inputs(layout: Layout) -> Mask:
    """M3: as M2, and an input reads the inputs before it (log-icot, Def. 1)."""
    positions = np.arange(layout.positions)
    inputs = positions < layout.inputs
    return lower_levels(layout) | ((positions[None, :] < positions[:, None]) & inputs[:, None])


def previous_level(layout: Layout) -> Mask:
    """M4: a thought reads exactly the level below, the "pretrained" mask (rl-sft, Fig. 2(b) right)."""
    level = np.asarray(layout.position_levels)
    return (level[None, :] == level[:, None] - 1) & _thoughts(layout)[:, None]


def inputs_and_previous(layout: Layout) -> Mask:
    """M5: a thought reads every input and the thought before it (rl-sft, App. H)."""
    positions = np.arange(layout.positions)
    inputs = positions < layout.inputs
    return (inputs[None, :] | (positions[None, :] == positions[:, None] - 1)) & _thoughts(layout)[:, None]


def causal_everywhere(layout: Layout) -> Mask:
    """M6: plain causal, for every query, inputs included (what M1 is before inputs are excluded)."""
    positions = np.arange(layout.positions)
    return positions[None, :] < positions[:, None]


MASKS = {
    "causal": causal,
    "lower-levels": lower_levels,
    "lower-levels-and-inputs": lower_levels_and_inputs,
    "previous-level": previous_level,
    "inputs-and-previous": inputs_and_previous,
    "causal-everywhere": causal_everywhere,
}


def _thoughts(layout: Layout) -> np.ndarray:
    return np.arange(layout.positions) >= layout.inputs
