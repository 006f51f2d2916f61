"""Claims about sizes: how large the signal is, how errors travel."""

import dataclasses
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...errors import require
from ...ledger import Between, Claim, Domain, Evidence, Powers, Real, at_most, equal, shown, worst
from ...models.gated import gated
from ...supervision import without
from ...tasks import Parity
from ...theory import gated_laws, tree_law
from ...theory.precision import in_float64
from .experiments import concentrated
from .setting import FITS, PAPER, ROUNDING, fits


@dataclasses.dataclass(frozen=True)
class Size:
    bits: int = 12
    sparsity: int = 8


@in_float64
def _gradient_law(size: Size) -> Evidence:
    task = Parity(size.bits, size.sparsity)
    secret, layout = task.draw(jax.random.key(0)), task.layout
    chains = task.enumerate(secret)
    exact = concentrated(task, secret, 1e3)  # softmax is 1/2 on each child to the last bit
    children, compared = np.asarray(task.children(secret)), []
    for stage in range(1, layout.depth + 1):
        start, end = layout.ends[stage - 1], layout.ends[stage]
        weights = (*exact.weights[: stage - 1], *gated(task).weights[stage - 1 :])
        model = eqx.tree_at(lambda m: m.weights, exact, weights)
        taught = without(layout, start - layout.inputs)

        def objective(model, taught=taught):
            return taught(model, task, secret, chains, jax.random.key(0))

        gradient = np.asarray(jax.jit(jax.grad(objective))(model).weights[stage - 1])
        child = np.take_along_axis(gradient, children[start - layout.inputs : end - layout.inputs], axis=1)
        law = tree_law.start_gradient(size.bits, size.sparsity, stage)["child"]
        leading = -2 * tree_law.CURVATURE / start**2
        compared += [
            equal(f"stage {stage}: child gradient", law, float(child.mean()), 1e-10 * abs(law)),
            equal(f"stage {stage}: spread over children", 0, float(np.ptp(child)), 1e-10 * abs(law)),
            at_most(f"stage {stage}: signal s", float(child.mean()) / leading, 1),
        ]
        independent = tree_law.exchangeable_signal(start)
        if stage == 1:
            compared.append(
                equal("stage 1: law of independent keys", independent, float(child.mean()) / leading, 1e-10)
            )
        else:
            compared.append(
                shown(f"stage {stage}: law of independent keys, against s", independent, float(child.mean()) / leading)
            )
    return Evidence(tuple(compared))


@dataclasses.dataclass(frozen=True)
class Concentration(Size):
    strength: float = 7.0  # K; checked at K-3, K and K+3

    def __post_init__(self):
        require(
            abs(self.strength) <= 30, f"beyond 30 a float64 softmax is 1/2: strength={self.strength}; use 30 or less"
        )


@in_float64
def _masses(size: Concentration) -> Evidence:
    task = Parity(size.bits, size.sparsity)
    secret, layout = task.draw(jax.random.key(0)), task.layout
    deviation, ratio = 0.0, 0.0
    for strength in (size.strength - 3, size.strength, size.strength + 3):
        scores = concentrated(task, secret, strength).attention()
        children = np.asarray(task.children(secret))
        for level, layer in enumerate(scores):
            keys = layout.ends[level]
            rows = children[keys - layout.inputs : layout.ends[level + 1] - layout.inputs]
            other = 1 - np.take_along_axis(np.asarray(layer), rows, axis=1).sum(axis=1)
            law = gated_laws.other_mass(keys, strength)
            deviation = worst(deviation, float(np.abs(other - law).max()))
            ratio = worst(ratio, float(other.max()) / (keys * math.exp(-strength)))
    return Evidence((equal("mass off the children", 0, deviation, ROUNDING), at_most("mass / (N e^-K)", ratio, 1)))


@in_float64
def _forward_error(size: Concentration) -> Evidence:
    task = Parity(size.bits, size.sparsity)
    secret, layout = task.draw(jax.random.key(0)), task.layout
    chains = task.enumerate(secret).with_shown(jnp.arange(layout.positions) < layout.inputs)
    model = concentrated(task, secret, size.strength)
    values = model.predict_batch(chains).mean()[:, 0]
    errors = np.asarray(jnp.abs(values - chains.tokens[layout.inputs :, 0]).max(axis=1))
    bound, compared = 0.0, []
    for level in range(1, layout.depth + 1):
        mass = gated_laws.other_mass(layout.ends[level - 1], size.strength)
        bound = gated_laws.next_error(mass, bound)
        here = float(errors[np.asarray(layout.levels) == level].max())
        compared.append(at_most(f"level {level}", here, bound, ROUNDING))
    return Evidence(tuple(compared))


CLAIMS = (
    Claim(
        "LI-12", PAPER, "Lemmas 7 and 9", "finite",
        "With exact lower layers the stage-t gradient at a child is -(2c/n_t^2) s_t, where s_t < 1 is given by the "
        "exact tree law; at stage 1 it is the law of independent keys, later it is not.",
        {"tiny": Size(8, 4), "quick": Size(12, 8), "paper": Size(16, 16)}, _gradient_law,
        domain=Domain({"bits": Between(4, 14), "sparsity": Powers(2, 8)}, where=fits, because=FITS),
        departures=("All inputs are enumerated and lower layers are exact, so the law is tested without sampling.",),
    ),
    Claim(
        "LI-15", PAPER, "Lemma 7", "identity",
        "With children at K and all else at 0 the mass off the children is (N-2)/(2e^K + N-2) <= N e^-K.",
        {"tiny": Concentration(8, 4), "quick": Concentration(30, 16)}, _masses,
        domain=Domain(
            {"bits": Between(4, 128), "sparsity": Powers(2, 64), "strength": Real(0, 20)}, where=fits, because=FITS
        ),
    ),
    Claim(
        "LI-16", PAPER, "Eq. 17", "inequality",
        "The forward error obeys eps_{t+1} <= 1 - cos(pi (2 mass + eps_t)) level by level, over all inputs.",
        {"tiny": Concentration(8, 4), "quick": Concentration(12, 8), "paper": Concentration(18, 16)},
        _forward_error,
        domain=Domain(
            {"bits": Between(4, 14), "sparsity": Powers(2, 8), "strength": Real(0, 20)}, where=fits, because=FITS
        ),
    ),
)  # fmt: skip
