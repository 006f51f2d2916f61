"""L18: the loss that clipped logits leave."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ...ledger import Among, Between, Claim, Comparison, Domain, Evidence, Real, at_least, at_most, equal
from ...models.features import Features
from ...models.srelu import SReLU
from ...tasks.actions import action_named
from ...theory.precision import in_float64
from ...training import Lab
from .setting import CYCLIC3, CYCLIC4, FINITE, PAPER, STEPS, Learning, Theory


@dataclasses.dataclass(frozen=True)
class Floor(Theory):
    actions: tuple[str, ...] = ("C6", "S4")
    learned: Learning = CYCLIC3  # of stage 1


def loss_floor(classes: int, ceiling: float) -> float:
    """log(1 + (d-1) e^{-B}) = -log(1 - lambda), Fact B.2."""
    return float(np.log1p((classes - 1) * np.exp(-ceiling)))


@in_float64
def _extremal(features: Features) -> float:
    """Loss of an input whose right class has far more than B and whose others have nothing."""
    nothing = jnp.full(features.actions.shape[:2], -1.0)
    return float(features.loss(nothing.at[0].set(2 * features.actions.max()), jnp.asarray(0)))


def _floor(size: Floor, lab: Lab) -> Evidence:
    compared: list[Comparison] = []
    bend = SReLU().width * (1 - 1 / SReLU().power)  # rho (1 - 1/q), what the activation takes off a large preactivation
    for name in size.actions:
        action = action_named(name)
        theory = Theory(size.variables, size.clipping, size.steps, size.rate, size.slowing)
        features, terms = theory.features(action), 2 if action.simply_transitive else 1
        floor = loss_floor(theory.size(action), float(features.ceiling))
        free = eqx.tree_at(lambda each: each.ceiling, features, jnp.asarray(np.inf))
        least = float(np.min(theory.run(name, lab).loss)) / terms / floor
        compared += [
            equal(f"{name}: extremal loss / floor (it is attained)", 1, _extremal(features) / floor, 1e-4),
            at_most(f"{name}: the same without clipping (the clip makes the floor)", _extremal(free) / floor, 0.5),
            at_least(f"{name}, stage 2: smallest loss / floor (by construction)", least, 1, 1e-5),
        ]
        if action.simply_transitive:  # V(g) + V(y) = 2B, attention at most 1: the preactivation is at most B
            compared.append(
                at_least(f"{name}, stage 2: smallest loss / floor (e^(rho(1-1/q)))", least, float(np.exp(bend)), 0.01)
            )
    floor = loss_floor(size.learned.size, size.learned.ceiling)
    least = float(np.min(size.learned.run(0, lab)[1].loss))
    compared.append(at_least(f"{size.learned.action}, stage 1: smallest loss / floor", least / floor, 1, 1e-5))
    compared.append(
        at_most(f"{size.learned.action}, stage 1: smallest loss / floor (it is reached)", least / floor, 1.01)
    )
    return Evidence(tuple(compared), departures=("rounding of float32 (1e-5) allowed below the floor",))


CLAIMS = (
    Claim(
        "L18", PAPER, "Fact B.2", "inequality",
        "Clipped logits leave a loss of at least log(1 + (d-1) e^{-B}) = -log(1 - lambda), which is attained, and which stage 1 reaches; "
        "without the clip there is no such floor. Stage 2 on converged cyclic features stays e^{rho(1-1/q)} above it.",
        {"tiny": Floor(60, 3.0, 150, actions=("C6", "S3")), "quick": Floor()}, _floor,
        departures=(
            FINITE, STEPS, "stage 1: sigma_0 far below d^{-1/2}; C_B=2",
            "that stage 2 stays above the floor holds by construction, logits being clipped to [0, B]: until an audit it was all that was "
            "said of it; now the floor's value is tried at the extremal logits, with and without the clip",
        ),
        domain=Domain(
            {
                "variables": Between(40, 240), "clipping": Real(2.0, 4.0), "steps": Between(100, 300, 50),
                "actions": Among(("C6",), ("C6", "S3"), ("C4", "S4")), "learned": Among(CYCLIC3, CYCLIC4),
            },
        ), revised=True,
    ),
)  # fmt: skip
