"""What the claims are checked on."""

import dataclasses
from typing import Any

from ...errors import require
from ...ledger import Between, Domain, Powers
from ...tasks import Boolean

PAPER = "rl-sft"
EXACT = 1e-10  # identities in float64
GATES = ("parity", "and", "or")


def require_rate(rate: float, most: float = 100.0) -> None:
    """Beyond `most` a step of attention's weights is a hard choice, and far beyond it numbers overflow."""
    require(0 < rate <= most, f"a rate lies above 0 and at most {most:g}: rate={rate}; use one in between")


def require_limit(limit: int, least: int = 1) -> None:
    require(
        limit >= least, f"updates are counted up to a limit of {least} or more: limit={limit}; use at least {least}"
    )


def require_levels(sparsity: int, levels: int) -> None:
    """Of a tree."""
    least = 2**levels
    require(sparsity >= least, f"this takes {levels} levels or more: sparsity={sparsity}; use {least} or more")


@dataclasses.dataclass(frozen=True)
class Tree:
    bits: int = 8  # d
    sparsity: int = 8  # k

    def task(self, gate: str = "parity") -> Boolean:
        return Boolean(self.bits, self.sparsity, gate)  # pyright: ignore


@dataclasses.dataclass(frozen=True)
class TwoLevels(Tree):
    def __post_init__(self):
        require_levels(self.sparsity, 2)


@dataclasses.dataclass(frozen=True)
class ThreeLevels(Tree):
    """Level 2 has keys besides the children."""

    def __post_init__(self):
        require_levels(self.sparsity, 3)


@dataclasses.dataclass(frozen=True)
class Stepped(Tree):
    rate: float = 0.7  # eta
    steps: int = 8  # s

    def __post_init__(self):
        require(self.rate > 0, f"a rate is a positive number: rate={self.rate}; use one above 0")
        require(
            self.steps >= 1 and self.rate * self.steps <= 16,
            f"beyond rate x steps = 16 the signal is below float64's rounding: rate={self.rate}, steps={self.steps}; "
            "use a smaller rate or fewer steps",
        )


@dataclasses.dataclass(frozen=True)
class Serial:
    bits: int = 7
    sparsity: int = 5

    def task(self, gate: str = "parity") -> Boolean:
        return Boolean(self.bits, self.sparsity, gate, "serial")  # pyright: ignore


def chosen(size: Any) -> bool:
    """Of bits and sparsity."""
    return size.sparsity <= size.bits


CHOSEN = "the secret bits are among the bits"
TREES = Domain({"bits": Between(3, 12), "sparsity": Powers(2, 8)}, chosen, CHOSEN)
DEEP = Domain({"bits": Between(4, 12), "sparsity": Powers(4, 8)}, chosen, CHOSEN)  # with levels above the first
SERIAL = Domain({"bits": Between(4, 10), "sparsity": Between(3, 8)}, chosen, CHOSEN)  # two thoughts or more
