"""Running checks: parameters overridden by name, verdicts as plain records."""

import dataclasses
import math
import random
import time
import types
import typing
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..display.html import html_table
from ..errors import SpecError
from .claim import Claim, P, Scale, verdict_of
from .comparison import Comparison


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The record that `sorites verify --json` prints."""

    id: str
    paper: str
    label: str
    kind: str
    says: str
    verdict: str
    expected: str
    predicted: Any
    measured: Any
    tolerance: Any
    erratum: dict[str, str] | None
    departures: list[str]
    revised: bool
    seeds: int
    seconds: float
    scale: str
    parameters: dict[str, Any]
    source: str | None = None  # digest of the code of the check

    @property
    def as_expected(self) -> bool:
        return self.verdict == self.expected

    def __repr__(self) -> str:
        expected = "as expected" if self.as_expected else f"expected {self.expected}"
        return f"Verdict({self.id} {self.verdict}, {expected}; {self.seeds} seeds, {self.scale}, {self.seconds:.3g} s)"

    def _repr_html_(self) -> str:
        columns = [
            each if isinstance(each, dict) else {self.label: each}  # a number for one comparison
            for each in (self.predicted, self.measured, self.tolerance)
        ]
        rows = [[name, *(_number(column.get(name)) for column in columns)] for name in columns[0]]
        return html_table(f"{self!r}: {self.says}", ["quantity", "predicted", "measured", "tolerance"], rows)

    def record(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def verify(
    claim: Claim[Any], scale: Scale = "quick", overrides: dict[str, str] | None = None, lab: Any = None
) -> Verdict:
    """Check one claim; overrides are strings as typed on the command line, lab is where it trains."""
    return verify_at(claim, override(claim.parameters(scale), overrides or {}), scale, overrides, lab)


def verify_at(
    claim: Claim[P], parameters: P, scale: Scale = "quick", overrides: dict[str, str] | None = None, lab: Any = None
) -> Verdict:
    """Check one claim at these parameters; outside its domain it is measured, and nothing is said."""
    begun, outside = time.perf_counter(), claim.outside(parameters)
    with refusing(f"{claim.id} cannot be checked", overrides or {}):
        evidence = claim.evidence(parameters, lab)
    erratum = None if evidence.erratum is None else dataclasses.asdict(evidence.erratum)
    return Verdict(
        id=claim.id,
        paper=claim.paper,
        label=claim.label,
        kind=claim.kind,
        says=claim.says,
        verdict=verdict_of(evidence.comparisons) if outside is None else "inconclusive",
        expected=claim.expected,
        predicted=_column(evidence.comparisons, "predicted"),
        measured=_column(evidence.comparisons, "measured"),
        tolerance=_column(evidence.comparisons, "tolerance"),
        erratum=erratum,
        departures=[
            *([] if outside is None else [f"outside its domain: {outside}"]),
            *claim.departures,
            *evidence.departures,
        ],
        revised=claim.revised,
        seeds=evidence.seeds,
        seconds=round(time.perf_counter() - begun, 3),
        scale=scale,
        parameters=dataclasses.asdict(parameters),  # pyright: ignore[reportArgumentType]
    )


def anywhere(claim: Claim[P], count: int, seed: int, scale: Scale = "quick") -> list[P]:
    """Sizes drawn from the claim's domain; one where there is nothing to draw. They depend on seed and id alone."""
    size = claim.parameters(scale)
    if claim.domain is None or not claim.domain.ranges:
        return [size]
    generator = random.Random(f"{seed} {claim.id}")
    return [claim.domain.draw(size, generator) for _ in range(count)]


@contextmanager
def refusing(sentence: str, overrides: dict[str, str]) -> Iterator[None]:
    """An error inside is blamed on what the user changed; our own sizes must work, so without a change it is a bug."""
    try:
        yield
    except SpecError:
        raise
    except (ArithmeticError, ValueError, IndexError, KeyError, TypeError, MemoryError) as error:
        if not overrides:
            raise
        given = ", ".join(f"{name}={value}" for name, value in overrides.items())
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise SpecError(f"{sentence} with {given} ({reason}); use other values") from error


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else "·" if value is None else str(value)


def _column(comparisons: tuple[Comparison, ...], field: str) -> Any:
    """A number for one comparison, else an object with a key per comparison."""
    if not comparisons:
        return None
    if len(comparisons) == 1:
        return getattr(comparisons[0], field)
    return {comparison.name: getattr(comparison, field) for comparison in comparisons}


def override(parameters: Any, values: dict[str, str]) -> Any:
    """The parameters with the named fields replaced; names that it lacks are ignored."""
    hints = typing.get_type_hints(type(parameters))
    known = {name: _parsed(name, text, hints[name]) for name, text in values.items() if name in hints}
    return dataclasses.replace(parameters, **known)


def alone(kind: type[P], size: P) -> P:
    """The setting inside a claim's parameters, without what the claim adds to it."""
    return kind(**{field.name: getattr(size, field.name) for field in dataclasses.fields(kind)})  # pyright: ignore[reportArgumentType]


def _parsed(name: str, text: str, hint: Any) -> Any:
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)[0]
        return tuple(_parsed(name, part, inner) for part in text.split(","))
    if isinstance(hint, types.UnionType):
        hint = next(option for option in typing.get_args(hint) if option is not type(None))
    try:
        value = hint(text) if hint is not bool else {"true": True, "false": False}[text.lower()]
    except (ValueError, KeyError):
        word = {int: "a whole number", float: "a number", bool: "true or false"}.get(hint, hint.__name__)
        raise SpecError(f"--{name} takes {word}: {name}={text!r}; give it one") from None
    if name == "seeds" and value < 1:
        raise SpecError(f"an ensemble needs at least one seed: seeds={value}; use 1 or more")
    if isinstance(value, float) and not math.isfinite(value):
        raise SpecError(f"--{name} takes a finite number: {name}={text}; give it one")
    if type(value) is int and value < 0:
        raise SpecError(f"--{name} counts something: {name}={value}; use 0 or more")
    return value
