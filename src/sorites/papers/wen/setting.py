"""What the claims share."""

import dataclasses
from typing import Any

from ...errors import require

PAPER = "wen"
ROUNDING = 1e-12  # float64 sums of a few hundred terms of size one
DELTA = 0.1  # the paper's failure probability
LISTED = 16  # bits up to which every input is enumerated


def counted(size: Any) -> None:
    """Every whole number of a size counts something."""
    for field in dataclasses.fields(size):
        value = getattr(size, field.name)
        for each in value if isinstance(value, tuple) else (value,):
            require(
                not isinstance(each, int) or isinstance(each, bool) or each >= 1,
                f"{field.name} counts something: {field.name}={value}; use 1 or more",
            )


def by_chance(share: float, trials: int) -> float:
    """How far above its chance a share of trials comes in less than 1 of 100,000 cases (binomial)."""
    from scipy import stats

    return float(stats.binom.isf(1e-5, trials, share)) / trials - share


def secret_fits(bits: int, sparsity: int, least: int = 1) -> None:
    require(
        least <= sparsity <= bits,
        f"a secret has {least} to {bits} of {bits} bits: sparsity={sparsity}; use such a number",
    )


def listed(bits: int) -> None:
    require(1 <= bits <= LISTED, f"every input of n bits is enumerated: bits={bits}; use 1 to {LISTED}")


@dataclasses.dataclass(frozen=True)
class Small:
    """Small enough to enumerate every input."""

    bits: int = 8
    sparsity: int = 3
    width: int = 64  # d
    neurons: int = 12  # m

    def __post_init__(self):
        listed(self.bits)
        secret_fits(self.bits, self.sparsity, least=2)
        counted(self)
