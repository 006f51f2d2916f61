"""The oracle of the hardness theorem: it tells the target only when it cannot hide it (kim-suzuki, App. A).

It answers with the mean gradient over the class of all k-parities while the true gradient is within `error` of
that mean, and with the true gradient otherwise, so it is never wrong by more than `error`.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from ..errors import require
from ..fields import numbers
from ..models import AbstractModel
from ..tasks import AbstractTask, Boolean, Chain
from ..theory.krawtchouk import mean_label
from ..theory.parity_class import subsets
from .sources import AbstractSource, LossFunction, loss_and_gradient

LARGEST = 2**23  # chains of a whole class in one gradient


def _flag(value) -> Array | np.ndarray:
    return value if isinstance(value, jax.Array) else np.asarray(value, bool)


class OracleAnswer(NamedTuple):
    """The gradient that the oracle returned, how far the true one is from the class mean, and whether the true one
    was revealed."""

    loss: Float[Array, ""]  # of the true target
    gradient: AbstractModel
    deviation: Float[Array, ""]
    revealed: Bool[Array, ""]


class OracleChains(NamedTuple):
    """The target's own chains, and chains whose mean objective is that of the class; these know no target."""

    target: Chain
    whole_class: Chain


class ClassOracle(AbstractSource):
    """Both gradients on the same fixed inputs: `pool` drawn ones, or every input (None).

    answer_only: the objective reads the inputs, teaches the answer alone and is squared. Its gradient is then
    linear in the label, and the class enters through its mean label E_p p(x). Otherwise the chains of every
    target are read one by one; labels must come from the chains (`TrueLabels`), for the objective knows one secret.
    """

    error: Float[Array | np.ndarray, ""] = eqx.field(converter=numbers)  # epsilon
    pool: int | None = eqx.field(static=True, default=None)
    answer_only: bool = eqx.field(static=True, default=False)
    # The two cases swapped, as App. A prints them:
    printed: Bool[Array | np.ndarray, ""] = eqx.field(converter=_flag, default=False)  # pyright: ignore

    def __check_init__(self):
        require(self.pool is None or self.pool >= 1, f"a pool holds chains: pool={self.pool}; use 1 or more, or None")

    @property
    def samples(self) -> int:
        return 0 if self.pool is None else self.pool  # every input is no sample

    def prepare(self, task: AbstractTask, secret, key: Key[Array, ""], teacher=None) -> OracleChains:  # pyright: ignore
        parity = isinstance(task, Boolean) and task.gate.name == "parity"
        require(parity, "the class is that of all k-parities: another task was given; use Parity")
        assert isinstance(task, Boolean)
        if self.pool is None:
            return self.on(task, secret, task.enumerate(secret).tokens[: task.bits, 0])
        return self.on(task, secret, task.inputs(key, self.pool))

    def on(self, task: Boolean, secret, inputs: Int[Array, "bits count"]) -> OracleChains:
        """What the oracle knows on given inputs."""
        whole_class = mean_chains(task, inputs) if self.answer_only else class_chains(task, inputs)
        return OracleChains(task.think(secret, inputs), whole_class)

    def answer(
        self, loss_function: LossFunction, model: AbstractModel, chains: OracleChains, key: Key[Array, ""]
    ) -> OracleAnswer:
        loss, true = loss_and_gradient(loss_function, model, chains.target, key)
        _, mean = loss_and_gradient(loss_function, model, chains.whole_class, key)
        apart = jax.tree.map(lambda a, b: jnp.sum((a - b) ** 2), true, mean)
        deviation = jnp.sqrt(jax.tree.reduce(jnp.add, apart))
        revealed = (deviation > self.error) ^ self.printed
        return OracleAnswer(loss, jax.tree.map(lambda a, b: jnp.where(revealed, a, b), true, mean), deviation, revealed)

    def gradient(self, loss_function, model, task, draw):
        answer = self.answer(loss_function, model, draw.pool, draw.key)
        return answer.loss, answer.gradient


def mean_chains(task: Boolean, inputs: Int[Array, "bits count"]) -> Chain:
    """The inputs with the class's mean label as the answer, a Krawtchouk value, and no other thought."""
    table = [float(mean_label(task.bits, task.sparsity, minus)) for minus in range(task.bits + 1)]
    minus = jnp.sum(inputs < 0, axis=0)
    thoughts = jnp.zeros((task.layout.thoughts, inputs.shape[1])).at[-1].set(jnp.asarray(table)[minus])
    tokens = jnp.concatenate([inputs.astype(thoughts.dtype), thoughts])
    return Chain(tokens[:, None], task.layout)


def class_chains(task: Boolean, inputs: Int[Array, "bits count"]) -> Chain:
    """The true chains of every target over the same inputs, one batch."""
    secrets = subsets(task.bits, task.sparsity)
    total = len(secrets) * inputs.shape[1]
    require(total <= LARGEST, f"a class's chains are at most {LARGEST:,}: {total:,}; use fewer samples or bits")
    chains = jax.vmap(lambda secret: task.think(secret, inputs))(jnp.asarray(secrets))

    def joined(leaf: Array) -> Array:  # [target, ..., sample] -> [..., target * sample]
        return jnp.moveaxis(leaf, 0, -2).reshape(*leaf.shape[1:-1], -1)

    return jax.tree.map(joined, chains)
