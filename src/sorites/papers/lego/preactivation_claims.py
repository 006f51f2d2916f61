"""Claims about preactivations as functions of attention. Float64."""

import itertools

import jax.numpy as jnp
import numpy as np

from ...ledger import Between, Claim, Domain, Evidence, Real, at_most, worst
from ...models.features import Features
from ...models.routing import Masses, Routing, mixed, uniform
from ...tasks.actions import action_named
from ...theory.precision import in_float64
from .data_claims import all_two_steps
from .setting import FINITE, PAPER, ROUNDING, Theory


def _preactivations(features: Features, attention: Masses, actions, values, step: int) -> np.ndarray:
    """Lambda [input, class, neuron y]."""
    found = mixed(features, attention, jnp.asarray(actions), jnp.asarray(values), step)
    return np.moveaxis(np.asarray(found), -1, 0)


# (answer, different actions, different values) -> preactivation / B of the named combinations, and a bound for the rest
UNIFORM = {
    (1, 2, 1): (1 / 3, -1 / 3),
    (1, 1, 1): (1.0, 1 / 3),
    (2, 2, 2): (0.0, -1 / 2),
    (2, 1, 2): (1 / 2, 0.0),
    (2, 2, 1): (1 / 2, 0.0),
    (2, 1, 1): (1.0, 0.0),
}


@in_float64
def _uniform_table(size: Theory) -> Evidence:
    """Class g(y) in neuron y is the combination (g, y); named are those of a g and a y that occur."""
    action = action_named("C6")
    features, table = size.features(action), action.table
    rows, deviation, excess = all_two_steps(action), 0.0, -np.inf
    for step in (1, 2):
        known = np.stack([rows[:, 2], table[rows[:, 0], rows[:, 2]]], axis=1)[:, :step]
        attention = uniform().masses(2, jnp.asarray(step))
        found = _preactivations(features, attention, rows[:, :2], known, step) / float(features.ceiling)
        for moves, states, levels in zip(rows[:, :2].tolist(), known.tolist(), found, strict=True):
            named = np.zeros(levels.shape, bool)
            for g, y in itertools.product(moves, states):
                named[table[g, y], y] = True
            level, bound = UNIFORM[step, len(set(moves)), len(set(states))]
            deviation = worst(deviation, float(np.abs(levels[named] - level).max()))
            excess = worst(excess, float(levels[~named].max()) - bound)
    return Evidence(
        (
            at_most("named combinations: largest deviation, in units of B", deviation, ROUNDING),
            at_most("other combinations: largest excess over the bound", excess, 0, ROUNDING),
        )
    )


@in_float64
def _attention_formulas(size: Theory) -> Evidence:
    generator, deviation = np.random.default_rng(0), {"C6": 0.0, "S4": 0.0}
    for name in deviation:
        action = action_named(name)
        features, table = size.features(action), action.table
        large, small = float(features.actions.max()), float(features.values.max())
        rows = all_two_steps(action)
        rows = rows[generator.permutation(len(rows))[:400]]
        g, y0 = rows[:, :2], rows[:, 2]
        y1 = table[g[:, 0], y0]
        generic = (y0 != y1) & (table[g[:, 0], y0] != table[g[:, 1], y0]) & (table[g[:, 0], y1] != table[g[:, 1], y1])
        g, y0, y1 = g[generic], y0[generic], y1[generic]
        scores = generator.normal(size=4)
        attention = Routing(*(jnp.asarray(score) for score in scores)).masses(2, jnp.asarray(2))
        p2, p1, a1, a0 = (float(each) for each in attention[:4])
        found = _preactivations(features, attention, g, np.stack([y0, y1], axis=1), 2)
        index = np.arange(len(g))
        right = found[index, table[g[:, 1], y1], y1]  # Lambda_{j2}
        stale = found[index, table[g[:, 1], y0], y0]  # Lambda_{j2'}: right action, old value
        error, gap = float(attention.error), float(attention.gap)
        if name == "C6":
            ceiling = float(features.ceiling)
            deviation[name] = worst(
                deviation[name],
                float(np.abs(right - (1 - 2 * error) * ceiling).max()),
                float(np.abs(stale - (gap + (a0 - p1)) * ceiling).max()),
            )
        deviation[name] = worst(
            deviation[name],
            float(np.abs(right - ((p2 - a0) * large + (a1 - p1) * small)).max()),
            float(np.abs(stale - ((p2 - a1) * large + (a0 - p1) * small)).max()),
        )
    return Evidence(
        tuple(at_most(f"{name}: largest deviation of Lambda", value, ROUNDING) for name, value in deviation.items()),
        departures=(
            "(D.36) has Delta B for the stale value; exactly it is (Delta + ans,0 - pred,1) B, equal at Q_other = 0",
        ),
    )


DOMAIN = Domain({"variables": Between(3, 400), "clipping": Real(0.5, 8.0)})  # no step is taken
CLAIMS = (
    Claim(
        "L10", PAPER, "Lemmas D.10, D.14, D.26", "identity",
        "With uniform attention and cyclic features the listed combinations have preactivations B/3 (first answer), 0, B/2 "
        "or B (second answer, by which of g1=g2, y0=y1 hold), and all others lie lower as stated.",
        {"tiny": Theory(20), "quick": Theory()}, _uniform_table, departures=(FINITE,), domain=DOMAIN,
    ),
    Claim(
        "L11", PAPER, "(D.36), Lemmas E.13, E.25", "identity",
        "Preactivations are (1 - 2 epsilon) B for the right class of C_n, and (p2 - a0) V(g) + (a1 - p1) V(y), (p2 - a1) "
        "V(g) + (a0 - p1) V(y) for right and stale classes of any action.",
        {"tiny": Theory(20), "quick": Theory()}, _attention_formulas, departures=(FINITE,), domain=DOMAIN,
    ),
)  # fmt: skip
