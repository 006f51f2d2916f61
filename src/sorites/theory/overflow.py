"""Exponentials beyond the range of floats."""

import math

LARGEST = 709.0  # e^709 is a float, e^710 is not


def exp(exponent: float) -> float:
    """Return e^exponent, infinite where it exceeds every float; so 1 / (1 + exp(10_000)) is 0 and no error."""
    return math.exp(exponent) if exponent <= LARGEST else math.inf
