"""L8: growth by a power, in which the one that starts ahead takes all."""

import dataclasses
import math

from ...errors import require
from ...ledger import Between, Claim, Domain, Evidence, Real, at_most, equal
from .setting import PAPER

MOST_STEPS = 10**7
NOISE = 20  # x_0 over the spread of the Gaussian in Lemma B.12


@dataclasses.dataclass(frozen=True)
class Power:
    power: int = 4  # q
    start: float = 1e-2  # x_0
    goal: float = 0.5  # A
    rate: float = 0.1
    lead: float = 1.1  # x_0 / y_0

    def __post_init__(self):
        require(self.power >= 3, f"growth takes over for q > 2: power={self.power}; use 3 or more")
        require(
            0 < self.start < self.goal,
            f"growth starts below its goal: start={self.start}, goal={self.goal}; use 0 < start < goal",
        )
        require(self.rate > 0, f"growth needs a rate: rate={self.rate}; use a positive number")
        require(self.lead > 1, f"the winner starts ahead: lead={self.lead}; use more than 1")
        require(
            self.time <= MOST_STEPS,
            f"at most {MOST_STEPS:.0e} steps are taken and {self.time:.1e} are predicted: power={self.power}, "
            f"start={self.start}, rate={self.rate}; use a smaller power, a larger start or a larger rate",
        )

    @property
    def time(self) -> float:
        """Steps to the goal (Lemma B.13)."""
        order = self.power - 2
        return (self.start**-order - self.goal**-order) / (order * self.rate)

    @property
    def late(self) -> float:
        """Twice the share by which steps lag behind the flow x' = eta C x^{q-1}: (q-1)/2 log(A/x_0) steps, and one."""
        return ((self.power - 1) * math.log(self.goal / self.start) + 2) / self.time

    @property
    def limit(self) -> float:
        """Of the loser over its start (Corollary B.1)."""
        order = self.power - 2
        return (1 - self.lead**-order) ** (-1 / order)

    @property
    def strain(self) -> float:
        """What a relative change of the time does to the loser, relatively."""
        return self.limit ** (self.power - 2) / (self.power - 2)

    @property
    def noise(self) -> float:
        """Twice the share by which noise of spread x_0/20 quickens the loser at its start: C(q-1, 2) (spread/y_0)^2."""
        return 2 * math.comb(self.power - 1, 2) * (self.lead / NOISE) ** 2


def noisy_power(value: float, spread: float, power: int) -> float:
    """E (xi + value)^power for Gaussian xi: its even moments are spread^2k (2k-1)!!."""
    return sum(
        math.comb(power, 2 * k) * value ** (power - 2 * k) * spread ** (2 * k) * math.prod(range(1, 2 * k, 2))
        for k in range(power // 2 + 1)
    )


def _tensor_power(size: Power) -> Evidence:
    p = size.power - 1
    x, y, noisy_x, noisy_y, steps = size.start, size.start / size.lead, size.start, size.start / size.lead, 0
    spread = size.start / NOISE
    noisy_done = None
    while x < size.goal:
        x, y, steps = x + size.rate * x**p, y + size.rate * y**p, steps + 1
        if noisy_done is None:
            noisy_x += size.rate * noisy_power(noisy_x, spread, p)
            noisy_y += size.rate * noisy_power(noisy_y, spread, p)
            noisy_done = noisy_y if noisy_x >= size.goal else None
    order, limit = size.power - 2, size.limit
    flow = (1 - size.lead**-order * (1 - (size.start / size.goal) ** order)) ** (-1 / order)
    late = limit * size.strain * size.late
    return Evidence(
        (
            equal("steps to A / (x_0^{2-q} - A^{2-q}) / ((q-2) eta C)", 1, steps / size.time, size.late),
            equal("loser / its start, by the flow", flow, y * size.lead / size.start, late),
            at_most("loser / its start (Corollary B.1)", y * size.lead / size.start, limit, late),
            at_most(
                "the same in expectation over noise (Lemma B.12)",
                (noisy_done or y) * size.lead / size.start,
                limit,
                late + limit * size.strain * size.noise,
            ),
        )
    )


CLAIMS = (
    Claim(
        "L8", PAPER, "Lemmas B.12, B.13, Corollary B.1", "finite",
        "x <- x + eta C x^{q-1} reaches A after (x_0^{2-q} - A^{2-q}) / ((q-2) eta C) steps, and a competitor that starts "
        "a constant factor lower stays at its start's order.",
        {"tiny": Power(), "quick": Power(start=3e-3)}, _tensor_power,
        departures=("steps lag behind the flow by (q-1)/2 log(A/x_0): twice that is allowed, for 2 % and 10 % until an audit",),
        domain=Domain(
            {"power": Between(3, 6), "start": Real(3e-3, 5e-2, log=True), "goal": Real(0.2, 1.0), "rate": Real(0.02, 0.5, log=True),
             "lead": Real(1.05, 2.0)},
            lambda size: size.time <= 300_000 and size.strain * (size.late + size.noise) <= 0.25,
            "at most 300,000 steps, and a lag and a noise that change the loser by a quarter at most",
        ), revised=True,
    ),
)  # fmt: skip
