"""RS-39: Prop. E.4 for every nonincreasing margin loss, by the separation that each margin contributes."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from ...ledger import Claim, Comparison, Evidence, at_least, at_most, equal
from ...models import AbstractPrediction, policy_for
from ...supervision import AbstractObjective, weighted
from ...tasks import Boolean
from ...theory import margins
from ...theory.count_chain import GATE_COEFFICIENTS
from ...theory.precision import in_float64
from .exact import keys_by_level, level_accuracy, loss_gradient, pretrained, pulls, secret_of, stepped
from .population import forced, own
from .setting import EXACT, GATES, PAPER, TREES, Tree

Loss = Callable[[jax.Array], jax.Array]


def squared_hinge(margin: jax.Array) -> jax.Array:
    return jnp.maximum(0, 1 - margin) ** 2


def sigmoid(margin: jax.Array) -> jax.Array:
    """Not convex: a margin far below zero weighs little."""
    return jax.nn.sigmoid(-4 * margin)


def steep(margin: jax.Array) -> jax.Array:
    return jnp.exp(-4 * margin)


def late(margin: jax.Array) -> jax.Array:
    """Concave: what is already right weighs most."""
    return -jnp.exp(2 * margin)


MORE: dict[str, Loss] = {"squared hinge": squared_hinge, "sigmoid": sigmoid, "exp(-4m)": steep, "-exp(2m)": late}


class Margin(AbstractObjective):
    """Any loss of label * mean."""

    loss: Loss

    def __call__(self, said: AbstractPrediction, labels, where, tokens):
        return weighted(self.loss(said.expected(labels)), where)


def chance_of_plus(gate: str, level: int) -> float:
    """Of a true token on the level below a thought's, over uniform inputs."""
    chance = 0.5
    for _ in range(level - 1):
        chance = {"parity": chance**2 + (1 - chance) ** 2, "and": chance**2, "or": 1 - (1 - chance) ** 2}[gate]
    return chance


@functools.cache
def table(gate: str, keys: int, level: int) -> tuple[np.ndarray, np.ndarray]:
    """Margins and their separations at uniform attention on a right prefix."""
    link = policy_for(gate)

    def slope(z: float) -> float:
        return float(jax.grad(lambda t: link(t) / 2)(z))

    return margins.separations(
        keys, chance_of_plus(gate, level), GATE_COEFFICIENTS[gate], lambda z: float(link(jnp.asarray(z))), slope
    )


def _by_margins(task: Boolean, gate: str, loss: Loss) -> list[float]:
    """G_rel - G_irr by level, from lambda and c alone; levels of two keys have none."""
    found = []
    for level, keys in enumerate(keys_by_level(task), start=1):
        if keys > 2:
            values, separation = table(gate, keys, level)
            weight = -np.asarray(jax.vmap(jax.grad(loss))(jnp.asarray(values)))
            found.append(2 / (task.layout.thoughts * keys) * float(weight @ separation))
    return found


@in_float64
def _every_loss(size: Tree) -> Evidence:
    compared: list[Comparison] = []
    for gate in GATES:
        task = size.task(gate)
        secret, depth = secret_of(task), task.layout.depth
        tables = [table(gate, keys, level)[1] for level, keys in enumerate(keys_by_level(task), start=1) if keys > 2]
        compared.append(
            at_least(
                f"{gate}: least separation of a margin, over the level's sum of sizes",
                min(float((c / np.abs(c).sum()).min()) for c in tables),
                0,
                EXACT,
            )
        )
        compared.append(at_least(f"{gate}: least separation of a whole level", min(float(c.sum()) for c in tables), 0))
        for name, loss in MORE.items():
            gradient, _ = loss_gradient(pretrained(task), task, secret, forced(task, Margin(loss)))
            gaps = [float(child.mean() - other.mean()) for child, other in pulls(task, secret, gradient) if other.size]
            law = _by_margins(task, gate, loss)
            compared.append(
                equal(
                    f"{gate}, {name}: G_rel - G_irr over sum of lambda c, furthest from 1",
                    1,
                    max((g / w for g, w in zip(gaps, law, strict=True)), key=lambda r: abs(r - 1)),
                    1e-9,
                )
            )
            model, taught = pretrained(task), own(task, Margin(loss))
            for _ in tables:
                model = stepped(model, loss_gradient(model, task, secret, taught)[0], 4.0)
            exact = int((np.asarray(level_accuracy(model, task, secret)) == 1).sum())
            compared.append(
                equal(
                    f"{gate}, {name}: exact levels after an update for every level of more than two keys",
                    depth,
                    exact,
                    0,
                )
            )
    compared.append(_counterexample(size))
    return Evidence(
        tuple(compared),
        departures=(
            "Prop. E.4 assumes the weighted separation (85). At equal weights on a right prefix it need not be assumed: every margin's "
            "separation is at least 0, so any nonincreasing loss that weighs one of the margins that count separates.",
            "A level of two keys needs no update: T-1 of them from k=4 on, for its top level has two keys, and one for k=2, where the only level "
            "has d. Until sizes were drawn anywhere T-1 was said of k=2 too.",
        ),
    )  # fmt: skip


def _counterexample(size: Tree) -> Comparison:
    """The loss must fall: one that rises on every margin pushes the other way."""
    task = size.task()
    rising = max(_by_margins(task, "parity", lambda margin: jnp.exp(margin)))
    return at_most("parity, a loss that rises: largest G_rel - G_irr", rising, 0)


CLAIMS = (
    Claim(
        "RS-39", PAPER, "Prop. E.4, every loss", "identity",
        "At equal weights on a right prefix the separation of a margin loss is the sum over margins of -phi'(margin) c(margin) with no c "
        "negative, for PARITY, AND and OR: every nonincreasing loss, convex or not, pushes children up and other keys down, and own "
        "thoughts are then learned in T-1 updates (k=2: in one).",
        {"tiny": Tree(6, 4), "quick": Tree(8, 8), "paper": Tree(12, 8)}, _every_loss,
        domain=TREES, revised=True,
    ),
)  # fmt: skip
