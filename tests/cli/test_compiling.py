"""Compilation is seen from outside, once for each program."""

import jax
import jax.numpy as jnp
import pytest

from sorites.cli import compiling as module
from sorites.cli.compiling import BEGINS, ENDS, compiling


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


def test_two_at_once_are_told_once(monkeypatch):
    """From 1 to 4 and from 2 to 7 seconds: six of compilation, and none is over before both are."""
    heard, clock = [], iter([1.0, 2.0, 4.0, 7.0])
    monkeypatch.setattr(module, "_NOW", {"open": 0, "until": 0.0})
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(clock))
    with compiling(lambda works, seconds: heard.append((works, seconds))):
        for event, seconds in ((BEGINS, 0.1), (BEGINS, 0.1), (ENDS, 3.0), (ENDS, 5.0)):
            module._heard(event, seconds)
    assert [works for works, _ in heard] == [True, True, True, False]
    assert [seconds for _, seconds in heard] == pytest.approx([0, 0, 3, 3])
