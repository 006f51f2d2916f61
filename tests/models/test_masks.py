"""The six masks against their definitions, entry by entry."""

import jax.numpy as jnp
import numpy as np
import pytest

from sorites.models import MASKS
from sorites.models.base import masked_softmax
from sorites.tasks import Parity

LAYOUTS = [Parity(8, 8).layout, Parity(5, 2).layout, Parity(4, 4).layout, Parity(6, 4, "serial").layout]


def end(layout, level):
    """n_{l+1} of LI, d_l of KS: the last 1-based position of a level; nothing lies below the inputs."""
    return layout.ends[level] if level >= 0 else 0


DEFINITIONS = {  # source j and query m are 1-based, as printed; h is the query's level, inputs are level 0
    "causal": lambda L, j, m, h: m > L.inputs and j < m,
    "lower-levels": lambda L, j, m, h: m > L.inputs and j <= end(L, h - 1),
    "lower-levels-and-inputs": lambda L, j, m, h: (m <= L.inputs and j < m) or (m > L.inputs and j <= end(L, h - 1)),
    "previous-level": lambda L, j, m, h: m > L.inputs and end(L, h - 2) < j <= end(L, h - 1),
    "inputs-and-previous": lambda L, j, m, h: m > L.inputs and (j <= L.inputs or j == m - 1),
    "causal-everywhere": lambda L, j, m, h: j < m,
}


def test_every_mask_has_a_definition():
    assert MASKS.keys() == DEFINITIONS.keys()


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("layout", LAYOUTS, ids=repr)
def test_masks_are_their_definitions(name, layout):
    positions = range(1, layout.positions + 1)
    expected = [[DEFINITIONS[name](layout, j, m, layout.position_levels[m - 1]) for j in positions] for m in positions]
    mask = MASKS[name](layout)
    assert mask.dtype == bool
    np.testing.assert_array_equal(mask, expected)


@pytest.mark.parametrize("name", MASKS)
def test_empty_rows(name):
    layout = Parity(8, 4).layout
    empty = np.flatnonzero(~MASKS[name](layout).any(axis=1)).tolist()
    first_only = name in ("lower-levels-and-inputs", "causal-everywhere")
    assert empty == ([0] if first_only else list(range(layout.inputs)))


def test_an_empty_softmax_is_zero_not_nan():
    mask = jnp.array([[True, False, True], [False, False, False]])
    attention = masked_softmax(jnp.array([[0.0, 100.0, 0.0], [1.0, 2.0, 3.0]]), mask)
    np.testing.assert_array_equal(attention, [[0.5, 0, 0.5], [0, 0, 0]])
