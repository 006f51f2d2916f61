"""What the claims share."""

import dataclasses

PAPER = "wen"
ROUNDING = 1e-12  # float64 sums of a few hundred terms of size one
DELTA = 0.1  # the paper's failure probability


@dataclasses.dataclass(frozen=True)
class Small:
    """Small enough to enumerate every input."""

    bits: int = 8
    sparsity: int = 3
    width: int = 64  # d
    neurons: int = 12  # m
