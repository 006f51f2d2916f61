"""Compilation is seen from outside, once for each program."""

import jax
import jax.numpy as jnp

from sorites.cli.compiling import compiling


def test_a_program_is_seen_to_compile_once():
    heard = []
    program = jax.jit(lambda x: jnp.sin(x) * 3.25 + x**5)
    value = jnp.arange(7.0)
    with compiling(lambda begins, seconds: heard.append((begins, seconds))):
        program(value)
        first = list(heard)
        program(value)
    program(jnp.arange(8.0))
    assert [begins for begins, _ in first] == [True, False]
    assert first[1][1] > 0
    assert heard == first
