"""A claim is data with a check."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, Generic, Literal, TypeVar

from .comparison import Comparison
from .domain import Domain

Scale = Literal["tiny", "quick", "paper"]
SCALES: tuple[Scale, ...] = ("tiny", "quick", "paper")
Kind = Literal["identity", "inequality", "finite", "trend", "uncheckable"]
Outcome = Literal["holds", "fails", "inconclusive"]
P = TypeVar("P")


@dataclasses.dataclass(frozen=True)
class Erratum:
    """Where the printed form is wrong, and the comparisons that show it."""

    printed: str
    corrected: str
    printed_verdict: Outcome


@dataclasses.dataclass(frozen=True)
class Evidence:
    """What a check found."""

    comparisons: tuple[Comparison, ...]
    seeds: int = 0  # members behind the numbers; 0 for identities
    erratum: Erratum | None = None
    departures: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Claim(Generic[P]):
    """`check` judges `says`, the corrected statement; P's fields are the flags of `sorites verify`.

    A check that trains takes a second argument, `lab`, and trains there: a store shares, lists and resumes its members.
    """

    id: str
    paper: str
    label: str  # where in the paper
    kind: Kind
    says: str
    sizes: dict[Scale, P]
    check: Callable[[P], Evidence] | Callable[[P, Any], Evidence]
    expected: Outcome = "holds"
    departures: tuple[str, ...] = ()
    domain: Domain | None = None  # where it is meant to hold; outside it a verdict is inconclusive
    revised: bool = False  # a bar, or what is judged, was set after numbers had been seen: the departures say which

    def outside(self, parameters: P) -> str | None:
        """What puts these parameters outside the domain, in words."""
        return None if self.domain is None else self.domain.outside(parameters, self.sizes.values())

    @property
    def trains(self) -> bool:
        """Does the check take a lab?"""
        return "lab" in inspect.signature(self.check).parameters

    def evidence(self, parameters: P, lab: Any = None) -> Evidence:
        """What the check finds; without a `Lab` nothing is stored."""
        if not self.trains:
            return self.check(parameters)  # pyright: ignore[reportCallIssue]
        if lab is None:
            from ..training import PLAIN  # here: the command line answers without jax

            lab = PLAIN
        return self.check(parameters, lab)  # pyright: ignore[reportCallIssue]

    def parameters(self, scale: Scale) -> P:
        """The parameters at a scale; a claim without settings of its own for it uses the next smaller."""
        below = SCALES[: SCALES.index(scale) + 1]
        return next(self.sizes[each] for each in reversed(below) if each in self.sizes)

    @property
    def flags(self) -> dict[str, Any]:
        """Parameter names and their values at quick scale."""
        return dataclasses.asdict(self.parameters("quick"))  # pyright: ignore


def verdict_of(comparisons: tuple[Comparison, ...]) -> Outcome:
    """Fails if one fails, holds if all hold, else inconclusive; no evidence is inconclusive."""
    if any(comparison.holds is False for comparison in comparisons):
        return "fails"
    decided = comparisons and all(comparison.holds for comparison in comparisons)
    return "holds" if decided else "inconclusive"
