"""Where a claim is meant to hold: a range for each of its parameters, and what they must be together.

    Domain(
        {"bits": Between(8, 24), "sparsity": Powers(2, 8), "rate": Real(0.1, 10, log=True), "gate": Among("and", "or")},
        where=lambda size: size.sparsity < size.bits,
        because="some bits are idle",
    )

A parameter that is not named keeps the values that the claim's own sizes give it. `sorites verify --anywhere` draws
from here; the page and the playground read their sliders from here.
"""

import dataclasses
import random
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ..errors import SpecError

P = TypeVar("P")
TRIES = 2000  # draws until one fits what the parameters must be together


@dataclasses.dataclass(frozen=True)
class Between:
    """Whole numbers from low to high, in steps."""

    low: int
    high: int
    step: int = 1

    def __contains__(self, value: Any) -> bool:
        return isinstance(value, int) and self.low <= value <= self.high and (value - self.low) % self.step == 0

    def draw(self, generator: random.Random) -> int:
        return generator.randrange(self.low, self.high + 1, self.step)

    def __str__(self) -> str:
        return f"{self.low:,} to {self.high:,}" + (f" in steps of {self.step:,}" if self.step > 1 else "")


@dataclasses.dataclass(frozen=True)
class Powers:
    """Powers of two from low to high."""

    low: int
    high: int

    def __contains__(self, value: Any) -> bool:
        return isinstance(value, int) and self.low <= value <= self.high and value & (value - 1) == 0

    def draw(self, generator: random.Random) -> int:
        return 1 << generator.randint(self.low.bit_length() - 1, self.high.bit_length() - 1)

    def __str__(self) -> str:
        return f"powers of two from {self.low:,} to {self.high:,}"


@dataclasses.dataclass(frozen=True)
class Real:
    """Numbers from low to high; log: drawn evenly in the logarithm."""

    low: float
    high: float
    log: bool = False

    def __contains__(self, value: Any) -> bool:
        return isinstance(value, int | float) and self.low <= value <= self.high

    def draw(self, generator: random.Random) -> float:
        if self.log:
            return float(f"{self.low * (self.high / self.low) ** generator.random():.4g}")
        return float(f"{generator.uniform(self.low, self.high):.4g}")

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"


class Among:
    """One of these values; tuples are values too."""

    def __init__(self, *values: Any):
        self.values = values

    def __contains__(self, value: Any) -> bool:
        return value in self.values

    def draw(self, generator: random.Random) -> Any:
        return generator.choice(self.values)

    def __str__(self) -> str:
        return " or ".join(map(str, self.values))


class Text:
    """Any text, as a path; drawn: none."""

    def __contains__(self, value: Any) -> bool:
        return isinstance(value, str)

    def draw(self, generator: random.Random) -> str:
        return ""

    def __str__(self) -> str:
        return "any text"


Range = Between | Powers | Real | Among | Text


@dataclasses.dataclass(frozen=True)
class Domain:
    """`where` is what the parameters must be together; `because` says in words what it asks, or why a range ends."""

    ranges: dict[str, Range] = dataclasses.field(default_factory=dict)
    where: Callable[[Any], bool] | None = None
    because: str = ""

    def outside(self, size: Any, own: Iterable[Any]) -> str | None:
        """What puts these parameters outside, in words; None inside. The claim's own sizes are inside."""
        own = list(own)
        if size in own:
            return None
        for field in dataclasses.fields(size):
            value = getattr(size, field.name)
            known = [getattr(each, field.name) for each in own if hasattr(each, field.name)]
            if field.name in self.ranges:
                if value not in self.ranges[field.name] and value not in known:
                    return f"{field.name}={value}, which is meant to be {self.ranges[field.name]}"
            elif value not in known:
                return f"{field.name}={value}, which is meant to be {' or '.join(map(str, dict.fromkeys(known)))}"
        if self.where is not None and not self.where(size):
            return self.because or "its parameters do not fit together"
        return None

    def draw(self, size: P, generator: random.Random) -> P:
        """A size from the ranges that a claim accepts; the others stay as they are in the given one."""
        for _ in range(TRIES):
            chosen = {name: each.draw(generator) for name, each in self.ranges.items()}
            try:
                drawn = dataclasses.replace(size, **chosen)  # pyright: ignore[reportArgumentType]
            except SpecError:
                continue
            if self.where is None or self.where(drawn):
                return drawn
        raise SpecError(f"a domain holds sizes that its claim accepts: {TRIES} draws gave none; mend the domain")
