"""Two-bit gates on signs; true is +1. Integer arithmetic, so no tie is ever rounded."""

import dataclasses
from collections.abc import Callable

from jaxtyping import Array, Int

from ..errors import SpecError

Signs = Int[Array, "*shape"]


def parity(a: Signs, b: Signs) -> Signs:
    return a * b


def conjunction(a: Signs, b: Signs) -> Signs:
    return (a * b + a + b - 1) // 2  # phi_2 for AND (rl-sft, Sec. 3)


def disjunction(a: Signs, b: Signs) -> Signs:
    return (-a * b + a + b + 1) // 2  # phi_2 for OR


def negated_conjunction(a: Signs, b: Signs) -> Signs:
    return -conjunction(a, b)


def negated_disjunction(a: Signs, b: Signs) -> Signs:
    return -disjunction(a, b)


def exclusive(a: Signs, b: Signs) -> Signs:
    return -a * b  # true exactly where the two differ


@dataclasses.dataclass(frozen=True)
class Gate:
    """A named two-bit function. `rule` must be a module-level function: it is part of the compile key."""

    name: str
    rule: Callable[[Signs, Signs], Signs]

    def __call__(self, a: Signs, b: Signs) -> Signs:
        return self.rule(a, b)


GATES = {
    gate.name: gate
    for gate in (
        Gate("parity", parity),
        Gate("and", conjunction),
        Gate("or", disjunction),
        Gate("nand", negated_conjunction),
        Gate("nor", negated_disjunction),
        Gate("xor", exclusive),
    )
}


def gate_named(gate: str | Gate) -> Gate:
    """The gate of that name; a gate of your own passes through."""
    if isinstance(gate, Gate):
        return gate
    if gate not in GATES:
        raise SpecError(f"a gate is one of {', '.join(GATES)}: gate={gate!r}; use one of these or pass a Gate")
    return GATES[gate]
