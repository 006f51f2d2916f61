"""The learners that the hardness theorem is tried on, and their runs against an oracle."""

import hashlib
from typing import NamedTuple

import equinox as eqx
import jax
import jax.flatten_util
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt64

from ...fast.compiler import optimized
from ...models import AbstractModel
from ...models.perceptron import perceptron
from ...models.positional import positional
from ...supervision import OwnPrefix, Squared, Supervision, TrueLabels, direct, teacher_forcing
from ...supervision.class_oracle import ClassOracle
from ...tasks import Boolean, Layout, Parity
from ...training import AbstractOptimizer

PAPER = "kim-suzuki"
LEARNERS = ("perceptron", "transformer")


def task_of(bits: int, sparsity: int) -> Boolean:
    """A tree where the sparsity allows one, else a serial chain: without a chain only the layout matters."""
    return Parity(bits, sparsity, "tree" if sparsity & (sparsity - 1) == 0 else "serial")


def drawn(learner: str, task: Boolean, seed: int, spread: float = 1.0) -> AbstractModel:
    """A learner with random weights."""
    key = jax.random.key(seed)
    if learner == "perceptron":
        return perceptron(task).init(key)
    model = positional(task)
    return eqx.tree_at(lambda m: m.weights, model, spread * jax.random.normal(key, model.weights.shape))


def answer_alone(learner: str, layout: Layout) -> Supervision:
    """Squared loss on the answer; the transformer writes its own soft chain to get there (Direct)."""
    taught = direct(layout)
    if learner == "perceptron":
        return taught
    return Supervision(OwnPrefix("soft"), TrueLabels(), taught.where, Squared())


def with_chain(layout: Layout) -> Supervision:
    """Teacher forcing (Eq. 2)."""
    return teacher_forcing(layout)


def answers(model: AbstractModel, taught: Supervision, task: Boolean, inputs: Array) -> Float[Array, " sample"]:
    """f_theta(x): the answer's score; the secret fills thoughts that are never read."""
    chains = task.think(np.arange(task.sparsity), inputs)
    return taught.prefix(model, chains, jax.random.key(0), None).prediction.mean()[-1, 0]


@optimized
def jacobian(
    model: AbstractModel, taught: Supervision, task: Boolean, inputs: Int[Array, "bits sample"]
) -> Float[Array, "sample weight"]:
    """d f_theta(x_i) / d theta."""
    params, static = eqx.partition(model, eqx.is_inexact_array)
    flat, unravel = jax.flatten_util.ravel_pytree(params)

    def one(flat: Array, signs: Int[Array, " bits"]) -> Array:
        return answers(eqx.combine(unravel(flat), static), taught, task, signs[:, None])[0]

    return jax.vmap(jax.grad(one), in_axes=(None, 1))(flat, inputs)


class Path(NamedTuple):
    """Runs against the oracle, one per target: every weight after every step, and what the oracle did."""

    weights: Float[Array, "target step weight"]
    deviation: Float[Array, "target step"]
    told: Bool[Array, "target step"]


class Kept(NamedTuple):
    """What a store keeps of a path: weights as fingerprints, equal where every bit is, and the last ones."""

    prints: UInt64[np.ndarray, "target step"]
    last: Float[np.ndarray, "target weight"]
    deviation: Float[np.ndarray, "target step"]
    told: Bool[np.ndarray, "target step"]


def kept(path: Path) -> dict[str, np.ndarray]:
    """The fields of `Kept`."""
    weights = np.asarray(path.weights)
    prints = [[_fingerprint(step) for step in target] for target in weights]
    found = Kept(np.array(prints, np.uint64), weights[:, -1], np.asarray(path.deviation), np.asarray(path.told))
    return found._asdict()


def _fingerprint(weights: np.ndarray) -> int:
    return int.from_bytes(hashlib.sha256(weights.tobytes()).digest()[:8])


@optimized
def against(
    oracle: ClassOracle,
    taught: Supervision,
    rule: AbstractOptimizer,
    model: AbstractModel,
    task: Boolean,
    secrets: Int[Array, "target sparsity"],
    inputs: Int[Array, "bits sample"],
    steps: int,
) -> Path:
    """One run per target from the same start on the same inputs, one after another: the same program for each."""
    params, static = eqx.partition(model, eqx.is_inexact_array)
    transformation = rule.transformation()

    def run(secret: Array):
        known = oracle.on(task, secret, inputs)

        def step(carry, _):
            params, state = carry
            model = eqx.combine(params, static)

            def objective(model, chains, key):
                return taught(model, task, secret, chains, key)

            said = oracle.answer(objective, model, known, jax.random.key(0))
            updates, state = transformation.update(eqx.filter(said.gradient, eqx.is_inexact_array), state, params)
            params = eqx.apply_updates(params, updates)
            return (params, state), (jax.flatten_util.ravel_pytree(params)[0], said.deviation, said.revealed)

        return jax.lax.scan(step, (params, transformation.init(params)), None, length=steps)[1]

    return Path(*jax.lax.map(run, secrets))


@optimized
def final_answers(
    start: AbstractModel, last: Float[Array, "target weight"], taught: Supervision, task: Boolean, inputs: Array
) -> Float[Array, "target sample"]:
    """f of every target's last weights; start: the model whose weights they are."""
    params, static = eqx.partition(start, eqx.is_inexact_array)
    unravel = jax.flatten_util.ravel_pytree(params)[1]
    return jax.vmap(lambda flat: answers(eqx.combine(unravel(flat), static), taught, task, inputs))(last)
