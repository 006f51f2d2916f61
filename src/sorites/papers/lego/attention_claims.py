"""Claims about how attention concentrates in stage 2, in the four numbers that it has."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...ledger import (
    Among,
    Between,
    Claim,
    Domain,
    Evidence,
    Real,
    at_least,
    at_most,
    shown,
    worst,
)
from ...models.routing import Routing, uniform
from ...models.routing import loss as routing_loss
from ...tasks.actions import action_named
from ...theory.precision import in_float64
from ...training import Lab
from ...training.lego_theory import two_steps
from . import monitors
from .setting import FINITE, PAPER, ROUNDING, STEPS, Theory, masses


@dataclasses.dataclass(frozen=True)
class Onset(Theory):
    symmetric: str = "S4"


def _slopes(size: Theory, name: str, step: int) -> Routing:
    """Descent direction of the four numbers at Q = 0."""
    action = action_named(name)
    features, batch = size.features(action), two_steps(action, 1).batch
    slope = jax.jit(jax.grad(lambda routing: routing_loss(features, routing, batch.actions, batch.values, step)))
    return jax.tree.map(lambda leaf: -float(leaf), slope(uniform()))


def _onset(size: Onset, lab: Lab) -> Evidence:
    first, second = _slopes(size, "C6", 1), _slopes(size, "C6", 2)
    predicate, answer = first.predicate + second.predicate, first.answer + second.answer
    symmetric = _slopes(size, size.symmetric, 2)
    ceiling = float(size.features(action_named("C6")).ceiling)
    run = size.run(size.symmetric, lab)
    held = {**monitors.simply_transitive(size.run("C6", lab), size.variables, size.clipping),
            **monitors.symmetry(run, size.variables, size.clipping)}  # fmt: skip
    seen = [
        shown(f"first step that breaks: {name}", None, first_violation)
        for name, holds in held.items()
        if (first_violation := monitors.first_violation(holds)) is not None
    ]
    total = np.asarray(run.routing.predicate) + np.asarray(run.routing.answer)
    return Evidence(
        (
            at_least("C6: first gradient of [Q43], x |X|/B", float(predicate) / ceiling, 0.01),
            at_least("C6: [Q43] leads [Q44], ratio of first gradients", float(predicate / abs(answer)), 1),
            at_least("C6: the first answer's loss dominates, ratio", float(first.predicate / abs(second.predicate)), 1),
            at_least(
                f"{size.symmetric}: [Q44] leads [Q43], first gradients",
                float(symmetric.answer - symmetric.predicate),
                0,
            ),
            at_least(
                f"{size.symmetric}: smallest growth of [Q43] + [Q44] in two steps",
                float((total[2:] - total[:-2]).min()),
                0,
            ),
            at_least(
                f"{size.symmetric}: smallest growth of [Q43] + [Q44] in one step",
                float(np.diff(total).min()),
                -monitors.SLACK,
            ),
            *seen,
        )
    )


def _growth(size: Theory, lab: Lab) -> Evidence:
    history = size.run("C6", lab)
    attention, path = masses(history), history.routing
    gap = np.asarray(attention.gap)
    held = monitors.simply_transitive(history, size.variables, size.clipping)
    half = len(gap) // 2
    compared = [
        at_least("largest gap on the way", float(gap.max()), 0.05),
        at_most("|gap| at the end", float(abs(gap[-1])), 0.01),
        at_least("growth of [Q43] in the second half", float(path.predicate[-1] - path.predicate[half]), 0.1),
        at_least("growth of [Q44] in the second half", float(path.answer[-1] - path.answer[half]), 0.1),
        at_most("largest attention on pred,2", float(np.max(attention.predicate)), 0.5 + 1 / (2 * size.clipping)),
        at_most(
            "|off-diagonal| / diagonal, x |X|",
            float(size.variables * abs(path.other_predicate[-1]) / path.predicate[-1]),
            3,
        ),
    ]
    compared += [at_least(f"share of steps: {name}", float(holds.mean()), 0.95) for name, holds in held.items()]
    return Evidence(tuple(compared))


@dataclasses.dataclass(frozen=True)
class Dilution(Theory):
    actions: tuple[str, ...] = ("C6", "S4")
    lengths: tuple[int, ...] = (2, 4, 8, 16, 32, 64)  # each is also doubled

    def __post_init__(self):
        super().__post_init__()
        require(len(self.lengths) >= 2, f"a law in L needs two lengths: lengths={self.lengths}; use two or more")
        require(min(self.lengths) >= 2, f"the law starts from the second answer: lengths={self.lengths}; use 2 or more")
        self.admit(2 * max(self.lengths))


def dilution_law(error: float, others: np.ndarray) -> np.ndarray:
    """epsilon^{L,l} from epsilon^{2,2}: N / (N + 2 (1 - e) / e), N = L + l - 2 other clauses."""
    return np.asarray(others / (others + 2 * (1 - error) / error))


def _dilution(size: Dilution, lab: Lab) -> Evidence:
    theory = Theory(size.variables, size.clipping, size.steps, size.rate, size.slowing)
    paths = [theory.run(name, lab).routing for name in size.actions]
    return _diluted(size, [jax.tree.map(lambda leaf: float(leaf[len(leaf) // 4]), path) for path in paths])


@in_float64
def _diluted(size: Dilution, routings: list[Routing]) -> Evidence:
    """A quarter of the way, where the error is neither one half nor zero."""
    exact = measured = allowed = double = fourfold = rising = 0.0
    for numbers in routings:
        end = jax.tree.map(jnp.asarray, numbers)
        bare = Routing(end.predicate, jnp.zeros(()), end.answer, jnp.zeros(()))
        allowed = worst(allowed, abs(float(end.other_predicate - end.other_answer)) / 8)
        for routing, real in ((bare, False), (end, True)):
            start = float(routing.masses(2, jnp.asarray(2)).error)
            gaps = []
            for length in size.lengths:
                steps = np.arange(1, length + 1)
                error = np.asarray(routing.masses(length, jnp.asarray(steps)).error)
                off = float(np.abs(error - dilution_law(start, length + steps - 2.0)).max())
                exact, measured = (exact, worst(measured, off)) if real else (worst(exact, off), measured)
                longer = routing.masses(2 * length, jnp.asarray(np.arange(1, 2 * length + 1)))
                second = float(routing.masses(length, jnp.asarray(2)).error)
                double = worst(double, float(longer.error[1]) / second)
                fourfold = worst(fourfold, float(longer.error.max()) / second)
                gaps.append(abs(float(routing.masses(length, jnp.asarray(2)).gap)))
            rising = worst(rising, float(np.diff(gaps).max()))
    return Evidence(
        (
            at_most("law against attention without off-diagonals", exact, ROUNDING),
            at_most(
                "law against attention with trained off-diagonals (their difference / 8)", measured, allowed, ROUNDING
            ),
            at_most("error of L -> 2L at the second answer, largest ratio", double, 2, ROUNDING),
            at_most("error of L -> 2L at any answer, largest ratio", fourfold, 4, ROUNDING),
            at_most("largest rise of |gap| with L", rising, 0, 1e-4),
        )
    )


TINY = {"variables": 60, "clipping": 3.0, "steps": 150}
CLAIMS = (
    Claim(
        "L12", PAPER, "Inductions D.1, E.1; Lemma D.16", "finite",
        "At Q = 0 the cyclic task moves [Q43] first, by order B/|X|, mostly through the first answer; the symmetry task "
        "moves [Q44] first, and the sum of both grows over every two steps.",
        {"tiny": Onset(**TINY, symmetric="S3"), "quick": Onset()}, _onset,
        domain=Domain({"variables": Between(60, 240), "clipping": Real(3.0, 5.0), "steps": Between(100, 300, 50), "symmetric": Among("S3", "S4")}),
        departures=(FINITE, STEPS, "the sum was to grow by more than -0.01 a step until a review; with the bar 0 single steps that overshoot fail on S4 (-0.0002), "
            "so two are taken together"), revised=True,
    ),
    Claim(
        "L13", PAPER, "Inductions D.2, D.3", "finite",
        "On the cyclic task both diagonals keep growing, the gap opens and closes again, pred,2 stays below 1/2 + 1/(2 C_B) "
        "and off-diagonals stay at 1/|X| of the diagonal.",
        {"tiny": Theory(60, 3.0, 300), "quick": Theory()}, _growth, departures=(FINITE, STEPS),
        domain=Domain({"variables": Between(60, 240), "clipping": Real(3.0, 5.0), "steps": Between(300, 900, 100)}),
    ),
    Claim(
        "L15", PAPER, "Remark F.1 (law not stated)", "finite",
        "epsilon^{L,l} = N / (N + 2(1-e)/e) with N = L + l - 2 and e = epsilon^{2,2}: the error at most doubles with L and "
        "the gap shrinks.",
        {"tiny": Dilution(60, 3.0, 150, lengths=(2, 4, 8, 16)), "quick": Dilution()}, _dilution,
        departures=(
            STEPS, "lengths went to 256 with 60 and 200 variables, which have no such sentences, until a review; now 2L < |X|",
            "with trained off-diagonals 0.002 was allowed until an audit; now an eighth of their difference: N = L + l - 2 counts both "
            "kinds of other clauses alike, which misses it by up to half the difference, and dx/(1+x) turns to at most x/4 of that",
        ),
        domain=Domain(
            {
                "variables": Between(60, 240), "clipping": Real(2.0, 6.0), "steps": Between(100, 400, 50),
                "actions": Among(("C6", "S4"), ("S3",), ("C4", "S3")), "lengths": Among((2, 4, 8, 16), (2, 3, 5, 28), (2, 4, 8, 16, 32, 64)),
            },
            lambda size: 2 * max(size.lengths) < size.variables, "twice the longest has fewer predicates than there are variables",
        ), revised=True,
    ),
)  # fmt: skip
