"""Every gate under every format, against truth tables."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sorites.errors import SpecError
from sorites.tasks import GATES, Gate, gate_named
from sorites.tasks.formats import bits_of_signs, signs_of_bits, truth_of_signs

PAIRS = list(itertools.product([-1, 1], repeat=2))

TRUTH = {  # on truth values: true is +1
    "parity": lambda a, b: a == b,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "nand": lambda a, b: not (a and b),
    "nor": lambda a, b: not (a or b),
    "xor": lambda a, b: a != b,
}
BITS = {  # on bits with bit = (1 - sign) / 2: false is 1, so AND and OR change places
    "parity": lambda a, b: a ^ b,
    "and": lambda a, b: a | b,
    "or": lambda a, b: a & b,
    "nand": lambda a, b: 1 - (a | b),
    "nor": lambda a, b: 1 - (a & b),
    "xor": lambda a, b: 1 - (a ^ b),
}


def signs(*values):
    return jnp.asarray(values, jnp.int8)


def test_every_gate_has_its_tables():
    assert GATES.keys() == TRUTH.keys() == BITS.keys()


@pytest.mark.parametrize("name", GATES)
@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_gates_against_their_tables(name, a, b):
    out = GATES[name](signs(a), signs(b))
    assert out.dtype == jnp.int8
    assert int(truth_of_signs(out)[0]) == int(TRUTH[name](a == 1, b == 1))
    assert int(bits_of_signs(out)[0]) == BITS[name]((1 - a) // 2, (1 - b) // 2)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_the_product_is_xor_of_bits_and_xnor_of_truths(a, b):
    product = signs(a * b)
    left, right = signs(a), signs(b)
    assert bits_of_signs(product) == bits_of_signs(left) ^ bits_of_signs(right)
    assert truth_of_signs(product) == 1 - (truth_of_signs(left) ^ truth_of_signs(right))


def test_formats_are_inverse_where_they_say_so():
    both = signs(-1, 1)
    np.testing.assert_array_equal(signs_of_bits(bits_of_signs(both)), both)
    np.testing.assert_array_equal(truth_of_signs(both), 1 - bits_of_signs(both))


vectors = st.lists(st.sampled_from([-1, 1]), min_size=2, max_size=8)


def fold(name, values):
    state = signs(values[0])
    for value in values[1:]:
        state = GATES[name](state, signs(value))
    return int(state[0])


@given(vectors)
@settings(deadline=None, max_examples=20)
def test_duality_and_closed_forms(values):
    negated = [-value for value in values]
    assert fold("or", values) == -fold("and", negated)  # OR(x) = -AND(-x)
    assert fold("and", values) == 2 * np.prod([(1 + v) // 2 for v in values]) - 1
    assert fold("or", values) == 1 - 2 * np.prod([(1 - v) // 2 for v in values])
    assert fold("parity", values) == np.prod(values)


def left(a, b):
    return a + 0 * b


def test_a_gate_of_your_own_passes_through():
    mine = Gate("left", left)
    assert gate_named(mine) is mine
    assert gate_named("and") is GATES["and"]


def test_an_unknown_gate_is_refused_in_one_sentence():
    with pytest.raises(SpecError, match=r"a gate is one of parity, and.*gate='majority'; use one of these"):
        gate_named("majority")


def test_gates_keep_their_shape_under_jit():
    table = jnp.asarray(PAIRS, jnp.int8)
    for gate in GATES.values():
        assert jax.jit(gate)(table[:, 0], table[:, 1]).shape == (4,)
